#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the ladder, a row for each strategy, from the rows that lookback_ladder measured."""

import argparse
import csv
import pathlib
import re
import sys
from typing import NamedTuple, Optional

import table

ELEMENTS = 1 << 28
SINGLE_PASS, MULTI_PASS = 0.7, 0.6  # the share of the bound that a strategy should reach


class Rung(NamedTuple):
    title: str
    contender: str
    adds: str
    file: str
    passes: Optional[int]  # reads and writes of the whole array; a memcpy's are 2
    target: Optional[float] = None


HIERARCHICAL = "lookback:scan_then_add<"
RUNGS = [
    Rung("scan_then_add<sequential>", HIERARCHICAL + "sequential>",
         "blocks scan tiles; their aggregates are scanned the same way and added",
         "block/sequential.cuh", 4),
    Rung("scan_then_add<hillis_steele>", HIERARCHICAL + "hillis_steele>",
         "every thread works, log n steps in shared memory", "block/hillis_steele.cuh", 4),
    Rung("scan_then_add<kogge_stone<>>", HIERARCHICAL + "kogge_stone>",
         "each thread keeps its own sum in a register", "block/kogge_stone.cuh", 4),
    Rung("scan_then_add<brent_kung>", HIERARCHICAL + "brent_kung>",
         "a tree and its reverse: 2 n additions instead of n log n", "block/brent_kung.cuh", 4),
    Rung("scan_then_add<blelloch<>>", HIERARCHICAL + "blelloch>",
         "an exclusive tree up and down, padded against bank conflicts", "block/blelloch.cuh", 4),
    Rung("scan_then_add<warp_shuffle>", HIERARCHICAL + "warp_shuffle>",
         "the lanes of a warp exchange sums in registers", "block/warp_shuffle.cuh", 4),
    Rung("scan_then_add<three_phase<>>", HIERARCHICAL + "three_phase>",
         "threads scan blocked items serially, the block scan only their sums",
         "block/three_phase.cuh", 4),
    Rung("reduce_then_scan<>", "lookback:reduce_then_scan", "the first pass only reads",
         "strategy/reduce_then_scan.cuh", 3, MULTI_PASS),
    Rung("chained<>", "lookback:chained",
         "one pass: a block waits for the prefix of its left neighbour", "strategy/chained.cuh", 2,
         SINGLE_PASS),
    Rung("auxiliary_block<>", "lookback:auxiliary_block",
         "one block computes the prefixes for all others", "strategy/auxiliary_block.cuh", 2,
         SINGLE_PASS),
    Rung("decoupled_look_back<walk_by_thread>", "lookback:decoupled_look_back<by_thread>",
         "aggregates are published before prefixes; a thread walks over them",
         "strategy/decoupled_look_back.cuh", 2, SINGLE_PASS),
    Rung("decoupled_look_back<>", "lookback:decoupled_look_back<by_warp>",
         "a warp walks over 32 of them at a time", "strategy/decoupled_look_back.cuh", 2, 0.93),
    Rung("look_ahead", "lookback:look_ahead",
         "persistent blocks read, reduce and scan different tiles at once", "strategy/pipeline.cuh",
         2, SINGLE_PASS),
    Rung("fastest", "lookback",
         "the default: the fastest strategy for the size, the same bits for all",
         "dispatch/algorithm.cuh", 2, SINGLE_PASS),
    Rung("CUB", "cub", "", "", 2),
    Rung("memcpy", table.COPY, "", "", 2),
]


def read(path):
    """GB/s, read plus written, by contender and number of elements, and the device's name."""
    speeds, device = {}, ""
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            speed = int(row["bytes"]) / float(row["us_median"]) / 1e3
            speeds.setdefault(row["contender"], {})[int(row["elements"])] = speed
            device = row["gpu"]
    return speeds, device


def tile(contender):
    """("lookback:chained", "512x15") for lookback:chained<512x15>; "" for the default tile."""
    sized = re.fullmatch(r"(.*)([<:])(\d+x\d+)>", contender)
    if not sized:
        return contender, ""
    return sized[1] + (">" if sized[2] == ":" else ""), sized[3]


def fastest_tile(rung, at_size):
    """GB/s of the fastest measured tile, and which it is; nothing for the default one."""
    return max(((speed, tile(name)[1])
                for name, speed in at_size.items() if tile(name)[0] == rung.contender),
               default=(None, ""))


def speeds_of(speeds, elements):
    """GB/s by contender at one size."""
    return {name: by_size[elements] for name, by_size in speeds.items() if elements in by_size}


def ladder_table(speeds, markdown):
    """A line for each strategy that was measured, with the tile that is fastest for it."""
    head = [
        "strategy", "what it adds", "file", "tile", "GB/s", "traffic", "bound", "of memcpy",
        "of CUB", "of the bound", "target"
    ]
    return head, list(lines(speeds_of(speeds, ELEMENTS), markdown))


def lines(at_size, markdown):
    copy, cub = at_size[table.COPY], at_size.get("cub")
    best_block_scan = max((r for r in RUNGS if r.contender.startswith(HIERARCHICAL)),
                          key=lambda rung: fastest_tile(rung, at_size)[0] or 0)
    for rung in RUNGS:
        speed, size = fastest_tile(rung, at_size)
        if speed is None:
            continue
        bound = 2 / rung.passes
        reached = speed / copy / bound
        target = MULTI_PASS if rung == best_block_scan else rung.target
        verdict = f"{target} reached" if target else ""
        if target and reached < target:
            verdict = f"{target - reached:.2f} short of {target}"
        code = "`" if markdown and rung.file else ""
        yield [
            f"{code}{rung.title}{code}", rung.adds, f"{code}{rung.file}{code}", size,
            f"{speed:.0f}", f"{rung.passes} n", f"{bound:.2f}", f"{speed / copy:.2f}",
            f"{speed / cub:.2f}" if cub else "", f"{reached:.2f}", verdict
        ]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("csv", type=pathlib.Path,
                        help="rows of build/perf/lookback_ladder --csv=FILE")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    parser.add_argument("--pictures", action="store_true",
                        help="also draw the pictures of plot_ladder.py beside the CSV")
    options = parser.parse_args()

    speeds, device = read(options.csv)
    if ELEMENTS not in speeds.get(table.COPY, {}):
        sys.exit(
            f"{options.csv}: no row of memcpy at 2^28 elements; measure it again without a filter")
    print(
        f"{device}, inclusive sum of 2^28 i32. Tile: threads x items, where another than the\n"
        "default is faster. Bound: the share of memcpy's speed that the traffic allows. Target: a\n"
        "share of the bound; for scan_then_add, of its best block scan.\n"
    )
    head, body = ladder_table(speeds, options.markdown)
    table.show(head, body, options.markdown, left=4)
    if options.pictures:
        table.draw("plot_ladder.py", options.csv)


if __name__ == "__main__":
    main()
