#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the comparison that fits this machine, prints its table and draws its picture."""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

import table

NO_DEVICE = 3  # perf::no_device
QUICK = "|".join([
    "^(in|ex)clusive_sum/[if]32/2.(10|16|20|24|28)/", "^(in|ex)clusive_sum/i(8|64)/2.28/",
    "^inclusive_sum_by_key_.*/2.(10|16|20|24|28)/", "^wall_inclusive_sum/i32/2.(10|16|20|24)/",
    "^select_if_50/i32/2.(10|16|20|24|28)/",
])
QUICK_HOST = "/[if]32/2.(4|8|14|18|22|26)/"
HERE = pathlib.Path(__file__).parent


def run(driver, csv, *flags):
    csv.unlink(missing_ok=True)
    return subprocess.run([driver, f"--csv={csv}", *flags]).returncode


def results_file(csv, suffix=""):
    """perf/results/h200.csv for "NVIDIA H200", and for "NVIDIA H200 (code for compute_80)"."""
    device = table.read(csv)[1].split(" (")[0]
    name = re.sub(r"[^a-z0-9]+", "_", device.lower().removeprefix("nvidia ")).strip("_")
    return HERE / "results" / f"{name}{suffix}.csv"


def keep(csv):
    """Copies the rows and their picture to perf/results."""
    kept = results_file(csv)
    kept.parent.mkdir(exist_ok=True)
    shutil.copyfile(csv, kept)
    table.draw("plot.py", kept)
    print(
        f"kept as {kept}; enter the commit in {kept.with_name('provenance.csv')}, "
        "then build the target results"
    )


def compare_older(drivers, csv):
    """Keeps the rows of all drivers, which differ in the architecture of their code, in one file."""
    rows = []
    for driver in drivers:
        status = run(driver, csv)
        if status:
            sys.exit(status)
        header, *own = csv.read_text().splitlines(keepends=True)
        rows += own
    csv.write_text("".join([header, *rows]))
    kept = results_file(csv, "_compute_80")
    shutil.copyfile(csv, kept)
    print(f"kept as {kept}; enter the commit in {kept.with_name('provenance.csv')}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host",
                        help="the host's driver; leave out where OpenMP or TBB is missing")
    parser.add_argument("--device", help="the GPU's driver; leave out without a CUDA compiler")
    parser.add_argument("--full", action="store_true",
                        help="run the whole GPU grid and keep its rows in perf/results")
    parser.add_argument("--older", nargs="+",
                        help="drivers with code for older architectures: run only these")
    parser.add_argument("--csv", type=pathlib.Path, required=True,
                        help="the file to write the rows to")
    options = parser.parse_args()

    sys.stdout.reconfigure(line_buffering=True)
    if options.older:
        return compare_older(options.older, options.csv)
    status = NO_DEVICE
    if options.device:
        flags = [] if options.full else [f"--benchmark_filter={QUICK}"]
        status = run(options.device, options.csv, *flags)
    if status == NO_DEVICE and not options.full:
        if options.host:
            print("no GPU: comparing lookback::host on the CPU, about half a minute")
            status = run(options.host, options.csv, f"--benchmark_filter={QUICK_HOST}")
        else:
            print(
                "nothing to compare: no CUDA device, and the host's driver was not built, since "
                "OpenMP or TBB is missing "
                "(on Debian and Ubuntu: apt-get install libtbb-dev)")

    if options.csv.exists():
        subprocess.run([sys.executable, HERE / "table.py", options.csv], check=True)
        if options.full and status == 0:
            keep(options.csv)
        else:
            table.draw("plot.py", options.csv)
        print(f"rows: {options.csv}")
    sys.exit(status)


if __name__ == "__main__":
    main()
