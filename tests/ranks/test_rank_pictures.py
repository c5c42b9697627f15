"""Pictures of rank calibration, and its section of a report."""

from __future__ import annotations

import json

import numpy as np
import pytest

from calibrant import rank_calibration

mpl = pytest.importorskip("matplotlib")
mpl.use("Agg")

N, M = 1500, 19


@pytest.fixture(scope="module")
def one():
    rng = np.random.default_rng(0)
    return rank_calibration(rng.binomial(M, rng.beta(0.7, 0.7, N)), M, n_bins=7)


@pytest.fixture(scope="module")
def several():
    rng = np.random.default_rng(1)
    ranks = rng.integers(0, M + 1, (N, 9))
    ranks[:, 3] = rng.binomial(M, rng.beta(1.3, 1.3, N))
    return rank_calibration(ranks, M, names=[*"abc", "$d$", *"efghi"])


@pytest.fixture(autouse=True)
def closed():
    yield
    from matplotlib import pyplot as plt

    plt.close("all")


def test_ecdf_display(one):
    display = one.plot()
    x, y = display.lines_[0].get_data()
    np.testing.assert_array_equal(x, [0, *one.ecdf.t, 1])
    np.testing.assert_array_equal(y, [0, *one.ecdf.differences, 0])
    corners = display.band_.get_paths()[0].vertices
    assert corners[:, 1].max() == one.ecdf.high.max()
    assert corners[:, 1].min() == one.ecdf.low.min()
    for line, bound in zip(
        display.pointwise_, (one.ecdf.pointwise_low, one.ecdf.pointwise_high), strict=True
    ):
        np.testing.assert_array_equal(line.get_ydata()[1:-1], bound)
    assert display.ax_.get_title("right").startswith("n = 1,500, 19 draws, p = ")
    assert not any(line.get_visible() for line in one.plot(pointwise=False).pointwise_)


def test_histogram_display(one):
    display = one.plot(picture="histogram")
    heights = [bar.get_height() for bar in display.bars_]
    np.testing.assert_allclose(heights, one.histogram.counts / one.histogram.expected)
    widths = [bar.get_width() * (M + 1) for bar in display.bars_]
    np.testing.assert_allclose(widths, np.diff(one.histogram.edges))  # unequal: 20 ranks in 7 bins
    values, edges, baseline = display.band_.get_data()
    np.testing.assert_allclose(values, one.histogram.high / one.histogram.expected)
    np.testing.assert_allclose(baseline, one.histogram.low / one.histogram.expected)
    np.testing.assert_allclose(edges, one.histogram.edges / (M + 1))


def test_coverage_display(one):
    display = one.plot(picture="coverage", name="mine")
    x, y = display.lines_[0].get_data()
    np.testing.assert_array_equal(x[1:-1], one.coverage.levels)
    np.testing.assert_array_equal(y[1:-1], one.coverage.coverage)
    assert len(display.intervals_) == 1
    assert display.ax_.get_title("right").startswith("mine: ")


def test_of_many_dimensions_the_worst_are_named(several):
    display = several.plot()
    assert len(display.lines_) == 9
    names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "$d$" in names
    assert len(names) == 6 + 2
    assert several.plot(picture="coverage").intervals_ == []
    title = several.plot(picture="histogram", dimension=3).ax_.get_title("right")
    assert title.startswith("$d$: n = 1,500, 19 draws, chi-square p = ")


def test_unknown_picture(one):
    with pytest.raises(ValueError, match="picture must be 'ecdf', 'histogram' or 'coverage'"):
        one.plot(picture="pie")


@pytest.mark.parametrize("which", ["one", "several"])
def test_section_of_a_report(which, request):
    pytest.importorskip("jinja2")
    from calibrant.report._definitions import DEFINITIONS
    from calibrant.report._rank_section import rank_section
    from calibrant.report._svg import inline_svg

    found = request.getfixturevalue(which)
    section = rank_section(found)
    worst = min(found.dimensions, key=lambda d: d.gamma_test.pvalue)
    numbers = {number.name: number for number in section.numbers}
    said = numbers["rank_verdict"]
    assert f"{said.value}: {said.explanation}" == found.verdict  # a word, and what it means
    assert numbers["rank_pvalue"].value == found.pvalue
    assert numbers["rank_bias"].value == worst.histogram.bias.statistic
    assert section.tables[0].rows[0][0] == worst.name
    assert len(section.tables[0].rows) == len(found.dimensions)
    assert {number.definition for number in section.numbers} | set(section.terms) <= set(
        DEFINITIONS
    )
    names = [figure.name for figure in section.figures]
    assert len(set(names)) == len(names) == 2 + min(3, len(found.dimensions))
    for figure in section.figures:
        assert inline_svg(figure).startswith("<svg")
    json.dumps(section.to_dict())
