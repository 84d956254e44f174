#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws time over memcpy's by size, ours and CUB's, a panel for each type, from a comparison's CSV into a PNG beside it."""

import argparse
import pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as pyplot

from table import COPY, OURS, contenders, read


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("csv", type=pathlib.Path)
    parser.add_argument("--call", default="inclusive_sum")
    options = parser.parse_args()

    times, device = read(options.csv)
    times = {key: row for key, row in times.items() if key[0] == options.call and COPY in row}
    if not times:
        parser.error(f"{options.csv} has no rows of {options.call}")
    kinds = list(dict.fromkeys(kind for _, kind, _ in times))
    # Not our other paths, which are measured for some types alone.
    names = [name for name in contenders(times) if name != COPY and not name.startswith(f"{OURS}:")]
    sizes = sorted({n for _, _, n in times})

    columns = min(4, len(kinds))
    rows = -(-len(kinds) // columns)
    figure, axes = pyplot.subplots(
        rows,
        columns,
        figsize=(3.4 * columns, 2.8 * rows),
        sharex=True,
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for axis, kind in zip(axes.flat, kinds):
        for name in names:
            here = [(n, row) for (_, k, n), row in times.items() if k == kind and name in row]
            points = sorted((n, row[name] / row[COPY]) for n, row in here)
            axis.plot(*zip(*points), marker="o", markersize=3, label=name)
        axis.axhline(1, color="grey", linewidth=0.8, linestyle="--")
        axis.set_xscale("log", base=2)
        axis.set_xticks(sizes[::2])
        axis.tick_params(labelbottom=True)
        axis.set_title(kind)
    for axis in list(axes.flat)[len(kinds):]:
        axis.set_axis_off()
    axes[0][0].set_ylim(bottom=0)
    axes[0][0].legend()
    figure.suptitle(f"{options.call}, {device}: time over memcpy's")
    figure.supxlabel("elements")
    figure.savefig(options.csv.with_suffix(".png"), dpi=150)


if __name__ == "__main__":
    main()
