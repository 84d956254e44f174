#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the rows of a comparison as tables, and the geometric means of each call."""

import argparse
import csv
import math
import pathlib
import re
import subprocess
import sys

OURS = "lookback"
COPY = "memcpy"


def read(*paths):
    """Median microseconds by (call, type, elements) and contender, and the device's name."""
    times, devices = {}, set()
    for path in paths:
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                key = row["call"], row["type"], int(row["elements"])
                times.setdefault(key, {})[row["contender"]] = float(row["us_median"])
                devices.add(row["gpu"])
    return times, ", ".join(sorted(devices))


def contenders(times):
    """lookback first, memcpy last, the others in the order of the file."""
    seen = list(dict.fromkeys(name for row in times.values() for name in row))
    between = [name for name in seen if name not in (OURS, COPY)]
    return [OURS] * (OURS in seen) + between + [COPY] * (COPY in seen)


def size(elements):
    exponent = elements.bit_length() - 1
    return f"2^{exponent}" if elements == 1 << exponent else str(elements)


def microseconds(value):
    digits = 4 if value is None or value < 0.1 else 2 if value < 100 else 1
    return "" if value is None else f"{value:.{digits}f}"


def ratio(row, name):
    """A contender's time over lookback's; for memcpy, the share of its speed that we reach."""
    return row[name] / row[OURS] if name in row and OURS in row else None


def ratio_title(name):
    return "of memcpy" if name == COPY else f"{name}/lookback"


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def figure(value):
    return "" if value is None else f"{value:.2f}"


def with_ratio(row, name):
    """"6.43 (1.62)": microseconds and the ratio to ours."""
    value = ratio(row, name)
    return microseconds(
        row.get(name)) + (f" ({figure(value)})" if value is not None and name != OURS else "")


def cells_table(times):
    names = contenders(times)
    body = [[call, kind, size(n), *(with_ratio(row, name) for name in names)]
            for (call, kind, n), row in times.items()]
    return ["call", "type", "elements", *names], body


def calls(times):
    """The rows by call."""
    return {
        call: {key: row for key, row in times.items() if key[0] == call} for call, _, _ in times
    }


def show_cells(times, markdown):
    """A table for all calls with the same contenders, so that no column is empty."""
    tables = {}
    for rows in calls(times).values():
        tables.setdefault(tuple(contenders(rows)), {}).update(rows)
    for rows in tables.values():
        show(*cells_table(rows), markdown, left=2)


def means_table(times):
    names = contenders(times)[1:]
    head = ["geometric mean", *map(ratio_title, names)]
    groups = [(call, list(rows.values()))
              for call, rows in calls(times).items()] + [("all", list(times.values()))]
    body = [
        [title] +
        [figure(geometric_mean([r for row in rows if (r := ratio(row, name))])) for name in names]
        for title, rows in groups
    ]
    return head, body


def show(head, body, markdown, left):
    """Prints a table; the first `left` columns are words, aligned left, the others figures."""
    widths = [max(len(line[i]) for line in [head, *body]) for i in range(len(head))]
    separator, edge = (" | ", "|") if markdown else ("  ", "")
    for number, line in enumerate([head, *body]):
        padded = [
            text.ljust(w) if i < left else text.rjust(w)
            for i, (text, w) in enumerate(zip(line, widths))
        ]
        print(f"{edge} {separator.join(padded)} {edge}".strip() if markdown else separator.
              join(padded).rstrip())
        if number == 0:
            rule = ["-" * w if i < left else "-" * (w - 1) + ":" for i, w in enumerate(widths)]
            print(f"{edge} {separator.join(rule)} {edge}" if markdown else separator.join(
                "-" * w for w in widths))
    print()


def draw(script, csv):
    """Runs a drawing script. Pictures are optional: without matplotlib it only says so."""
    subprocess.run([sys.executable, pathlib.Path(__file__).with_name(script), csv], check=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("csv", help="rows of a driver: --csv=FILE")
    parser.add_argument("--markdown", action="store_true", help="print Markdown tables")
    parser.add_argument("--filter", default="", metavar="REGEX",
                        help="only rows whose call/type/2^exponent matches")
    options = parser.parse_args()

    times, device = read(options.csv)
    times = {
        key: row for key, row in times.items()
        if re.search(options.filter, f"{key[0]}/{key[1]}/{size(key[2])}")
    }
    if not times:
        sys.exit(f"{options.csv}: no row matches '{options.filter}'")
    print(
        f"{device}: median microseconds. In parentheses, time over lookback's; for memcpy, the\n"
        "share of its speed that lookback reaches\n")
    show_cells(times, options.markdown)
    show(*means_table(times), options.markdown, left=1)


if __name__ == "__main__":
    main()
