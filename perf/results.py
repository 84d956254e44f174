#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes perf/RESULTS.md from the rows in perf/results and from nothing else."""

import argparse
import contextlib
import csv
import difflib
import io
import pathlib
import re
import sys

import ladder
import table
import targets

HERE = pathlib.Path(__file__).parent
RESULTS = HERE / "results"
PAGE = HERE / "RESULTS.md"
# README's rows, of 2^28 elements; the eighth is the worst cell of the file
README_ROWS = [("inclusive_sum", "i8"), ("inclusive_sum", "i32"), ("inclusive_sum", "f32"),
               ("inclusive_sum", "i64"), ("inclusive_max", "i32"), ("inclusive_affine", "f32x2"),
               ("inclusive_sum_by_key_7", "i32")]
OTHER_SCANS = "cub", "cub_new", "thrust"  # in their default modes
# The columns of the shares by bytes moved. A call is in the last one whose pattern matches.
CALL_GROUPS = {"aligned calls": "", "by key": "by_key", "misaligned": "misaligned",
               "iterators": "_(counting_transform|zip_transform|reverse|permutation)$",
               "structs of 12 bytes and more": "_bytes$",
               "offsets": "^offsets_", "segments": "^segmented_sum_", "lines of arrays": "^axis_sum_",
               "selections": "^(select|partition|unique|reduce_by_key|run_length_encode)_"}


def provenance():
    """Commit, machine and software of each CSV."""
    with open(RESULTS / "provenance.csv", newline="") as file:
        rows = {row["file"]: row for row in csv.DictReader(file)}
    for name, row in rows.items():
        if not re.fullmatch(r"[0-9a-f]{7,40}", row["commit"] or ""):
            sys.exit(
                f"provenance.csv: {name} has commit '{row['commit']}'; "
                "enter the one at which it was measured"
            )
    return rows


def show(head, body, left):
    table.show(head, body, True, left)


def heading(title, *files):
    print(f"## {title}\n")
    for file in files:
        source = provenance().get(file)
        if not source:
            sys.exit(f"provenance.csv: no row for {file}")
        print(
            f"[{file}](results/{file}), commit {source['commit']}, {source['machine']}, "
            f"{source['software']}\n"
        )


def scans_of(times):
    """The contenders to compare with: no copy, and none of lookback's own strategies."""
    return [
        name for name in table.contenders(times)
        if name != table.COPY and not name.startswith(table.OURS)
    ]


def grid_means(times, floor):
    """Geometric means over the grid of sums, also with a copy's or the floor's time for ours."""
    grid = {cell: dict(times[cell]) for cell in targets.GRID if cell in times}
    names = [name for name in scans_of(grid) if all(name in row for row in grid.values())]
    at_floor = {cell: dict(row) for cell, row in grid.items()}
    targets.put_at_floor(at_floor, floor)
    at_copy = {cell: {**row, table.OURS: row[table.COPY]} for cell, row in grid.items()}
    classes = [("all sizes", grid, 0, 99), ("up to 2^18", grid, 0, 18),
               ("2^20 to 2^22", grid, 20, 22), ("2^24 and more", grid, 24, 99),
               ("all sizes, if lookback took memcpy's time", at_copy, 0, 99),
               ("all sizes, if lookback took the floor's time", at_floor, 0, 99)]
    body = []
    for title, rows, first, last in classes:
        chosen = [row for (_, _, n), row in rows.items() if first <= n.bit_length() - 1 <= last]
        body.append([title, str(len(chosen))] + [
            table.figure(table.geometric_mean([table.ratio(row, name) for row in chosen]))
            for name in names
        ])
    return ["sums", "cells", *map(table.ratio_title, names)], body


def worst_cells(times):
    """By call and contender, the cell in which lookback is worst: the ratio and where."""
    names = scans_of(times) + [table.COPY]
    body = []
    for call, rows in table.calls(times).items():
        line = [call]
        for name in names:
            measured = [(table.ratio(row, name), kind, n) for (_, kind, n), row in rows.items()
                        if name in row]
            ratio, kind, n = min(measured, default=(None, "", 0))
            line.append(f"{ratio:.2f} ({kind}, {table.size(n)})" if measured else "")
        body.append(line)
    return ["call", *map(table.ratio_title, names)], body


def slower_cells(times):
    """The cells in which another scan takes less time than lookback."""
    body = [[
        name, "/".join((call, kind, table.size(n))),
        table.microseconds(row[table.OURS]),
        table.microseconds(row[name]),
        table.figure(table.ratio(row, name))
    ] for name in scans_of(times) for (call, kind, n), row in times.items()
            if name in row and row[name] < row[table.OURS]]
    return ["faster scan", "cell", "lookback", "faster scan's time",
            "ratio"], body or [["none", "", "", "", ""]]


def shares_by_bytes(times, moved):
    """The share of memcpy's speed by bytes read and written, for the groups that were measured."""
    shares = {}
    for cell, row in times.items():
        if table.COPY in row and not cell[0].startswith("wall_"):
            group = [name for name, calls in CALL_GROUPS.items() if re.search(calls, cell[0])][-1]
            shares.setdefault(group, {}).setdefault(moved[cell].bit_length() - 1,
                                                    []).append(table.ratio(row, table.COPY))

    def text(values):
        return " to ".join(
            dict.fromkeys(f"{end:.3f}" for end in (min(values), max(values)))) if values else ""

    def size(exponent):
        return f"{1 << exponent % 10} {['B', 'KiB', 'MiB', 'GiB'][exponent // 10]}"

    names = [name for name in CALL_GROUPS if name in shares]
    body = [[size(exponent), *(text(shares[name].get(exponent)) for name in names)]
            for exponent in sorted(set().union(*shares.values()))]
    return ["bytes moved, from", *names], body


def bytes_moved(path):
    with open(path, newline="") as file:
        return {(row["call"], row["type"], int(row["elements"])): int(row["bytes"])
                for row in csv.DictReader(file)}


def subsection(title, head, body, left):
    print(f"### {title}\n")
    show(head, body, left)


def beside(file, suffix):
    """The kept rows that another program has measured in the same cells, if there are any."""
    path = RESULTS / f"{pathlib.Path(file).stem}{suffix}"
    return [path] if path.exists() else []


def comparison(title, file):
    torch = beside(file, "_torch.csv")
    heading(title, file, *(path.name for path in torch))
    times, _ = table.read(RESULTS / file, *torch)
    subsection("Geometric means by call", *table.means_table(times), left=1)
    subsection("Worst cell of each call", *worst_cells(times), left=1)
    subsection("Cells in which another scan is faster", *slower_cells(times), left=2)
    return times


def all_cells(times):
    print("### All cells\n")
    table.show_cells(times, True)


def judged(title, outcomes):
    head, body = targets.outcomes_table(outcomes)
    reached = sum(outcome.verdict() == "reached" for outcome in outcomes)
    subsection(title, head,
               body + [["all", "", "", "", "", "", f"{reached} of {len(outcomes)} reached"]],
               left=len(head))


def gpu_section(title, file, floor):
    """The comparison, and what a scan would reach whose time is that of the rows of `floor`."""
    times = comparison(title, file)
    print("The floor was measured on another H200, whose launches take about 1.5 us less.\n")
    subsection("Geometric means over the grid of sums", *grid_means(times, floor), left=1)
    subsection("Share of memcpy's speed by bytes read and written",
               *shares_by_bytes(times, bytes_moved(RESULTS / file)), left=1)
    judged("Targets", targets.judge(times))
    judged("Targets, if sums took the floor's time", targets.judge(times, floor))
    for picture in beside(file, "_segments.png"):
        print(f"### Segmented sums\n\n![Speed of segmented sums as a share of memcpy's, lookback and "
              f"CUB, by the length of the segments](results/{picture.name})\n")
    all_cells(times)


def floor_section(file):
    heading("The floor", file)
    times, _ = table.read(RESULTS / file)
    names = table.contenders(times)
    agreements = [name for name in names if name.startswith(targets.AGREEMENT)]
    body = []
    for (call, kind, n), row in times.items():
        floor = min(row[name] for name in agreements if name in row)
        body.append([
            call, kind,
            table.size(n), *(table.microseconds(row.get(name)) for name in names),
            table.figure(row[table.OURS] / floor),
            table.figure(floor / row[table.COPY])
        ])
    show(["call", "type", "elements", *names, "lookback/agreement", "agreement/memcpy"], body,
         left=2)


def ladder_section(file):
    heading("The ladder", file)
    speeds, _ = ladder.read(RESULTS / file)
    show(*ladder.ladder_table(speeds, True), left=4)
    pictures = [("throughput by elements", "throughput"),
                ("share of the peak bandwidth by elements", "share"),
                ("scan_then_add over the block scans", "networks"),
                ("decoupled_look_back by threads and items", "block_sizes")]
    stem = pathlib.Path(file).stem
    show(["picture", "file"], [[title, f"[{stem}_{name}.png](results/{stem}_{name}.png)"]
                               for title, name in pictures], left=2)


def older_section(file):
    """Sums of 2^20, 2^24 and 2^28 elements by each architecture's code."""
    heading("Code for older architectures", file)
    print("Code for compute_80 has the 163 KiB of shared memory that a block has on sm_80, and code\n"
          "for compute_86 the 99 of sm_86; both ran on the H200, and CUB's is compiled the same way.\n")
    times = {}
    with open(RESULTS / file, newline="") as rows:
        for row in csv.DictReader(rows):
            code = re.search(r"compute_\d+", row["gpu"]).group()
            key = code, row["call"], row["type"], int(row["elements"])
            times.setdefault(key, {})[row["contender"]] = float(row["us_median"])
    body = [[
        code, call, kind,
        table.size(n), table.microseconds(row[table.OURS]),
        *(f"{table.microseconds(row[name])} ({row[name] / row[table.OURS]:.2f})"
          for name in ("cub", table.COPY))
    ] for (code, call, kind, n), row in times.items() if n in (1 << 20, 1 << 24, 1 << 28)]
    show(["code", "call", "type", "elements", table.OURS, "cub", table.COPY], body, left=3)
    outcomes = []
    for code in dict.fromkeys(key[0] for key in times):
        own = {key[1:]: row for key, row in times.items() if key[0] == code}
        outcomes += [targets.Outcome(target, own) for target in targets.older_targets(code)]
    judged("Targets of code for older architectures", outcomes)


def accuracy_section(file):
    heading("Accuracy", file)
    with open(RESULTS / file, newline="") as rows:
        body = [list(row.values()) for row in csv.DictReader(rows)]
    show([
        "f32 inclusive sum, 2^28 uniform values", "largest relative error", "largest error",
        "most elements that differ from the first of 20 runs"
    ], body, left=1)


def other_section(file):
    heading("Single figures")
    print(f"[{file}](results/{file})\n")
    with open(RESULTS / file, newline="") as rows:
        read = csv.DictReader(rows)
        show(read.fieldnames, [list(row.values()) for row in read], left=4)


def page():
    with contextlib.redirect_stdout(io.StringIO()) as text:
        print(
            "# Results\n\n"
            "Written by `cmake --build --preset all --target results` from the rows in\n"
            "[results](results); do not edit. [README.md](README.md) says how they are measured.\n"
            "Times are medians in microseconds. A parenthesis holds the contender's time over\n"
            "lookback's; for memcpy, that is the share of its speed that lookback reaches.\n"
        )
        show(["rows", "commit", "machine", "software"],
             [[f"[{name}](results/{name})", row["commit"], row["machine"], row["software"]]
              for name, row in provenance().items()], left=4)
        gpu_section("The comparison on an H200", "h200.csv", RESULTS / "h200_floor.csv")
        floor_section("h200_floor.csv")
        older_section("h200_compute_80.csv")
        ladder_section("h200_ladder.csv")
        accuracy_section("h200_accuracy.csv")
        all_cells(comparison("The comparison on the CPU", "xeon_2_cores.csv"))
        other_section("other_figures.csv")
    return text.getvalue().rstrip() + "\n"


def readme_table(file):
    """Eight rows for README: seven of 2^28 elements, and the cell in which lookback is worst."""
    times, _ = table.read(RESULTS / file)
    source = provenance()[file]

    def fastest(row):
        return min((row[name] for name in OTHER_SCANS if name in row), default=None)

    compared = {key: fastest(row) / row[table.OURS] for key, row in times.items() if fastest(row)}
    keys = [(call, kind, 1 << 28) for call, kind in README_ROWS] + [min(compared, key=compared.get)]
    names = [table.OURS, "cub", table.COPY]
    body = [[
        call, kind,
        table.size(n), *(table.microseconds(times[call, kind, n].get(name)) for name in names),
        table.figure(compared[call, kind, n]),
        table.figure(times[call, kind, n][table.COPY] / times[call, kind, n][table.OURS])
    ] for call, kind, n in keys]
    show(["call", "type", "elements", *names, "speedup", "of memcpy"], body, left=2)
    print(
        f"Median microseconds, {source['machine']}, {source['software']}, "
        f"commit {source['commit']}. The speedup is over the faster of CUB and Thrust; "
        "the last row is the least of all.")


def check(text):
    """Exits with 1 where PAGE is not `text`."""
    now = PAGE.read_text() if PAGE.exists() else ""
    if now == text:
        return
    sys.stdout.writelines(
        list(
            difflib.unified_diff(now.splitlines(True), text.splitlines(True), "RESULTS.md",
                                 "from the rows"))[:40])
    sys.exit(
        "perf/RESULTS.md differs from the rows in perf/results: run "
        "`cmake --build --preset all --target results`"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true",
                        help="write nothing; exit with 1 if perf/RESULTS.md is out of date")
    parser.add_argument("--readme", action="store_true",
                        help="write nothing; print the eight rows for README.md")
    options = parser.parse_args()
    if options.readme:
        readme_table("h200.csv")
    elif options.check:
        check(page())
    else:
        PAGE.write_text(page())
        print(PAGE)


if __name__ == "__main__":
    main()
