#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""style.py itself: passes what is within its limits, and names what is one line or column beyond.

    style_test.py lines|functions
"""
import contextlib
import io
import pathlib
import sys
import tempfile

import style


def function(lines):
    return "template <class T>\nT f(T x) {\n" + "  x = x + 1;\n" * (lines - 2) + "  return x; }\n"


def checked(check, text):
    with tempfile.TemporaryDirectory() as directory:
        (pathlib.Path(directory) / "header.cuh").write_text(f"{style.LICENCE}\n{text}", encoding="utf-8")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            status = style.main(check, directory)
        return status, printed.getvalue()


def expect(condition, what):
    if not condition:
        sys.exit(f"style_test.py: {what}")


check = sys.argv[1]
within, beyond, named = {
    "lines": ("// " + "x" * 97 + "\n", "\n// " + "x" * 98 + "\n", "header.cuh:3: 101 columns"),
    "functions": (function(60), function(61), "f has 61 lines"),
}[check]
status, printed = checked(check, within)
expect(status == 0, f"refused what is within the limit: {printed}")
status, printed = checked(check, beyond)
expect(status == 1 and named in printed, f"expected '{named}', got {status}: {printed}")
