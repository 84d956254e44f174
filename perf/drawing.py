# SPDX-License-Identifier: MIT
"""What the pictures have in common."""

import sys

try:
    import matplotlib
except ModuleNotFoundError:
    sys.exit(
        "no picture drawn: matplotlib is missing (on Debian and Ubuntu: "
        "apt-get install python3-matplotlib)"
    )

matplotlib.use("Agg")
import matplotlib.pyplot as pyplot

INK, FAINT = "#333333", "#b8b8b8"


def new_axes(title, subtitle, size=(10, 6), label="elements"):
    """One panel over numbers of elements."""
    figure, axes = pyplot.subplots(figsize=size, layout="constrained")
    axes.set_title(title, loc="left", fontsize=14, color=INK, pad=26)
    axes.annotate(subtitle, (0, 1), xycoords="axes fraction", xytext=(0, 10),
                  textcoords="offset points", fontsize=10, color="#666666")
    axes.set_xscale("log", base=2)
    axes.set_xlabel(label, color=INK)
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(which="both", colors=INK, length=0)
    return figure, axes


def label_lines(axes, ends, distance=15, fontsize=10):
    """Writes names at the ends of lines (x, y, name, colour), at least `distance` points apart."""
    points = 72 / axes.figure.dpi
    place = float("inf")
    for x, y, label, color in sorted(ends, key=lambda end: -end[1]):
        height = axes.transData.transform((x, y))[1] * points
        place = min(height, place - distance)
        axes.annotate(label, (x, y), xytext=(8, place - height), textcoords="offset points",
                      va="center", fontsize=fontsize, color="#777777" if color == FAINT else color,
                      annotation_clip=False)


def save(figure, axes, ends, path, **label):
    figure.canvas.draw()  # label_lines needs the final layout
    label_lines(axes, ends, **label)
    figure.savefig(path, dpi=150)
    pyplot.close(figure)
    print(path)
