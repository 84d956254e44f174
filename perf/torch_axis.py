#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures torch.cumsum on the arrays of the comparison's calls axis_sum_*, and prints rows of the
same columns. Needs PyTorch and a GPU."""

import statistics
import sys

try:
    import torch
except ModuleNotFoundError:
    sys.exit("nothing measured: PyTorch is missing (pip install torch)")

TYPES = {"i32": torch.int32, "f32": torch.float32, "bf16": torch.bfloat16}
# rows, columns, the dimension of the sums: 0 is down the columns, 1 is along the rows
K, M = 1 << 10, 1 << 20
MATRICES = [(1, 128 * M, 1), (M, 32, 1), (64 * K, K, 1), (K, 64 * K, 1), (16 * M, 4, 1),
            (16, 4 * M, 1), (4 * K, 4 * K, 1), (M, 2, 0), (M, 32, 0), (64 * K, K, 0),
            (K, 64 * K, 0), (4 * M, 16, 0), (4 * K, 4 * K, 0)]
SLOW = 50000  # microseconds from which a single run is measured


def name_of(rows, columns, dimension):
    """axis_sum_<outer>x<length>x<inner>"""
    lines = (rows, columns, 1) if dimension else (1, rows, columns)
    return "axis_sum_" + "x".join(map(str, lines))


class Timer:
    """The time between events around a call, with a cold L2 cache."""
    def __init__(self):
        cache = getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 64 * M)
        self.evicting = torch.empty(4 * cache, dtype=torch.uint8, device="cuda")
        self.start, self.stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def run(self, work):
        self.evicting.zero_()
        self.start.record()
        work()
        self.stop.record()
        self.stop.synchronize()
        return self.start.elapsed_time(self.stop) * 1e3

    def runs(self, work, most):
        self.run(work)  # loads the kernels
        first = self.run(work)
        return [first] + [self.run(work) for _ in range(most - 1) if first < SLOW]


def values_of(rows, columns, dimension, kind):
    """Differences of small random integers along the axis: the sums are those integers, exact in
    every type."""
    sums = torch.randint(-4, 5, (rows, columns), dtype=torch.int8, device="cuda")
    values = sums.clone()
    length = sums.shape[dimension]
    values.narrow(dimension, 1, length - 1).sub_(sums.narrow(dimension, 0, length - 1))
    return values.to(kind), sums


def measure(timer, rows, columns, dimension, kind):
    """Microseconds of every run, after the sums have been checked."""
    values, expected = values_of(rows, columns, dimension, kind)
    sums = torch.empty_like(values)

    def work():
        torch.cumsum(values, dimension, dtype=kind, out=sums)

    times = timer.runs(work, 27 if values.nbytes < 32 * M else 15)
    if not torch.equal(sums, expected.to(kind)):
        sys.exit(f"wrong sums: {rows} x {columns}, {kind}, dimension {dimension}")
    return times, 2 * values.nbytes


def main():
    timer = Timer()
    gpu = torch.cuda.get_device_name().replace(",", " ")
    print("gpu,contender,call,type,elements,bytes,us_median,us_min,us_max,runs")
    for rows, columns, dimension in MATRICES:
        for kind, dtype in TYPES.items():
            times, moved = measure(timer, rows, columns, dimension, dtype)
            print(
                f"{gpu},torch,{name_of(rows, columns, dimension)},{kind},{rows * columns},{moved},"
                f"{statistics.median(times):.4f},{min(times):.4f},{max(times):.4f},{len(times)}",
                flush=True)


if __name__ == "__main__":
    main()
