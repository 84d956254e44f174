#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs targets.py over made-up rows: targets reached, missed and not measured."""

import csv
import pathlib
import subprocess
import sys
import tempfile
import unittest

COMMAND = pathlib.Path(__file__).with_name("targets.py")
EVERY_CELL = "the grid of sums, every cell"
MEAN = "the grid of sums, geometric mean"
SMALL = "sums of up to 2^18, every type"
LARGE = "sums of 1 GiB and more, 4-, 8- and 16-byte types"
NARROW = "sums of 1 GiB and more, 1- and 2-byte types"
OPERATORS = "inclusive_max, inclusive_affine, 2^24 and 2^28"
MIXED = "exclusive_sum_i8_to_i32, transform_inclusive_sum, 2^28"
MISALIGNED = "inclusive sums misaligned by one element, 2^28"
NEW_EVERY_CELL = "newer CUB: every cell of every call"
NEW_MEAN = "newer CUB: the grid of sums, geometric mean"
RUN_TO_RUN = "f32 and f64 sums of 2^10 to 2^30, geometric mean"
SELECTIONS, SELECTIONS_MEAN = "selections, every cell", "selections, geometric mean"
SELECTIONS_WIDE, SELECTIONS_I16, SELECTIONS_I8 = (
    f"select_if, select_flagged, partition_if, {kinds}, 2^28"
    for kinds in ("i32, i64", "i16", "i8"))
SELECTIONS_BY_SEGMENT = "unique, reduce_by_key, run_length_encode, 2^28"
SELECTIONS_SMALL = "selections of up to 2^18"
SEGMENTS_I32, SEGMENTS_FLOAT = (
    f"segments of 16 and more, {kinds}" for kinds in ("i32", "f32, f64"))
SHORT_I32, SHORT_FLOAT = (f"segments of 4, {kinds}" for kinds in ("i32", "f32, f64"))
LINES_I32, LINES_FLOAT = (f"lines of large arrays, {kinds}" for kinds in ("i32", "f32, bf16"))
LINES_SMALL, LINES_TORCH = ("columns of 1M x 2, rows and columns of 4096 x 4096",
                            "lines of arrays, every cell")
OFFSETS, OFFSETS_SUM = (f"offsets_from_counts, {title}" for title in ("every cell",
                                                                      "beside the sums"))
BESIDE_SUMS = "reversed input, a count on the device, beside the sums, 2^28"
FEW_ON_DEVICE = "a count of 2^10 on the device, at most 2^28"
ITERATORS, STRUCTS = "sums through iterators, 2^28", "structs of {} bytes, the largest input"
BY_KEY, WALL = "inclusive_sum_by_key, segments of 7 and 1000, 2^28", "a whole Thrust call, 2^10"

# (call, type, elements, contender): every target is reached. lookback takes 2 microseconds, CUB 8,
# a newer one 9, and 12 in its run-to-run mode, and a copy 2.
CALLS = {("inclusive_max", "i32"), ("inclusive_affine", "f32x2"), ("exclusive_sum_i8_to_i32", "i8"),
         ("transform_inclusive_sum", "i32"), ("inclusive_sum_misaligned", "i32"),
         ("inclusive_sum_misaligned_in", "i32"), ("inclusive_sum_by_key_7", "i32"),
         ("inclusive_sum_by_key_1000", "i32"), ("wall_inclusive_sum", "i32")}
CALLS |= {(f"{way}clusive_sum", kind) for way in ("in", "ex")
          for kind in "i8 i16 i32 i64 i128 f32 f64".split()}
SELECTING = {(call, kind) for call in ("select_if_0", "select_if_50", "select_if_100",
                                       "select_if_50_clustered", "select_flagged_50",
                                       "partition_if_50") for kind in "i8 i16 i32 i64".split()}
SELECTING |= {(f"{call}_{length}", "i32") for call in ("unique", "reduce_by_key",
                                                       "run_length_encode")
              for length in (7, 1000)}
CALLS |= SELECTING
REACHED = {(call, kind, 1 << exponent, contender): us for call, kind in CALLS
           for exponent in range(10, 32, 2)
           if exponent < 30 or kind in ("i8", "i16", "i32", "f32", "f64")
           for contender, us in (("lookback", 2), ("cub", 8), ("cub_new", 9), ("memcpy", 2))}
REACHED |= {
    (call, kind, n, "cub_run_to_run"): 12 for call, kind, n, contender in REACHED
    if call in ("inclusive_sum", "exclusive_sum") and kind in ("f32", "f64") and contender == "cub"
}
REACHED |= {("offsets_from_counts", "i32", 1 << exponent, contender): us
            for exponent in range(10, 30, 2)
            for contender, us in (("lookback", 2), ("cub", 8), ("cub_new", 9))}
REACHED |= {("inclusive_sum_device_count", "i32", 1 << exponent, contender): us
            for exponent in (10, 28)
            for contender, us in (("lookback", 2), ("cub", 8), ("cub_new", 9), ("memcpy", 2))}
REACHED |= {(call, kind, 1 << exponent, contender): us for call, kind, exponent in (
    *((f"inclusive_sum_{name}", "i32", 28)
      for name in ("counting_transform", "zip_transform", "reverse", "permutation")),
    *((f"inclusive_scan_{size}_bytes", f"i32x{size // 4}", exponent)
      for size in (12, 24, 32, 64) for exponent in (22, 24)))
            for contender, us in (("lookback", 2), ("cub", 8), ("cub_new", 9), ("memcpy", 2))}
REACHED |= {(f"segmented_sum_{name}", kind, 1 << 27, contender): us for name in (
    "4 16 64 256 1024 4096 65536 1048576 134217728 half_in_one power_law".split())
            for kind in ("i32", "f32", "f64")
            for contender, us in (("lookback", 2), ("cub_new", 9), ("memcpy", 2))}
REACHED |= {(f"axis_sum_{outer}x{length}x{inner}", kind, outer * length * inner, contender): us
            for outer, length, inner in (
                (1, 1 << 27, 1), (1 << 20, 32, 1), (1 << 16, 1 << 10, 1), (1 << 10, 1 << 16, 1),
                (1 << 24, 4, 1), (16, 1 << 22, 1), (1 << 12, 1 << 12, 1), (1, 1 << 20, 2),
                (1, 1 << 20, 32), (1, 1 << 16, 1 << 10), (1, 1 << 10, 1 << 16), (1, 1 << 22, 16),
                (1, 1 << 12, 1 << 12))
            for kind in ("i32", "f32", "bf16")
            for contender, us in (("lookback", 2), ("cub_new", 9), ("torch", 8), ("memcpy", 2))
            if inner == 1 or contender != "cub_new"}


def write(path, rows):
    with path.open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(
            "gpu,contender,call,type,elements,bytes,us_median,us_min,us_max,runs".split(","))
        for (call, kind, elements, contender), us in rows.items():
            lines.writerow(["made up", contender, call, kind, elements, 0, us, us, us, 1])


def run(rows, *flags, floor=None):
    """targets.py's exit status, and the lines of its table by their first column."""
    with tempfile.TemporaryDirectory() as folder:
        path, floor_path = pathlib.Path(folder, "rows.csv"), pathlib.Path(folder, "floor.csv")
        write(path, rows)
        if floor:
            write(floor_path, floor)
            flags = *flags, "--at-floor", floor_path
        done = subprocess.run([sys.executable, COMMAND, "--markdown", *flags, path],
                              stdout=subprocess.PIPE, text=True)
    table = [[text.strip() for text in line.strip("|").split("|")]
             for line in done.stdout.splitlines() if line[:1] == "|"]
    return done.returncode, {line[0]: line for line in table[2:]}


class Targets(unittest.TestCase):
    def expect(self, changes, verdicts):
        """`changes` by cell and contender, None for no row; `verdicts` of the missed targets."""
        rows = {key: us for key, us in {**REACHED, **changes}.items() if us is not None}
        status, lines = run(rows, "--strict")
        self.assertEqual(len(lines), 45)
        self.assertEqual(
            {title: line[-1] for title, line in lines.items() if line[-1] != "reached"}, verdicts)
        self.assertEqual(status, 1 if verdicts else 0)
        return lines

    def ours(self, call, kind, exponent, us, verdicts):
        lines = self.expect({(call, kind, 1 << exponent, "lookback"): us}, verdicts)
        for title in verdicts:
            self.assertEqual(lines[title][3], f"{call}/{kind}/2^{exponent}")

    def test_reached(self):
        self.expect({}, {})
        self.ours("exclusive_sum", "i32", 10, 4, {})  # at the bound
        self.ours("inclusive_sum", "i8", 28, 4, {})  # 256 MiB

    def test_missed(self):
        self.ours("exclusive_sum", "i64", 22, 8.08, {EVERY_CELL: "short by 1.0 %"})
        self.ours("exclusive_sum", "i64", 22, 8.001, {EVERY_CELL: "short by less than 0.1 %"})
        self.ours("inclusive_sum", "i8", 18, 8 / 1.2, {SMALL: "short by 20.0 %"})
        self.ours("exclusive_sum", "i32", 10, 5, {"i32 sums of 2^10": "short by 20.0 %"})
        self.ours("exclusive_sum", "i32", 20, 8 / 1.4, {"i32 sums of 2^20": "short by 3.4 %"})
        self.ours("inclusive_sum", "i32", 22, 8 / 1.3, {"i32 sums of 2^22": "short by 3.7 %"})
        self.ours("exclusive_sum", "i32", 24, 8 / 1.2, {"i32 sums of 2^24": "short by 7.7 %"})
        self.ours("inclusive_sum", "i128", 28, 2 / 0.96, {LARGE: "short by 1.0 %"})
        self.ours("exclusive_sum", "i32", 28, 2 / 0.96, {LARGE: "short by 1.0 %"})
        self.ours("inclusive_sum", "i16", 30, 2 / 0.94, {NARROW: "short by 1.1 %"})
        self.ours("inclusive_max", "i32", 24, 2 / 0.9, {OPERATORS: "short by 5.3 %"})
        self.ours("inclusive_affine", "f32x2", 28, 2 / 0.9, {OPERATORS: "short by 5.3 %"})
        self.ours("exclusive_sum_i8_to_i32", "i8", 28, 2 / 0.92, {MIXED: "short by 1.1 %"})
        self.ours("transform_inclusive_sum", "i32", 28, 2 / 0.92, {MIXED: "short by 1.1 %"})
        self.ours("inclusive_sum_misaligned_in", "i32", 28, 2 / 0.8,
                  {MISALIGNED: "short by 11.1 %"})
        self.ours("inclusive_sum_by_key_7", "i32", 28, 2 / 0.9, {BY_KEY: "short by 3.2 %"})
        self.ours("wall_inclusive_sum", "i32", 10, 2.6, {WALL: "short by 3.8 %"})

    def test_missed_by_the_mean(self):
        def cub_takes(us, selecting):
            return {
                key: us for key in REACHED
                if key[3] == "cub" and (key[:2] in SELECTING) == selecting
            }

        self.expect(cub_takes(3.2, False), {MEAN: "short by 5.9 %"})
        self.expect(cub_takes(3.04, True), {SELECTIONS_MEAN: "short by 5.0 %"})

    def test_missed_by_items(self):
        self.ours("inclusive_sum_counting_transform", "i32", 28, 2 / 0.93, {})  # at the bound
        for name in "counting_transform", "zip_transform", "permutation":
            self.ours(f"inclusive_sum_{name}", "i32", 28, 2 / 0.837, {ITERATORS: "short by 10.0 %"})
        for size, share in (12, 0.81), (24, 0.81), (32, 0.765), (64, 0.72):
            cell = f"inclusive_scan_{size}_bytes", f"i32x{size // 4}"
            self.ours(*cell, 24, 2 / share, {STRUCTS.format(size): "short by 10.0 %"})
            self.ours(*cell, 22, 2 / share, {})  # not the largest input

    def test_missed_by_selections(self):
        self.ours("select_if_0", "i64", 20, 8.08, {SELECTIONS: "short by 1.0 %"})
        self.ours("unique_1000", "i32", 22, 8.08, {SELECTIONS: "short by 1.0 %"})
        self.ours("select_if_50_clustered", "i64", 28, 2 / 0.81,
                  {SELECTIONS_WIDE: "short by 10.0 %"})
        self.ours("partition_if_50", "i32", 28, 2 / 0.81, {SELECTIONS_WIDE: "short by 10.0 %"})
        self.ours("select_flagged_50", "i16", 28, 2 / 0.72, {SELECTIONS_I16: "short by 10.0 %"})
        self.ours("select_if_100", "i8", 28, 2 / 0.54, {SELECTIONS_I8: "short by 10.0 %"})
        for call in "unique_7", "reduce_by_key_7", "run_length_encode_1000":
            self.ours(call, "i32", 28, 2 / 0.765, {SELECTIONS_BY_SEGMENT: "short by 10.0 %"})
        self.ours("select_if_50", "i8", 18, 2.3, {})  # at the bound
        self.ours("select_if_50", "i8", 18, 2.3 / 0.9, {SELECTIONS_SMALL: "short by 10.0 %"})
        self.expect({("inclusive_sum", "i16", 1 << 10, "lookback"): 1.6}, {
            SELECTIONS_SMALL: "short by 8.0 %"})

    def test_missed_by_segments(self):
        n = 27
        self.ours("segmented_sum_16", "i32", n, 2 / 0.81, {SEGMENTS_I32: "short by 10.0 %"})
        self.ours("segmented_sum_half_in_one", "i32", n, 2 / 0.81,
                  {SEGMENTS_I32: "short by 10.0 %"})
        self.ours("segmented_sum_134217728", "f64", n, 2 / 0.72,
                  {SEGMENTS_FLOAT: "short by 10.0 %"})
        self.ours("segmented_sum_power_law", "f32", n, 2 / 0.8, {})  # at the bound
        self.ours("segmented_sum_4", "i32", n, 2 / 0.54, {SHORT_I32: "short by 10.0 %"})
        self.ours("segmented_sum_4", "f32", n, 2 / 0.45, {SHORT_FLOAT: "short by 10.0 %"})

    def test_missed_by_lines(self):
        self.ours("axis_sum_1x134217728x1", "i32", 27, 2 / 0.81, {LINES_I32: "short by 10.0 %"})
        self.ours("axis_sum_1x4194304x16", "bf16", 26, 2 / 0.765, {LINES_FLOAT: "short by 10.0 %"})
        self.ours("axis_sum_1x1048576x2", "f32", 21, 2 / 0.54, {LINES_SMALL: "short by 10.0 %"})
        self.expect({("axis_sum_16777216x4x1", "f32", 1 << 26, "torch"): 1.8},
                    {LINES_TORCH: "short by 10.0 %"})
        self.expect({("axis_sum_1024x65536x1", "f32", 1 << 26, "cub_new"): 1.8},
                    {NEW_EVERY_CELL: "short by 10.0 %"})

    def test_missed_by_offsets(self):
        cell = "offsets_from_counts", "i32", 1 << 12
        self.expect({(*cell, "cub"): 1.8}, {OFFSETS: "short by 10.0 %"})
        self.expect({(*cell, "lookback"): 2 / 0.873}, {OFFSETS_SUM: "short by 10.0 %"})

    def test_missed_beside_the_sums(self):
        for name in "reverse", "device_count":
            cell = f"inclusive_sum_{name}", "i32", 1 << 28
            also = {ITERATORS: "short by 6.1 %"} if name == "reverse" else {}
            self.expect({(*cell, "lookback"): 2 / 0.873}, {BESIDE_SUMS: "short by 10.0 %", **also})
        cell = "inclusive_sum_device_count", "i32", 1 << 10
        self.expect({(*cell, "lookback"): 3 / 0.9}, {FEW_ON_DEVICE: "short by 10.0 %"})

    def test_missed_against_a_newer_cub(self):
        cell = "inclusive_sum_by_key_7", "i32", 1 << 14  # not in the grid of sums
        lines = self.expect({(*cell, "lookback"): 10}, {NEW_EVERY_CELL: "short by 10.0 %"})
        self.assertEqual(lines[NEW_EVERY_CELL][3], "inclusive_sum_by_key_7/i32/2^14")
        self.expect({key: 2.4 for key in REACHED if key[3] == "cub_new"},
                    {NEW_MEAN: "short by 20.0 %"})

    def test_missed_against_the_run_to_run_mode(self):
        slower = {key: 4 for key in REACHED if key[3] == "cub_run_to_run"}
        fast = {("exclusive_sum", "f32", 1 << exponent, "cub_run_to_run"): 7
                for exponent in (16, 20)}
        self.expect({**slower, **fast}, {RUN_TO_RUN: "short by 14.5 %"})
        for exponent, bound in (16, 3.5), (20, 3.5), (24, 1.6), (28, 1.3):
            self.expect(
                {("exclusive_sum", "f32", 1 << exponent, "cub_run_to_run"): 2 * 0.9 * bound},
                {f"f32 exclusive sum of 2^{exponent}": "short by 10.0 %"})

    def test_not_measured(self):
        self.expect({("wall_inclusive_sum", "i32", 1 << 10, "lookback"): None},
                    {WALL: "not measured", NEW_EVERY_CELL: "not measured: 1 of 650"})
        self.expect({key: None for key in REACHED if "misaligned" in key[0]},
                    {MISALIGNED: "not measured"})
        newer = {key for key in REACHED if key[3] in ("cub_new", "cub_run_to_run")}
        self.expect({key: None for key in newer}, {
            title: "not measured"
            for title in (NEW_EVERY_CELL, NEW_MEAN, RUN_TO_RUN, *(f"f32 exclusive sum of 2^{e}"
                                                                  for e in (16, 20, 24, 28)))
        })
        self.expect({("exclusive_sum", "f64", 1 << 30, "cub_run_to_run"): None},
                    {RUN_TO_RUN: "not measured: 1 of 44"})
        self.expect({("exclusive_sum", "i32", 1 << 20, "cub"): None}, {
                         EVERY_CELL: "not measured: 1 of 148", MEAN: "not measured: 1 of 148",
                         "i32 sums of 2^20": "not measured: 1 of 2"
                     })
        _, lines = run({})
        self.assertEqual({line[-1] for line in lines.values()}, {"not measured"})

    def test_status(self):
        self.assertEqual(run({})[0], 0)
        self.assertEqual(run({}, "--strict")[0], 1)

    def test_at_floor(self):
        # Sums of 4 KB and less take 3 us, those of 1 MB (i32, f32, i128) the faster agreement's 6,
        # all others a copy's 2. Our own times do not matter.
        floor = {("inclusive_sum", "i32", 1 << 10, "agreement:16k"): 3,
                 ("inclusive_sum", "i32", 1 << 18, "agreement:16k"): 7,
                 ("inclusive_sum", "i32", 1 << 18, "agreement:32k"): 6,
                 ("inclusive_sum", "i32", 1 << 20, "launch"): 100}
        sums = {
            key: 50 for key in REACHED
            if key[3] == "lookback" and key[0] in ("inclusive_sum", "exclusive_sum")
        }
        _, lines = run({**REACHED, **sums}, floor=floor)
        self.assertEqual(lines[SMALL][2:5], ["1.333", "inclusive_sum/i32/2^18", "64 of 70"])
        self.assertEqual(lines["i32 sums of 2^10"][2], "3.000")
        self.assertEqual(lines["i32 sums of 2^20"][2], "4.000")
        self.assertEqual(lines[MISALIGNED][-1], "reached")

    def test_beside(self):
        _, lines = run(REACHED)
        self.assertEqual(lines["i32 sums of 2^10"][5], "cub 8.000, memcpy 2.000")
        self.assertEqual(lines[BY_KEY][5], "cub 0.250")


if __name__ == "__main__":
    unittest.main()
