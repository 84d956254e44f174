#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints which targets of speed on an H200 the rows of a comparison reach."""

import argparse
import math
import sys
from typing import List, NamedTuple, Optional, Tuple

import table

BYTES = {"i8": 1, "i16": 2, "i32": 4, "i64": 8, "i128": 16, "f32": 4, "f64": 8}
Cell = Tuple[str, str, int]  # call, type, elements: table.read's key
MISALIGNED = "inclusive_sum_misaligned"
AGREEMENT = "agreement:"
SUMS = "inclusive_sum", "exclusive_sum"
GRID = [(call, kind, 1 << exponent) for call in SUMS for kind in BYTES
        for exponent in range(10, 32, 2) if exponent <= 28 or BYTES[kind] <= 4]

BY_ITEM = ("select_if_0", "select_if_50", "select_if_100", "select_if_50_clustered",
           "select_flagged_50", "partition_if_50")
BY_SEGMENT = [f"{call}_{length}" for call in ("unique", "reduce_by_key", "run_length_encode")
              for length in (7, 1000)]
SELECTIONS = [(call, kind, 1 << exponent)
              for calls, kinds in ((BY_ITEM, ("i8", "i16", "i32", "i64")), (BY_SEGMENT, ("i32", )))
              for call in calls for kind in kinds for exponent in range(10, 32, 2)
              if exponent <= 28 or BYTES[kind] <= 2]

SEGMENTED = 1 << 27  # elements of all segments
SHORT_SEGMENTS = ("4", )
LONG_SEGMENTS = (*(str(1 << e) for e in (4, 6, 8, 10, 12, 16, 20, 27)), "half_in_one", "power_law")
K, M = 1 << 10, 1 << 20
LARGE_AXES = [(1, 128 * M, 1), (M, 32, 1), (64 * K, K, 1), (K, 64 * K, 1), (16 * M, 4, 1),
              (16, 4 * M, 1), (1, M, 32), (1, 64 * K, K), (1, K, 64 * K), (1, 4 * M, 16)]
SMALL_AXES = [(4 * K, 4 * K, 1), (1, M, 2), (1, 4 * K, 4 * K)]
BESIDE_SUMS = [(f"inclusive_sum_{name}", "i32", 1 << 28) for name in ("reverse", "device_count")]
FEW_ON_DEVICE = [("inclusive_sum_device_count", "i32", 1 << 10)]
OFFSETS = [("offsets_from_counts", "i32", 1 << exponent) for exponent in range(10, 30, 2)]

RUN_TO_RUN = [(call, kind, 1 << exponent) for call in SUMS for kind in ("f32", "f64")
              for exponent in range(10, 32, 2)]


class Target(NamedTuple):
    title: str
    bound: float
    against: Optional[str]  # the contender to compare with; None: `bound` is a time in microseconds
    cells: List[Cell]
    at_most: bool = False  # `bound` is a maximum, of a time
    mean: bool = False  # `bound` is for the geometric mean of the cells, not for the worst one
    beside: Tuple[str, ...] = ()  # contenders to show beside the worst cell

    def required(self):
        unit = "us" if not self.against else f"x {self.against}" + "'s time" * self.at_most
        return f"{'<=' if self.at_most else '>='} {self.bound:.2f} {unit}"

    def figure(self, row, contender=table.OURS):
        """The value that `bound` limits; None where the row lacks a contender."""
        if contender not in row or self.against and self.against not in row:
            return None
        if not self.against:
            return row[contender]
        return row[contender] / row[self.against] if self.at_most else row[
            self.against] / row[contender]

    def speed(self, figure):
        """The share of the required speed; the target is reached from 1 on."""
        return self.bound / figure if self.at_most else figure / self.bound

    def verdict(self, figure):
        short = 100 * (1 - self.speed(figure))
        if short <= 0:
            return "reached"
        return f"short by {short:.1f} %" if short >= 0.05 else "short by less than 0.1 %"


def add_sums(times):
    """Adds our time of the inclusive sum to the rows of the same type and size: of misaligned sums
    as contender `aligned`; of selections, offsets, reversed sums and counts on the device as
    contender `inclusive_sum`."""
    names = dict.fromkeys((call for call, _, _ in SELECTIONS + OFFSETS + BESIDE_SUMS),
                          "inclusive_sum")
    names.update((call, "aligned") for call, _, _ in times if call.startswith(MISALIGNED))
    for (call, kind, elements), row in times.items():
        ours = times.get(("inclusive_sum", kind, elements), {}).get(table.OURS)
        if call in names and ours is not None:
            row[names[call]] = ours


def put_at_floor(times, path):
    """Replaces our times of sums by a memcpy's, or by an agreement's of as many bytes if it is
    longer and lookback_floor's rows at `path` have one. Smaller inputs than the smallest in that
    file take the time of that one."""
    floor, _ = table.read(path)
    agreements = {
        elements * BYTES[kind]: min(us for name, us in row.items() if name.startswith(AGREEMENT))
        for (_, kind, elements), row in floor.items() if any(
            name.startswith(AGREEMENT) for name in row)
    }
    if not agreements:
        sys.exit(
            f"{path}: no rows of contenders {AGREEMENT}...; "
            "give the CSV that build/perf/lookback_floor writes"
        )
    fewest = min(agreements)
    for cell in GRID:
        row = times.get(cell, {})
        if table.OURS in row and table.COPY in row:
            row[table.OURS] = max(row[table.COPY],
                                  agreements.get(max(cell[2] * BYTES[cell[1]], fewest), 0))


def item_targets(times):
    """The targets of sums through iterators, and of scans of structs."""
    names = "counting_transform", "zip_transform", "reverse", "permutation"
    yield Target("sums through iterators, 2^28", 0.93, table.COPY,
                 [(f"inclusive_sum_{name}", "i32", 1 << 28) for name in names], beside=("cub", ))
    for size, bound in (12, 0.9), (24, 0.9), (32, 0.85), (64, 0.8):
        cells = [cell for cell in times if cell[0] == f"inclusive_scan_{size}_bytes"]
        largest = max((elements for _, _, elements in cells), default=0)
        yield Target(f"structs of {size} bytes, the largest input", bound, table.COPY,
                     [cell for cell in cells if cell[2] == largest], beside=("cub", ))


def selection_targets():
    """The targets of selections, partitions and what else keeps a part of the items."""
    largest = [cell for cell in SELECTIONS if cell[2] == 1 << 28]
    yield Target("selections, every cell", 1, "cub", SELECTIONS)
    yield Target("selections, geometric mean", 1.6, "cub", SELECTIONS, mean=True)
    for kinds, bound in (("i32", "i64"), 0.9), (("i16", ), 0.8), (("i8", ), 0.6):
        title = f"select_if, select_flagged, partition_if, {', '.join(kinds)}, 2^28"
        yield Target(title, bound, table.COPY,
                     [cell for cell in largest if cell[0] in BY_ITEM and cell[1] in kinds],
                     beside=("cub", ))
    yield Target("unique, reduce_by_key, run_length_encode, 2^28", 0.85, table.COPY,
                 [cell for cell in largest if cell[0] in BY_SEGMENT], beside=("cub", ))
    yield Target("selections of up to 2^18", 1.15, "inclusive_sum",
                 [cell for cell in SELECTIONS if cell[2] <= 1 << 18], at_most=True,
                 beside=("cub", ))


def axis_cells(shapes, *kinds):
    return [("axis_sum_" + "x".join(map(str, shape)), kind, math.prod(shape)) for shape in shapes
            for kind in kinds]


def has_newer_cub(cell):
    """CUB sums rows, as segments, but no columns."""
    return not cell[0].startswith("axis_sum_") or cell[0].endswith("x1")


def segment_targets():
    """The targets of segments, of the lines of arrays and of offsets."""
    for title, which, kinds, bound in (
        ("segments of 16 and more", LONG_SEGMENTS, ("i32", ), 0.9),
        ("segments of 16 and more", LONG_SEGMENTS, ("f32", "f64"), 0.8),
        ("segments of 4", SHORT_SEGMENTS, ("i32", ), 0.6),
        ("segments of 4", SHORT_SEGMENTS, ("f32", "f64"), 0.5)):
        yield Target(f"{title}, {', '.join(kinds)}", bound, table.COPY,
                     [(f"segmented_sum_{name}", kind, SEGMENTED) for name in which
                      for kind in kinds], beside=("cub_new", ))
    for kinds, bound in (("i32", ), 0.9), (("f32", "bf16"), 0.85):
        yield Target(f"lines of large arrays, {', '.join(kinds)}", bound, table.COPY,
                     axis_cells(LARGE_AXES, *kinds), beside=("cub_new", "torch"))
    small, every = (axis_cells(axes, "i32", "f32", "bf16")
                    for axes in (SMALL_AXES, LARGE_AXES + SMALL_AXES))
    yield Target("columns of 1M x 2, rows and columns of 4096 x 4096", 0.6, table.COPY, small,
                 beside=("cub_new", "torch"))
    yield Target("lines of arrays, every cell", 1, "torch", every)
    yield Target("offsets_from_counts, every cell", 1, "cub", OFFSETS)
    yield Target("offsets_from_counts, beside the sums", 0.97, "inclusive_sum", OFFSETS,
                 beside=("cub", ))
    yield Target("reversed input, a count on the device, beside the sums, 2^28", 0.97,
                 "inclusive_sum", BESIDE_SUMS, beside=("cub", ))
    yield Target("a count of 2^10 on the device, at most 2^28", 1.5, "inclusive_sum", FEW_ON_DEVICE,
                 at_most=True, beside=("cub", ))


def targets(times):
    """All targets, for the calls that are in the rows."""
    large = [cell for cell in GRID if cell[2] * BYTES[cell[1]] >= 1 << 30]
    n = 1 << 28
    yield Target("the grid of sums, every cell", 1, "cub", GRID)
    yield Target("the grid of sums, geometric mean", 1.7, "cub", GRID, mean=True)
    yield Target("sums of up to 2^18, every type", 1.5, "cub",
                 [cell for cell in GRID if cell[2] <= 1 << 18])
    yield Target("i32 sums of 2^10", 4, None, [(call, "i32", 1 << 10) for call in SUMS],
                 at_most=True, beside=("cub", table.COPY))
    for exponent, bound in (20, 1.45), (22, 1.35), (24, 1.3):
        yield Target(f"i32 sums of 2^{exponent}", bound, "cub",
                     [(call, "i32", 1 << exponent) for call in SUMS])
    yield Target("sums of 1 GiB and more, 4-, 8- and 16-byte types", 0.97, table.COPY,
                 [cell for cell in large if BYTES[cell[1]] >= 4])
    yield Target("sums of 1 GiB and more, 1- and 2-byte types", 0.95, table.COPY,
                 [cell for cell in large if BYTES[cell[1]] <= 2])
    yield Target("inclusive_max, inclusive_affine, 2^24 and 2^28", 0.95, table.COPY,
                 [(call, kind, 1 << exponent)
                  for call, kind in (("inclusive_max", "i32"), ("inclusive_affine", "f32x2"))
                  for exponent in (24, 28)])
    yield Target("exclusive_sum_i8_to_i32, transform_inclusive_sum, 2^28", 0.93, table.COPY,
                 [("exclusive_sum_i8_to_i32", "i8", n), ("transform_inclusive_sum", "i32", n)])
    yield Target("inclusive sums misaligned by one element, 2^28", 0.9, "aligned",
                 [cell for cell in times if cell[0].startswith(MISALIGNED) and cell[2] == n])
    yield Target("inclusive_sum_by_key, segments of 7 and 1000, 2^28", 0.93, table.COPY,
                 [(f"inclusive_sum_by_key_{length}", "i32", n) for length in (7, 1000)],
                 beside=("cub", ))
    yield Target("a whole Thrust call, 2^10", 1.25, table.COPY,
                 [("wall_inclusive_sum", "i32", 1 << 10)], at_most=True, beside=("cub", "thrust"))
    yield Target("newer CUB: every cell of every call", 1, "cub_new",
                 list(filter(has_newer_cub, times)))
    yield Target("newer CUB: the grid of sums, geometric mean", 1.5, "cub_new", GRID, mean=True)
    yield Target("f32 and f64 sums of 2^10 to 2^30, geometric mean", 2.4, "cub_run_to_run",
                 RUN_TO_RUN, mean=True)
    for exponent, bound in (16, 3.5), (20, 3.5), (24, 1.6), (28, 1.3):
        yield Target(f"f32 exclusive sum of 2^{exponent}", bound, "cub_run_to_run",
                     [("exclusive_sum", "f32", 1 << exponent)])
    yield from item_targets(times)
    yield from selection_targets()
    yield from segment_targets()


def older_targets(code):
    """The targets of sums by code for an older architecture, whose blocks have less shared memory."""
    large, medium = (0.93, 0.85) if code == "compute_80" else (0.9, 0.82)

    def cells(*exponents):
        return [("inclusive_sum", kind, 1 << exponent) for kind in ("i8", "i16", "i32", "f32", "f64")
                for exponent in exponents]

    for exponent, bound in (28, large), (24, medium):
        yield Target(f"{code}, sums of 2^{exponent}", bound, table.COPY, cells(exponent),
                     beside=("cub", ))
    yield Target(f"{code}, sums of up to 2^20", 1, "cub", cells(*range(10, 22, 2)))


class Outcome:
    """A target and what the rows of a file say of it."""
    def __init__(self, target, times):
        self.target = target
        self.figures = {cell: target.figure(times.get(cell, {})) for cell in target.cells}
        measured = {cell: figure for cell, figure in self.figures.items() if figure is not None}
        self.missing = len(self.figures) - len(measured)
        self.reaching = sum(target.speed(figure) >= 1 for figure in measured.values())
        self.worst = min(measured, key=lambda cell: target.speed(measured[cell]), default=None)
        mean = table.geometric_mean(list(measured.values()))
        self.figure = mean if target.mean else measured.get(self.worst)
        self.row = times.get(self.worst, {})

    def verdict(self):
        if self.figure is None:
            return "not measured"
        if self.missing:
            return f"not measured: {self.missing} of {len(self.figures)}"
        return self.target.verdict(self.figure)

    def line(self):
        one_cell = self.worst and not self.target.mean
        beside = [
            f"{name} {text(self.target.figure(self.row, name))}" for name in self.target.beside
            if name in self.row
        ]
        return [
            self.target.title,
            self.target.required(),
            text(self.figure),
            name_of(self.worst) if one_cell else "",
            f"{self.reaching} of {len(self.figures)}" if one_cell else "", ", ".join(beside),
            self.verdict()
        ]

    def missed(self):
        """A line for each cell that misses the target or was not measured, worst first."""
        speed = {
            cell: 0 if value is None else self.target.speed(value)
            for cell, value in self.figures.items()
        }
        for cell in sorted((cell for cell in speed if speed[cell] < 1), key=speed.get):
            value = self.figures[cell]
            yield [
                self.target.title,
                name_of(cell),
                text(value), "not measured" if value is None else self.target.verdict(value)
            ]


def text(value):
    return "" if value is None else f"{value:.3f}"


def name_of(cell):
    call, kind, elements = cell
    return f"{call}/{kind}/{table.size(elements)}"


def judge(times, floor=None):
    """An Outcome for each target; with `floor`, a CSV of lookback_floor, see put_at_floor."""
    times = {cell: dict(row) for cell, row in times.items()}
    if floor:
        put_at_floor(times, floor)
    add_sums(times)
    return [Outcome(target, times) for target in targets(times)]


def outcomes_table(outcomes):
    head = [
        "target", "required", "measured", "worst cell", "cells that reach it", "other contenders",
        "verdict"
    ]
    return head, [outcome.line() for outcome in outcomes]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("csv", nargs="+",
                        help="rows of the comparison on an H200, and of torch_axis.py")
    parser.add_argument("--markdown", action="store_true", help="print Markdown tables")
    parser.add_argument("--missed", action="store_true",
                        help="also list every cell that misses its target")
    parser.add_argument("--strict", action="store_true",
                        help="exit with 1 if a target is missed or not measured")
    parser.add_argument(
        "--at-floor", metavar="CSV",
        help="replace our times of sums by a copy's and the agreements' in this CSV of "
        "lookback_floor")
    options = parser.parse_args()

    times, device = table.read(*options.csv)
    outcomes = judge(times, options.at_floor)
    print(
        f"{device}: speed as a multiple of the named contender's, or a time where the target is\n"
        "one; of the worst cell, or the mean. Short: the missing share of the required speed." +
        "\nSums take a copy's or an agreement's time here, not ours." * bool(options.at_floor) +
        "\n")
    head, body = outcomes_table(outcomes)
    table.show(head, body, options.markdown, left=len(head))
    if options.missed:
        head = ["target", "cell", "measured", "verdict"]
        cells = [
            line for outcome in outcomes if not outcome.target.mean for line in outcome.missed()
        ]
        table.show(head, cells, options.markdown, left=len(head))
    reached = sum(outcome.verdict() == "reached" for outcome in outcomes)
    print(f"{reached} of {len(outcomes)} targets reached")
    sys.exit(options.strict and reached < len(outcomes))


if __name__ == "__main__":
    main()
