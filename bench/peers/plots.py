"""Plots of a run, one a family: bars of ratios, and curves of what grows with a size."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl

from bench.peers.figures import Figure
from bench.peers.results import OURS, Results, ratio
from bench.peers.rounds import Measured
from bench.peers.rows import Row

mpl.use("svg")
# What a picture is called inside would otherwise differ from run to run.
mpl.rcParams["svg.hashsalt"] = "snakka"
mpl.rcParams["svg.fonttype"] = "none"  # text stays text, a tenth of the size

from matplotlib import pyplot as plt  # noqa: E402

_BAR_INCHES: Final = 0.22
_WIDTH_INCHES: Final = 8.5

Measurements = Sequence[tuple[Row, Measured]]


def draw(results: Results, family: str, rows: Measurements, directory: Path) -> Path:
    """The picture of one family."""
    path = directory / f"{family.replace(', ', '-').replace(' ', '-')}.svg"
    figure = _curves(results, rows) if rows[0][0].at is not None else _bars(results, rows)
    figure.suptitle(family)
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    return path


def _bars(results: Results, rows: Measurements) -> Any:
    """Ratios on a scale on which twice as much is as far from even as half as much."""
    lines = [(row, each, measured) for row, measured in rows for each in row.figures]
    others = results.others()
    height = 1 + _BAR_INCHES * len(lines) * (len(others) + 1)
    figure, axes = plt.subplots(figsize=(_WIDTH_INCHES, height))
    for index, peer in enumerate(others):
        found = [ratio(measured, each, peer) for _, each, measured in lines]
        places = [at - index / (len(others) + 1) for at, each in enumerate(found) if each]
        told = [each for each in found if each]
        low = [each.median - each.least for each in told]
        high = [each.most - each.median for each in told]
        axes.errorbar(
            [each.median for each in told], places, xerr=(low, high), fmt="o", label=f"/ {peer}"
        )
    axes.set_xscale("log")
    axes.axvline(1, color="gray", linewidth=1)
    axes.set_yticks(range(len(lines)), [_label(row, each) for row, each, _ in lines], fontsize=7)
    axes.set_xlabel("Snakka's figure divided by the other's; in brackets which way is better")
    axes.legend()
    return figure


def _label(row: Row, each: Figure) -> str:
    return f"{row.name}: {each.unit} ({'more' if each.more_is_better else 'less'})"


def _curves(results: Results, rows: Measurements) -> Any:
    """Each figure of the family against the size that its rows are at."""
    kinds = rows[0][0].figures
    across = min(3, len(kinds))
    down = math.ceil(len(kinds) / across)
    figure, grid = plt.subplots(
        down, across, figsize=(_WIDTH_INCHES, 2.6 * down), squeeze=False, layout="constrained"
    )
    for axes, kind in zip(grid.flat, kinds, strict=False):
        for peer in (OURS, *results.others()):
            points = [(row.at, measured.median(peer, kind.key)) for row, measured in rows]
            known = [(at, value) for at, value in points if value is not None]
            if known:
                axes.plot(*zip(*known, strict=True), marker="o", label=peer)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_title(kind.unit, fontsize=8)
    for axes in list(grid.flat)[len(kinds) :]:
        axes.set_visible(False)
    grid.flat[0].legend(fontsize=7)
    return figure
