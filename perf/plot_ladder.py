#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws four pictures of the ladder from lookback_ladder's rows, as PNGs beside the CSV."""

import argparse
import pathlib

import table
from drawing import FAINT, INK, new_axes, pyplot, save  # first: says where matplotlib is missing
from ladder import HIERARCHICAL, read, tile

from matplotlib.ticker import FixedLocator, FuncFormatter

# contender: its label and colour, the same in every picture
STRATEGIES = {
    table.COPY: ("memcpy", "#8c8c8c"), "lookback": ("lookback (default)", "#08519c"),
    "lookback:look_ahead": ("look_ahead", "#3a93d6"), "cub": ("CUB", "#000000"),
    "lookback:decoupled_look_back<by_warp>": ("look-back, by a warp", "#00836a"),
    "lookback:decoupled_look_back<by_thread>": ("look-back, by a thread", "#63c2a2"),
    "lookback:auxiliary_block": ("auxiliary_block", "#8c4fb0"), "lookback:chained":
    ("chained", "#d0402b"), "lookback:reduce_then_scan": ("reduce_then_scan", "#e08a00"),
    HIERARCHICAL + "three_phase>": ("scan_then_add", "#9c6b30"),
}
NETWORKS = {
    HIERARCHICAL + "three_phase>": ("three_phase", "#9c6b30"), HIERARCHICAL + "brent_kung>":
    ("brent_kung", "#c2185b"), HIERARCHICAL + "kogge_stone>": ("kogge_stone", "#1565c0"),
    HIERARCHICAL + "kogge_stone_in_place>": ("kogge_stone, in place", FAINT),
    HIERARCHICAL + "kogge_stone_global>": ("kogge_stone, global memory", FAINT),
    HIERARCHICAL + "hillis_steele>": ("hillis_steele", FAINT), HIERARCHICAL + "blelloch>":
    ("blelloch", FAINT), HIERARCHICAL + "blelloch_unpadded>": ("blelloch, no padding", FAINT),
    HIERARCHICAL + "blelloch_adjacent>": ("blelloch, adjacent pairs", FAINT),
    HIERARCHICAL + "warp_shuffle>": ("warp_shuffle",
                                     FAINT), HIERARCHICAL + "sequential>": ("sequential", FAINT),
}


def lines(axes, speeds, shown, scale=1.0):
    ends = []
    for name, (label, color) in shown.items():
        if name not in speeds:
            continue
        sizes = sorted(speeds[name])
        heights = [speeds[name][n] / scale for n in sizes]
        # The default's line is wider than that of the strategy that it runs and covers.
        width = 1.2 if color == FAINT else 3.4 if name == "lookback" else 2
        axes.plot(sizes, heights, color=color, linewidth=width,
                  linestyle="--" if name == table.COPY else "-", solid_capstyle="round")
        ends.append((sizes[-1], heights[-1], label, color))
    sizes = sorted(speeds[table.COPY])
    axes.set_xlim(sizes[0] / 1.2, sizes[-1] * 1.1)
    axes.xaxis.set_major_locator(FixedLocator(sizes))
    return ends


def draw_throughput(speeds, device, path):
    figure, axes = new_axes("Throughput of every algorithm",
                            f"inclusive sum of i32, {device}; GB/s read and written")
    ends = lines(axes, speeds, STRATEGIES)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    save(figure, axes, ends, path)


def draw_share(speeds, device, path):
    figure, axes = new_axes("Share of the peak bandwidth",
                            f"inclusive sum of i32, {device}; 100 % is memcpy at its fastest")
    ends = lines(axes, speeds, STRATEGIES, max(speeds[table.COPY].values()))
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{100 * y:.0f} %"))
    save(figure, axes, ends, path)


def draw_networks(speeds, device, path):
    figure, axes = new_axes("scan_then_add over the block scans",
                            f"inclusive sum of i32, {device}; GB/s read and written")
    ends = lines(axes, speeds, NETWORKS)
    bound = max(speeds[table.COPY].values()) / 2
    axes.axhline(bound, color="#8c8c8c", linewidth=1.2, linestyle="--")
    axes.annotate("half of memcpy: the bound of two reads and two writes",
                  (min(speeds[table.COPY]), bound), xytext=(0, -12), textcoords="offset points",
                  fontsize=10, color="#777777")
    axes.set_ylim(bottom=0)
    save(figure, axes, ends, path)


def draw_block_sizes(speeds, device, path):
    """A panel of threads by elements for each number of items; the last takes the best of them."""
    measured = {}  # (threads, items): {n: GB/s}
    for name, by_size in speeds.items():
        base, size = tile(name)
        if base == "lookback:decoupled_look_back<by_warp>" and size:
            measured[tuple(map(int, size.split("x")))] = by_size
    threads = sorted({t for t, _ in measured}, reverse=True)
    items = sorted({q for _, q in measured})
    sizes = sorted(n for n in next(iter(measured.values())) if n >= 1 << 14)
    panels = [(f"{q} items a thread", [[measured[t, q][n] for n in sizes] for t in threads])
              for q in items]
    best = [[max(measured[t, q][n] for q in items) for n in sizes] for t in threads]
    panels.append(("the best of them", best))
    top = max(max(row) for row in best)

    figure, grid = pyplot.subplots(2, -(-len(panels) // 2), figsize=(15, 6), layout="constrained",
                                   sharex=True, sharey=True)
    figure.suptitle(
        f"decoupled_look_back by a warp: GB/s by threads of a block and elements, i32, {device}",
        x=0.01, ha="left", fontsize=14, color=INK)
    for axes, (title, values) in zip(grid.flat, panels):
        image = axes.imshow(values, vmin=0, vmax=top, cmap="viridis", aspect="auto")
        axes.set_title(title, loc="left", fontsize=11, color=INK)
        axes.set_xticks(range(len(sizes)), [f"$2^{{{n.bit_length() - 1}}}$" for n in sizes])
        axes.set_yticks(range(len(threads)), threads)
        axes.tick_params(colors=INK, length=0)
        axes.spines[:].set_visible(False)
        for y, row in enumerate(values):
            for x, value in enumerate(row):
                axes.text(x, y, f"{value:.0f}", ha="center", va="center", fontsize=8,
                          color="white" if value < 0.6 * top else "black")
    for axes in grid.flat[len(panels):]:
        axes.set_axis_off()
    figure.supxlabel("elements", fontsize=11, color=INK)
    figure.supylabel("threads of a block", fontsize=11, color=INK)
    bar = figure.colorbar(image, ax=grid, shrink=0.8, pad=0.01)
    bar.outline.set_visible(False)
    bar.set_label("GB/s", color=INK)
    figure.savefig(path, dpi=150)
    print(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("csv", type=pathlib.Path,
                        help="rows of build/perf/lookback_ladder --csv=FILE")
    path = parser.parse_args().csv

    speeds, device = read(path)
    for name, draw in [("throughput", draw_throughput), ("share", draw_share),
                       ("networks", draw_networks), ("block_sizes", draw_block_sizes)]:
        draw(speeds, device, path.with_name(f"{path.stem}_{name}.png"))


if __name__ == "__main__":
    main()
