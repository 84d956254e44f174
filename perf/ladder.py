#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the ladder, a row for each algorithm of the catalogue, from the rows that lookback_ladder measured."""

import argparse
import contextlib
import csv
import io
import pathlib
import re
import sys
from typing import NamedTuple, Optional

import table

ELEMENTS = 1 << 28
BEGIN, END = "<!-- ladder: begin -->", "<!-- ladder: end -->"
SINGLE_PASS, MULTI_PASS = 0.7, 0.6  # of the bound: what an algorithm should reach


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
         "blocks scan sections; their sums are scanned alike and added", "block/sequential.cuh", 4),
    Rung("scan_then_add<hillis_steele>", HIERARCHICAL + "hillis_steele>",
         "every thread, log n steps in shared memory", "block/hillis_steele.cuh", 4),
    Rung("scan_then_add<kogge_stone<>>", HIERARCHICAL + "kogge_stone>",
         "each thread keeps its own sum in a register", "block/kogge_stone.cuh", 4),
    Rung("scan_then_add<brent_kung>", HIERARCHICAL + "brent_kung>",
         "a tree and its reverse: 2 n additions in place of n log n", "block/brent_kung.cuh", 4),
    Rung("scan_then_add<blelloch<>>", HIERARCHICAL + "blelloch>",
         "an exclusive tree up and down, padded against bank conflicts", "block/blelloch.cuh", 4),
    Rung("scan_then_add<warp_shuffle>", HIERARCHICAL + "warp_shuffle>",
         "a warp's lanes exchange sums in registers", "block/warp_shuffle.cuh", 4),
    Rung("scan_then_add<three_phase<>>", HIERARCHICAL + "three_phase>",
         "threads scan serially, the network their sums alone", "block/three_phase.cuh", 4),
    Rung("reduce_then_scan<>", "lookback:reduce_then_scan",
         "the first pass only reads", "device/reduce_then_scan.cuh", 3, MULTI_PASS),
    Rung("chained<>", "lookback:chained",
         "one pass: a block waits for its left neighbour's prefix", "device/chained.cuh", 2, SINGLE_PASS),
    Rung("auxiliary_block<>", "lookback:auxiliary_block",
         "one block folds the sums for all others", "device/auxiliary_block.cuh", 2, SINGLE_PASS),
    Rung("decoupled_look_back<walk_by_thread>", "lookback:decoupled_look_back<by_thread>",
         "sums are published before prefixes; a thread walks over them", "device/decoupled_walk.cuh", 2, SINGLE_PASS),
    Rung("decoupled_look_back<>", "lookback:decoupled_look_back<by_warp>",
         "a warp walks over 32 at a time", "device/decoupled_walk.cuh", 2, SINGLE_PASS),
    Rung("look_ahead", "lookback:look_ahead",
         "blocks stay and read, reduce and scan different tiles at once", "device/look_ahead.cuh", 2, SINGLE_PASS),
    Rung("fastest", "lookback",
         "the default: the fastest path for the size, one tree's bits", "dispatch/dispatch.cuh", 2, SINGLE_PASS),
    Rung("CUB", "cub", "", "", 2),
    Rung("memcpy", table.COPY, "", "", 2),
]


def read(path):
    """GB/s, read plus written, by contender and number of elements; and the device's name."""
    speeds, device = {}, ""
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            speed = int(row["bytes"]) / float(row["us_median"]) / 1e3
            speeds.setdefault(row["contender"], {})[int(row["elements"])] = speed
            device = row["gpu"]
    return speeds, device


def section(contender):
    """("lookback:chained", "512x15") for lookback:chained<512x15>; the second is empty for the default section."""
    sized = re.fullmatch(r"(.*)([<:])(\d+x\d+)>", contender)
    if not sized:
        return contender, ""
    return sized[1] + (">" if sized[2] == ":" else ""), sized[3]


def fastest_section(rung, at_size):
    """GB/s of the fastest measured section, and which it is: nothing for the default one."""
    return max(((speed, section(name)[1]) for name, speed in at_size.items() if section(name)[0] == rung.contender),
               default=(None, ""))


def rows(speeds, in_readme):
    """A line for each rung with figures in the file, over the section that is fastest there."""
    at_size = {name: by_size[ELEMENTS] for name, by_size in speeds.items() if ELEMENTS in by_size}
    copy = at_size[table.COPY]
    best_network = max((r for r in RUNGS if r.contender.startswith(HIERARCHICAL)),
                       key=lambda rung: fastest_section(rung, at_size)[0] or 0)
    for rung in RUNGS:
        speed, size = fastest_section(rung, at_size)
        if speed is None:
            continue
        bound = 2 / rung.passes
        reached = speed / copy / bound
        target = MULTI_PASS if rung == best_network else rung.target
        verdict = "" if not target else f"{target} reached" if reached >= target else f"{target - reached:.2f} short of {target}"
        code = "`" if in_readme and rung.file else ""
        yield [f"{code}{rung.title}{code}", rung.adds, f"{code}{rung.file}{code}", size, f"{speed:.0f}", f"{rung.passes} n",
               f"{bound:.2f}", f"{speed / copy:.2f}", f"{reached:.2f}", verdict]


def show(speeds, device, in_readme):
    head = ["algorithm", "what it adds", "file", "section", "GB/s", "traffic", "bound", "of memcpy", "of the bound", "target"]
    print(f"{device}, inclusive sum of 2^28 i32. The section is threads x items a block where another than the default is\n"
          "faster. The bound is the share of memcpy's speed that the traffic allows; the target is a share of the bound, for\n"
          "scan_then_add over its best network.\n")
    table.show(head, list(rows(speeds, in_readme)), in_readme, left=4)
    walk, cub = (speeds.get(name, {}).get(ELEMENTS) for name in ("lookback:decoupled_look_back<by_warp>", "cub"))
    if walk and cub:
        print(f"decoupled_look_back<> (a warp's walk) over CUB: {walk / cub:.2f} of its speed\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("csv", type=pathlib.Path)
    parser.add_argument("--markdown", action="store_true", help="the form for a README")
    parser.add_argument("--into", type=pathlib.Path, metavar="README", help="that form, between the README's marks")
    options = parser.parse_args()

    speeds, device = read(options.csv)
    if ELEMENTS not in speeds.get(table.COPY, {}):
        sys.exit(f"{options.csv}: no memcpy of 2^28 elements to compare with")
    if options.into is None:
        show(speeds, device, options.markdown)
        return
    with contextlib.redirect_stdout(io.StringIO()) as lines:
        show(speeds, device, True)
    before, rest = options.into.read_text().split(BEGIN)
    options.into.write_text(before + BEGIN + "\n" + lines.getvalue().rstrip() + "\n" + END + rest.split(END)[1])


if __name__ == "__main__":
    main()
