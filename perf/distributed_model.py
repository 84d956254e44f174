#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the model of perf/distributed_model.md: the time of a distributed scan, part by part."""

import argparse
import math

GROUP = 512 * 1024  # bytes
SUPER_GROUP = 32  # groups
COPY = 4250e9  # bytes/s read and written by a scan, as by memcpy: perf/results/h200.csv
READ = (1 << 30) / (778.9e-6 - 507.6e-6)  # perf/results/h200_ladder.csv: 3 n less 2 n
CLOCK = 1.98e9  # Hz
LINK = 393e9  # bytes/s, NVLink, one way
NODE = 8  # ranks
RANKS = [2 ** k for k in range(1, 11)]


def gather(ranks, record, arguments):
    """An all-gather of `record` bytes of each rank."""
    nodes = max(1, ranks / NODE)
    latency = arguments.latency + arguments.step * math.log2(nodes)
    link = LINK if ranks <= NODE else arguments.network
    return latency + (ranks - 1) * record / link


def parts(ranks, arguments, units, unaligned=False):
    """Seconds of reading, exchanges, the last rank's fold of `units` records a rank, scanning."""
    exchanges = gather(ranks, 64, arguments) + gather(ranks, units * arguments.record, arguments)
    if unaligned:
        exchanges += gather(ranks, GROUP, arguments)
    return (arguments.bytes / READ, exchanges, (ranks - 1) * units * arguments.clocks / CLOCK,
            2 * arguments.bytes / COPY)


def row(ranks, arguments):
    groups = arguments.bytes / GROUP
    read, exchanges, fold, scan = parts(ranks, arguments, groups)
    level = sum(parts(ranks, arguments, groups / SUPER_GROUP)) + SUPER_GROUP * (
        arguments.clocks / CLOCK)
    total = read + exchanges + fold + scan
    unaligned = sum(parts(ranks, arguments, groups, True)) - total
    return [str(ranks), *(f"{1e6 * t:.0f}" for t in (read, exchanges, fold, scan, total)),
            f"{100 * fold / total:.0f} %", f"{scan / total:.2f}", f"{1e6 * level:.0f}",
            f"{scan / level:.2f}", f"{1e6 * unaligned:.0f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bytes", type=float, default=2.0 ** 30, help="of a rank's shard")
    parser.add_argument("--clocks", type=float, default=28, help="of a step of the fold")
    parser.add_argument("--record", type=float, default=4, help="bytes of an aggregate")
    parser.add_argument("--latency", type=float, default=25e-6, help="of an exchange in a node")
    parser.add_argument("--step", type=float, default=10e-6, help="added by each doubling of nodes")
    parser.add_argument("--network", type=float, default=50e9, help="bytes/s between nodes")
    arguments = parser.parse_args()
    head = ["ranks", "read", "exchanges", "fold", "scan", "total", "fold/total", "efficiency",
            "total, one level more", "efficiency", "open items"]
    print("| " + " | ".join(head) + " |")
    print("|" + " --: |" * len(head))
    for ranks in RANKS:
        print("| " + " | ".join(row(ranks, arguments)) + " |")


if __name__ == "__main__":
    main()
