#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Limits that keep a function on one screen.

    style.py lines DIRECTORY...       fails if a line is longer than 100 columns, or if the first is
                                      not the licence alone
    style.py functions DIRECTORY...   fails if a function is longer than 60 lines; needs lizard,
                                      a package of PyPI

Checked are the C++ and CUDA sources under the directories; each violation is named with its place.
"""
import pathlib
import sys

LONGEST_LINE, LONGEST_FUNCTION = 100, 60
LICENCE = "// SPDX-License-Identifier: MIT"


def sources(directories):
    for directory in directories:
        for path in sorted(pathlib.Path(directory).rglob("*")):
            if path.suffix in {".cuh", ".cu", ".hpp", ".cpp"}:
                yield path


def long_lines(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    if lines[:1] != [LICENCE]:
        yield f"{path}:1: the first line must be '{LICENCE}'"
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST_LINE:
            yield f"{path}:{number}: {len(line)} columns, at most {LONGEST_LINE}"


def long_functions(path):
    import lizard
    for function in lizard.analyze_file.analyze_source_code(
            f"{path.stem}.cpp", path.read_text(encoding="utf-8")).function_list:
        length = function.end_line - function.start_line + 1
        if length > LONGEST_FUNCTION:
            yield (f"{path}:{function.start_line}: {function.name} has {length} lines, "
                   f"at most {LONGEST_FUNCTION}")


def main(check, *directories):
    find = {"lines": long_lines, "functions": long_functions}[check]
    paths = list(sources(directories))
    if not paths:
        sys.exit(f"style.py: no sources under {', '.join(directories)}")
    violations = [violation for path in paths for violation in find(path)]
    print(*violations, f"{check}: {len(violations)} violations in {len(paths)} files", sep="\n")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
