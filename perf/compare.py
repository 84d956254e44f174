#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the comparison that this machine can run and prints its table; the build calls it."""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

import table

NO_DEVICE = 3  # perf::no_device
QUICK = "|".join([
    "^(in|ex)clusive_sum/[if]32/2.(10|16|20|24|28)/",
    "^(in|ex)clusive_sum/i(8|64)/2.28/",
    "^inclusive_sum_by_key_.*/2.(10|16|20|24|28)/",
    "^wall_inclusive_sum/i32/2.(10|16|20|24)/",
])
QUICK_HOST = "/[if]32/2.(4|8|14|18|22|26)/"
HERE = pathlib.Path(__file__).parent


def run(driver, csv, *flags):
    csv.unlink(missing_ok=True)
    return subprocess.run([driver, f"--csv={csv}", *flags]).returncode


def results_file(csv):
    """perf/results/h200.csv for "NVIDIA H200"."""
    _, device = table.read(csv)
    name = re.sub(r"[^a-z0-9]+", "_", device.lower().removeprefix("nvidia ")).strip("_")
    return HERE / "results" / f"{name}.csv"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", help="the host driver; left out where OpenMP or TBB is missing")
    parser.add_argument("--device", help="the GPU driver; left out where no CUDA compiler built it")
    parser.add_argument("--full", action="store_true", help="the whole GPU grid, kept in perf/results")
    parser.add_argument("--csv", type=pathlib.Path, required=True)
    options = parser.parse_args()

    sys.stdout.reconfigure(line_buffering=True)
    status = NO_DEVICE
    if options.device:
        flags = [] if options.full else [f"--benchmark_filter={QUICK}"]
        status = run(options.device, options.csv, *flags)
    if status == NO_DEVICE and not options.full and options.host:
        print("no CUDA device: comparing the host system, about half a minute")
        status = run(options.host, options.csv, f"--benchmark_filter={QUICK_HOST}")

    if options.csv.exists():
        if options.full and status == 0:
            kept = results_file(options.csv)
            kept.parent.mkdir(exist_ok=True)
            shutil.copyfile(options.csv, kept)
            print(f"kept as {kept}")
        subprocess.run([sys.executable, HERE / "table.py", options.csv], check=True)
        print(f"the rows: {options.csv}")
    sys.exit(status)


if __name__ == "__main__":
    main()
