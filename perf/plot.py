#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the speed of one call as a share of memcpy's, over the number of elements; and, if they
are measured, that of segmented sums over the length of the segments.

Reads the rows of a comparison and writes PNGs beside the CSV.
"""

import argparse
import pathlib
import re

import table
from drawing import INK, new_axes, save  # first: says where matplotlib is missing

from matplotlib.ticker import FixedLocator, FuncFormatter

# contender: its label and colour. Labels and line widths tell lines apart without colour.
SHOWN = {
    "lookback": ("lookback", "#0072b2"), "cub": ("CUB", "#d55e00"), "cub_new":
    ("newer CUB", "#8f4a00"), "cub_run_to_run": ("newer CUB,\nrun-to-run", "#a0457c"), "thrust":
    ("Thrust", "#00734f"), "std": ("std", "#d55e00"), "tbb": ("oneTBB", "#a0457c"), "thrust_tbb":
    ("Thrust, TBB", "#00734f"),
}

SEGMENTED = "segmented_sum"  # the calls segmented_sum_<length>, over the length
SMALLEST = 1 << 10  # below, a copy takes no measurable time


def elements(n, _=None):
    """"4 M" for 2^22."""
    exponent = max(0, round(n).bit_length() - 1)
    return f"{round(n) >> exponent // 10 * 10} {['', 'K', 'M', 'G'][exponent // 10]}".strip()


def draw(title, device, cells, path, label="elements"):
    """`cells`: (x, row) for each mark, at least one."""
    figure, axes = new_axes(title, f"{device}; 100 % is memcpy of the same size", (8, 4.5), label)
    sizes = [x for x, _ in cells]
    ends = [(sizes[-1], 1, "memcpy", "#666666")]
    axes.plot(sizes, [1] * len(sizes), color="#666666", linewidth=1.5, linestyle="--")
    for name, (text, color) in SHOWN.items():
        points = [(x, row[table.COPY] / row[name]) for x, row in cells if name in row]
        if points:
            axes.plot(*zip(*points), color=color, linewidth=4 if name == table.OURS else 2.2,
                      marker="o", markersize=5)
            ends.append((*points[-1], text, color))
    axes.set_ylim(bottom=0, top=max(1.15, axes.get_ylim()[1]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{100 * y:.0f} %"))
    axes.xaxis.set_major_locator(FixedLocator(sizes[::2]))
    axes.xaxis.set_minor_locator(FixedLocator([]))
    axes.xaxis.set_major_formatter(FuncFormatter(elements))
    axes.tick_params(labelsize=12)
    axes.xaxis.label.set_size(12)
    save(figure, axes, ends, path, distance=17, fontsize=13)


def by_elements(times, call, kind):
    return sorted((n, row) for (c, k, n), row in times.items()
                  if (c, k) == (call, kind) and table.COPY in row and n >= SMALLEST)


def by_segment_length(times, kind):
    found = [(re.fullmatch(rf"{SEGMENTED}_(\d+)", call), k, row)
             for (call, k, _), row in times.items()]
    return sorted((int(match[1]), row) for match, k, row in found
                  if match and k == kind and table.COPY in row)


def draw_call(times, device, call, kind, csv):
    """Draws the picture of a call; returns whether it is measured beside a memcpy."""
    if call == SEGMENTED:
        cells, path = by_segment_length(times, kind), csv.with_name(f"{csv.stem}_segments.png")
    else:
        cells, path = by_elements(times, call, kind), csv.with_suffix(".png")
    if cells:
        draw(f"{call}, {kind}: speed as a share of a copy's", device, cells, path,
             "elements of a segment" if call == SEGMENTED else "elements")
    return bool(cells)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("csv", type=pathlib.Path, help="rows of a driver: --csv=FILE")
    parser.add_argument("--call", action="append", metavar="CALL",
                        help=f"calls to draw instead of inclusive_sum and {SEGMENTED}")
    parser.add_argument("--type", default="f32")
    options = parser.parse_args()

    times, device = table.read(options.csv)
    calls = options.call or ["inclusive_sum", SEGMENTED]
    drawn = [draw_call(times, device, call, options.type, options.csv) for call in calls]
    if not any(drawn):
        parser.error(
            f"{options.csv}: no row of {' or '.join(calls)} of {options.type} with 2^10 elements or "
            "more and a memcpy beside it"
        )


if __name__ == "__main__":
    main()
