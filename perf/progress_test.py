#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a driver on a terminal and without one: only a terminal shows progress."""

import os
import pty
import subprocess
import sys
import unittest

DRIVER = sys.argv.pop()


def command(exponent):
    return [DRIVER, f"--benchmark_filter=inclusive_sum/i32/2.{exponent}/", "--csv=/dev/null"]


class Progress(unittest.TestCase):
    def test_on_a_terminal(self):
        ours, theirs = pty.openpty()
        driver = subprocess.Popen(command(22), stderr=theirs)
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 4096):
                shown += part
        except OSError:  # Linux's end of file, once the driver has closed its side
            pass
        self.assertEqual(driver.wait(), 0)
        # 6 contenders, 5 repetitions each
        self.assertIn(b"0 of 30, 0:00 elapsed", shown)
        self.assertRegex(shown, rb"\] \d+ of 30, 0:\d\d elapsed, 0:\d\d left +\r")
        self.assertTrue(shown.endswith(b" \r"), shown[-80:])  # the line is empty at the end

    def test_without_a_terminal(self):
        done = subprocess.run(command(14), stderr=subprocess.PIPE, check=True)
        self.assertNotIn(b"elapsed", done.stderr)


if __name__ == "__main__":
    unittest.main()
