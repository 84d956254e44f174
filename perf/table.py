#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints a comparison's CSV as a table, and the geometric means of its ratios for each call."""

import argparse
import csv
import math
import re
import sys

OURS = "lookback"
COPY = "memcpy"


def read(path):
    """Median microseconds by (call, type, elements) and contender, in the order of the file; and the device's name."""
    times, devices = {}, set()
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            key = row["call"], row["type"], int(row["elements"])
            times.setdefault(key, {})[row["contender"]] = float(row["us_median"])
            devices.add(row["gpu"])
    return times, ", ".join(sorted(devices))


def contenders(times):
    """Ours first, the copy last, those between in the order of the file."""
    seen = list(dict.fromkeys(name for row in times.values() for name in row))
    between = [name for name in seen if name not in (OURS, COPY)]
    return [OURS] * (OURS in seen) + between + [COPY] * (COPY in seen)


def size(elements):
    exponent = elements.bit_length() - 1
    return f"2^{exponent}" if elements == 1 << exponent else str(elements)


def microseconds(value):
    return "" if value is None else f"{value:.4f}" if value < 0.1 else f"{value:.2f}" if value < 100 else f"{value:.1f}"


def ratio(row, name):
    """How many times as long as lookback a contender takes; for the copy, the share of its speed that we reach."""
    return row[name] / row[OURS] if name in row and OURS in row else None


def ratio_title(name):
    return "of memcpy" if name == COPY else f"{name}/ours"


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def figure(value):
    return "" if value is None else f"{value:.2f}"


def cells_table(times):
    names = contenders(times)
    head = ["call", "type", "elements", *names, *map(ratio_title, names[1:])]
    body = [
        [call, kind, size(n), *(microseconds(row.get(name)) for name in names)]
        + [figure(ratio(row, name)) for name in names[1:]]
        for (call, kind, n), row in times.items()
    ]
    return head, body


def means_table(times):
    names = contenders(times)[1:]
    head = ["geometric mean", *map(ratio_title, names)]
    calls = list(dict.fromkeys(call for call, _, _ in times))
    groups = [(call, [row for key, row in times.items() if key[0] == call]) for call in calls]
    groups.append(("all", list(times.values())))
    body = [
        [title] + [figure(geometric_mean([r for row in rows if (r := ratio(row, name))])) for name in names]
        for title, rows in groups
    ]
    return head, body


def show(head, body, markdown, left):
    """`left` columns of words, then columns of figures."""
    widths = [max(len(line[i]) for line in [head, *body]) for i in range(len(head))]
    separator, edge = (" | ", "|") if markdown else ("  ", "")
    for number, line in enumerate([head, *body]):
        padded = [text.ljust(w) if i < left else text.rjust(w) for i, (text, w) in enumerate(zip(line, widths))]
        print(f"{edge} {separator.join(padded)} {edge}".strip() if markdown else separator.join(padded).rstrip())
        if number == 0:
            rule = ["-" * w if i < left else "-" * (w - 1) + ":" for i, w in enumerate(widths)]
            print(f"{edge} {separator.join(rule)} {edge}" if markdown else separator.join("-" * w for w in widths))
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("csv")
    parser.add_argument("--markdown", action="store_true", help="the form for a README")
    parser.add_argument("--filter", default="", metavar="REGEX", help="only rows whose call/type/2^exponent matches")
    options = parser.parse_args()

    times, device = read(options.csv)
    times = {
        key: row for key, row in times.items() if re.search(options.filter, f"{key[0]}/{key[1]}/{size(key[2])}")
    }
    if not times:
        sys.exit(f"{options.csv}: no such rows")
    print(f"{device}: median microseconds; times as long as ours; share of memcpy's speed\n")
    show(*cells_table(times), options.markdown, left=2)
    show(*means_table(times), options.markdown, left=1)


if __name__ == "__main__":
    main()
