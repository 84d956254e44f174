// SPDX-License-Identifier: MIT
#include "calls.cuh"
#include "device.cuh"
#include "segment_calls.cuh"
#include "selection_calls.cuh"

int main(int argc, char **argv) {
  const auto add_calls = [](std::vector<perf::cell> &cells) {
    perf::add_inclusive_sum(cells);
    perf::add_exclusive_sum(cells);
    perf::add_inclusive_max(cells);
    perf::add_inclusive_affine(cells);
    perf::add_inclusive_sum_by_key(cells);
    perf::add_exclusive_sum_i8_to_i32(cells);
    perf::add_transform_inclusive_sum(cells);
    perf::add_inclusive_sum_device_count(cells);
    perf::add_offsets_from_counts(cells);
    perf::add_inclusive_sum_through_iterators(cells);
    perf::add_inclusive_scan_of_integers(cells);
    perf::add_wall_inclusive_sum(cells);
    perf::add_select_if(cells);
    perf::add_select_flagged(cells);
    perf::add_partition_if(cells);
    perf::add_unique(cells);
    perf::add_reduce_by_key(cells);
    perf::add_run_length_encode(cells);
    perf::add_segmented_sum(cells);
    perf::add_axis_sum(cells);
  };
  return perf::compare_on_device(add_calls, argc, argv);
}
