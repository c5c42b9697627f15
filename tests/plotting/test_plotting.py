"""Displays: what is drawn are the numbers of the result, and where it was asked for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binomtest

import calibrant
import calibrant.intervals
from calibrant import plotting, streaming
from calibrant.calibration._verdict import pvalue_text
from calibrant.plotting._cumulative import largest_excursion
from calibrant.plotting._groups import by_worst
from calibrant.plotting._reliability import consistency_margin, wilson_interval

mpl = pytest.importorskip("matplotlib")


@pytest.fixture(autouse=True)
def pyplot():
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    plt.close("all")  # what examples in docstrings have left
    yield plt
    plt.close("all")


def rows(n=4000, boldness=1.6, seed=5):
    rng = np.random.default_rng(seed)
    evidence = rng.normal(0, 2, n)
    y = rng.random(n) < 1 / (1 + np.exp(-evidence))
    return y.astype(int), 1 / (1 + np.exp(-boldness * evidence))


def table_of(y, p):
    table = streaming.ScoreTable()
    table.update(y, p)
    return table


Y, P = rows()
GROUPS = np.array(["north", "south", "$\\frac", "_x"])[np.arange(len(Y)) % 4]
SCALE = np.random.default_rng(6).gamma(2, 1, 4000)
Y_REAL = np.random.default_rng(7).normal(0, SCALE)
RANKS = np.random.default_rng(8).binomial(99, P)
BOUNDS = np.stack([np.stack([-q * SCALE, q * SCALE], 1) for q in (0.6, 1.7)], 2)
RESULTS = {
    "assessment": lambda: calibrant.assess(Y, P),
    "assessment per class": lambda: calibrant.assess(Y, P, n_bins=20, per_class=True),
    "assessment of a table": lambda: table_of(Y, P).assess(),
    "reliability": lambda: calibrant.reliability_bins(Y, P),
    "reliability of a table": lambda: table_of(Y, P).reliability_bins(),
    "cumulative": lambda: calibrant.cumulative_differences(Y, P),
    "cumulative of a table": lambda: table_of(Y, P).cumulative_differences(max_points=100),
    "roc": lambda: calibrant.roc_curve(Y, P),
    "roc of a table": lambda: table_of(Y, P).roc_curve(max_points=100),
    "spectrum": lambda: calibrant.mean_spectrum(np.where(Y, P, 1 - P)),
    "samples": lambda: calibrant.compare_samples(
        BOUNDS[:, :, 0], BOUNDS[:50, :, 1], n_permutations=19
    ),
    "vendi profile": lambda: calibrant.vendi_profile(BOUNDS.reshape(len(Y), -1)),
    "groups": lambda: calibrant.scorecard(Y, P, groups=GROUPS),
    "intervals": lambda: calibrant.intervals.interval_summary(
        Y_REAL, BOUNDS, confidence_level=[0.5, 0.9]
    ),
    "sizes": lambda: (
        calibrant.intervals.interval_summary(Y_REAL, BOUNDS, confidence_level=[0.5, 0.9])[
            1
        ].by_width
    ),
    "ranks": lambda: calibrant.rank_calibration(RANKS, 99),
    "ranks of dimensions": lambda: calibrant.rank_calibration(np.stack([RANKS, 99 - RANKS], 1), 99),
    "sets": lambda: calibrant.set_summary(Y, np.stack([P < 0.6, P > 0.3], 1)),
    "murphy": lambda: calibrant.brier_decomposition(Y, P),
    "corp": lambda: calibrant.brier_decomposition(Y, P, method="corp"),
    "mmd": lambda: calibrant.mmd_test(Y_REAL, SCALE, bandwidth=1.0, n_permutations=50),
    "linear mmd": lambda: calibrant.mmd_test(Y_REAL, SCALE, bandwidth=1.0, estimator="linear"),
}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("kind", RESULTS)
def test_every_result_is_drawn_where_it_is_told(pyplot, kind, theme):
    with plotting.style(theme):
        figure, ax = pyplot.subplots(layout="constrained")
    display = RESULTS[kind]().plot(ax, name="a $ model")
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert pyplot.get_fignums() == [figure.number]
    figure.canvas.draw()


@pytest.mark.parametrize("kind", RESULTS)
def test_every_result_makes_a_figure(pyplot, kind):
    display = RESULTS[kind]().plot()
    assert isinstance(display, plotting.Display)
    assert pyplot.get_fignums() == [display.figure_.number]
    assert display.ax_ in display.figure_.axes
    display.figure_.canvas.draw()
    with pytest.raises(TypeError, match="unknown"):
        RESULTS[kind]().plot(unknown=1)


@pytest.mark.parametrize("kind", [kind for kind in RESULTS if kind not in ("groups", "sizes")])
def test_the_number_of_rows_is_shown(kind):
    title = RESULTS[kind]().plot().ax_.get_title(loc="right")
    histogram = RESULTS[kind]().plot()
    above = getattr(histogram, "histogram_ax_", None)
    assert "n = 4,000" in (title if above is None else above.get_title(loc="right"))


def test_style_is_left_as_it_was():
    before = dict(mpl.rcParams)
    with plotting.style("dark") as palette:
        assert mpl.rcParams["axes.facecolor"] == palette.background
    RESULTS["roc"]().plot()
    assert dict(mpl.rcParams) == before
    with pytest.raises(ValueError, match="theme must be 'light' or 'dark', got 'grey'"):
        plotting.style("grey").__enter__()


def test_palettes_are_clear():
    for palette in plotting.PALETTES.values():
        colours = palette.to_dict().values()
        assert len(set(colours)) == len(colours)
        assert all(c == c.lower() and len(c) == 7 for c in colours)


def luminance(colour):
    """As the guidelines for contrast on the web have it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_contrast(theme):
    palette = plotting.PALETTES[theme]
    assert contrast(palette.text, palette.background) > 7
    assert contrast(palette.muted, palette.background) > 4.5
    assert contrast(palette.first, palette.background) > 3
    assert contrast(palette.second, palette.background) > 3


# The artists' numbers


def test_reliability_points_are_the_bins():
    bins = calibrant.reliability_bins(Y, P, n_bins=[0, 0.1, 0.1, 0.45, 0.55, 0.5500001, 1])
    display = bins.plot(level=0.9)
    used = bins.counts > 0
    assert not used.all()
    assert np.array_equal(display.line_.get_xdata(), bins.mean_scores[used])
    assert np.array_equal(display.line_.get_ydata(), bins.frequencies[used])
    low, high = wilson_interval(bins.frequencies[used], bins.weights[used], 0.9)
    missed = (bins.mean_scores[used] < low) | (bins.mean_scores[used] > high)
    assert missed.any()
    assert not missed.all()
    assert np.array_equal(display.outside_.get_xdata(), bins.mean_scores[used][missed])
    widths = np.diff(bins.edges)
    heights = [bar.get_height() for bar in display.bars_]
    assert heights == [w / d for w, d in zip(bins.weights, widths, strict=True) if d > 0]


def test_band_is_where_it_should_be():
    bins = calibrant.reliability_bins(Y, P, n_bins=1)
    vertices = bins.plot().band_.get_paths()[0].vertices
    middle = vertices[np.isclose(vertices[:, 0], 0.5)]
    half = 1.959963984540054 * math.sqrt(0.25 / len(Y))
    assert sorted(middle[:, 1]) == pytest.approx([0.5 - half, 0.5 + half])


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_band_and_wilson_are_one_test(level):
    rng = np.random.default_rng(1)
    score, frequency = rng.random((2, 500))
    n = rng.integers(1, 100, 500).astype(float)
    low, high = wilson_interval(frequency, n, level)
    outside = np.abs(frequency - score) > consistency_margin(score, n, level)
    assert np.array_equal(outside, (score < low) | (score > high))
    assert outside.any()


def test_wilson_is_that_of_scipy():
    low, high = wilson_interval(np.array([Y.mean()]), np.array([float(len(Y))]), 0.95)
    expected = binomtest(int(Y.sum()), len(Y)).proportion_ci(method="wilson")
    assert (low[0], high[0]) == pytest.approx((expected.low, expected.high), rel=1e-12)


def test_wilson_bars():
    bins = calibrant.reliability_bins(Y[:300], P[:300], n_bins=10)
    display = bins.plot(uncertainty="wilson")
    segments = display.band_.lines[2][0].get_segments()
    low, high = wilson_interval(bins.frequencies, bins.weights, 0.95)
    assert [s[0][1] for s in segments] == pytest.approx(low, abs=1e-15)
    assert [s[1][1] for s in segments] == pytest.approx(high, abs=1e-15)
    assert bins.plot(uncertainty=None).band_ is None
    assert bins.plot(histogram=False).histogram_ax_ is None
    with pytest.raises(ValueError, match="uncertainty must be 'consistency', 'wilson' or None"):
        bins.plot(uncertainty="bootstrap")
    with pytest.raises(ValueError, match="level must lie strictly between 0 and 1, got 1"):
        bins.plot(level=1)


def test_cumulative_differences():
    curve = calibrant.cumulative_differences(Y, P)
    display = curve.plot(level=0.9)
    assert np.array_equal(display.line_.get_xdata(), curve.fractions)
    assert np.array_equal(display.line_.get_ydata(), curve.differences)
    assert display.ks_pvalue_ == pytest.approx(calibrant.ks_test(Y, P).pvalue, rel=1e-9)
    assert display.kuiper_pvalue_ == pytest.approx(calibrant.kuiper_test(Y, P).pvalue, rel=1e-9)
    reach = largest_excursion(0.9) * curve.sigma
    heights = display.band_.get_path().vertices[:, 1]
    extent = display.band_.get_extents().transformed(display.ax_.transData.inverted())
    assert heights is not None
    assert (extent.y0, extent.y1) == pytest.approx((-reach, reach))
    assert list(display.extremes_.get_ydata()) == [
        curve.differences.max(),
        curve.differences.min(),
    ]


@pytest.mark.parametrize("level", [0.1, 0.5, 0.95, 0.9999])
def test_largest_excursion_is_a_quantile(level):
    assert calibrant.brownian_sup_sf(largest_excursion(level)) == pytest.approx(1 - level)


@pytest.mark.parametrize(
    ("y", "p", "pvalue"), [([0, 1], [0.0, 1.0], 1.0), ([1, 0], [0.0, 1.0], 0.0)]
)
def test_certain_scores(y, p, pvalue):
    display = calibrant.cumulative_differences(y, p).plot()
    assert display.ks_pvalue_ == calibrant.ks_test(y, p).pvalue == pvalue
    display.figure_.canvas.draw()


def test_roc():
    curve = calibrant.roc_curve(Y, P)
    display = curve.plot()
    assert np.array_equal(display.line_.get_xdata(), curve.false_positive_rates)
    assert np.array_equal(display.line_.get_ydata(), curve.true_positive_rates)
    assert np.array_equal(display.predicted_line_.get_ydata(), curve.predicted_true_positive_rates)
    assert curve.plot(predicted=False).predicted_line_ is None
    assert calibrant.roc_curve([0, 1], [0.0, 0.0]).plot().predicted_line_ is None


@pytest.mark.parametrize("per_class", [False, True])
def test_assessment(per_class):
    found = calibrant.assess(Y, P, n_bins=30, per_class=per_class)
    display = found.plot()
    for name, point in display.points_.items():
        assert point.get_xdata() == [getattr(found.source, name)]
        assert point.get_ydata() == [getattr(found.model, name)]
    bins = found.bins
    places = np.concatenate([b.get_offsets() for b in display.bubbles_])
    used = bins.true_pairs > 0
    assert np.array_equal(places, np.column_stack([bins.source, bins.accuracy])[used])
    areas = np.concatenate([b.get_sizes() for b in display.bubbles_])
    largest = bins.true_weights.max()
    assert areas == pytest.approx(np.maximum(260 * bins.true_weights[used] / largest, 2))
    assert f"{found.angle:.1f}\N{DEGREE SIGN}" in display.ax_.get_title(loc="right")


def test_assessment_of_a_table():
    found = table_of(Y, P).assess(n_bins=30)
    display = found.plot()
    assert display.points_["accuracy"].get_xdata() == [found.source.accuracy.value]
    assert np.array_equal(display.bubbles_[0].get_offsets()[:, 1], found.bins.mean_scores)


def test_an_assessment_without_an_angle():
    display = calibrant.assess([0, 1] * 100, [0.5] * 200, n_bins=2).plot()
    assert "no angle" in display.ax_.get_title(loc="right")
    display.figure_.canvas.draw()


def test_spectrum_of_a_stream():
    profile = streaming.RiskProfile(powers=calibrant.means.SPECTRUM_POWERS)
    profile.update(Y, P)
    spectrum = profile.result().spectrum
    whole = calibrant.mean_spectrum(np.where(Y, P, 1 - P))
    assert spectrum.powers == whole.powers
    assert spectrum.means == pytest.approx(whole.means, rel=1e-15)
    display = spectrum.plot()
    assert tuple(display.line_.get_ydata()) == spectrum.means
    assert set(display.points_) == {"decisiveness", "accuracy", "robustness"}


def test_groups_are_sorted_by_the_end_that_speaks_for_them():
    card = calibrant.scorecard(Y, P, groups=GROUPS)
    display = card.plot(metric="brier")
    low = [card.groups[key].brier.low for key in display.keys_]
    assert low == sorted(low, reverse=True)
    assert list(display.points_.get_xdata()) == [
        card.groups[key].brier.value for key in display.keys_
    ]
    high = [part.accuracy.high for _, part in by_worst(card, "accuracy")]
    assert high == sorted(high)
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == [
        f"{key}  (1,000)" for key in display.keys_
    ]


def test_many_groups_and_groups_without_a_number():
    card = calibrant.scorecard(Y, P, groups=np.arange(len(Y)) % 50)
    display = card.plot(most_groups=7)
    assert len(display.keys_) == 7
    assert "7 groups, 43 more not shown" in display.ax_.get_title(loc="right")
    weights = np.where(GROUPS == "north", 0.0, 1.0)
    empty = calibrant.scorecard(Y, P, groups=GROUPS, sample_weight=weights)
    assert "north" not in empty.plot().keys_
    assert by_worst(empty, "ece")[-1][0] == "north"
    with pytest.raises(ValueError, match="there are no groups to draw"):
        plotting.GroupsDisplay(calibrant.scorecard(Y, P)).plot()
    with pytest.raises(ValueError, match=r"metric must be one of 'base_rate', .* got 'f1'"):
        card.plot(metric="f1")


@pytest.mark.parametrize("method", ["murphy", "corp"])
def test_brier_parts_add_up(method):
    parts = calibrant.brier_decomposition(Y, P, method=method)
    start, won, lost, score = (bar for bar in parts.plot().bars_)
    assert start.get_width() == parts.uncertainty
    assert score.get_width() == parts.score
    assert won.get_x() + won.get_width() == pytest.approx(parts.uncertainty)
    assert lost.get_x() + lost.get_width() == pytest.approx(parts.score)


def test_several_models_in_the_same_axes(pyplot):
    _, ax = pyplot.subplots()
    colours = plotting.PALETTES["light"].series
    for boldness, colour in zip((0.5, 1, 2), colours, strict=False):
        y, p = rows(boldness=boldness)
        calibrant.roc_curve(y, p).plot(ax, name=f"x {boldness}", color=colour, predicted=False)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert [label.split(":")[0] for label in labels] == ["x 0.5", "x 1", "x 2"]


def test_overlay(pyplot):
    curves = {f"x {b}": calibrant.roc_curve(*rows(boldness=b)) for b in (0.5, 1, 2)}
    made = {name: plotting.RocDisplay(curve) for name, curve in curves.items()}
    display = plotting.OverlayDisplay(made).plot(predicted=False)
    colours = [each.line_.get_color() for each in display.displays_.values()]
    assert colours == list(plotting.PALETTES["light"].series[:3])
    assert {each.ax_ for each in display.displays_.values()} == {display.ax_}
    assert display.ax_.get_title(loc="right") == "n = 4,000"
    assert pyplot.get_fignums() == [1]


def test_interval_coverage():
    summary = RESULTS["intervals"]()
    display = summary.plot()
    assert list(display.points_.get_xdata()) == [level.coverage.value for level in summary]
    assert list(display.nominal_.get_xdata()) == [0.5, 0.9]
    ends = [tuple(line.get_xdata()) for line in display.intervals_]
    assert ends == [(level.coverage.low, level.coverage.high) for level in summary]


def test_coverage_by_size():
    groups = RESULTS["sizes"]()
    display = groups.plot(nominal=0.9)
    assert list(display.points_.get_xdata()) == [group.coverage for group in groups.groups]
    assert list(display.nominal_.get_xdata()) == [0.9, 0.9]
    assert groups.plot().nominal_ is None


# As scikit-learn's displays


@pytest.mark.parametrize(
    ("display", "function"),
    [
        (plotting.ReliabilityDisplay, calibrant.reliability_bins),
        (plotting.RocDisplay, calibrant.roc_curve),
        (plotting.CumulativeDifferencesDisplay, calibrant.cumulative_differences),
        (plotting.AssessmentDisplay, calibrant.assess),
    ],
)
def test_from_predictions_and_estimators(display, function):
    linear_model = pytest.importorskip("sklearn.linear_model")
    labels = np.array(["no", "yes"])[Y]
    model = linear_model.LogisticRegression().fit(P[:, None], labels)
    made = display.from_estimator(model, P[:, None], labels)
    expected = function(Y, model.predict_proba(P[:, None])[:, 1])
    assert made.result.to_dict() == expected.to_dict()
    again = display.from_predictions(Y, P, name="mine", ax=made.ax_)
    assert again.ax_ is made.ax_
    assert again.result.to_dict() == function(Y, P).to_dict()


def test_as_scikit_learns_calibration_display():
    calibration = pytest.importorskip("sklearn.calibration")
    peer = calibration.CalibrationDisplay.from_predictions(Y, P, n_bins=10)
    ours = plotting.ReliabilityDisplay.from_predictions(Y, P, n_bins=10)
    assert ours.line_.get_xdata() == pytest.approx(peer.line_.get_xdata())
    assert ours.line_.get_ydata() == pytest.approx(peer.line_.get_ydata())


def test_pvalues_are_readable():
    assert pvalue_text(0.5) == "p = 0.50"
    assert pvalue_text(0.0123) == "p = 0.012"
    assert pvalue_text(0.0) == "p < 1e-300"
    assert pvalue_text(0.0, -2302.585) == "p = 1e-1000"


def test_null_distribution_and_statistic():
    rng = np.random.default_rng(3)
    test = calibrant.mmd_test(rng.normal(size=30), rng.normal(size=30), n_permutations=199)
    display = test.plot(level=0.1)
    assert set(display.statistic_.get_xdata()) == {test.statistic}
    heights, edges, _ = display.null_.get_data()
    assert np.sum(heights * np.diff(edges)) == pytest.approx(1.0)
    assert edges[[0, -1]].tolist() == [test.null.min(), test.null.max()]
    # The least statistic with p <= 0.1: 19 of 199 splits at or beyond it.
    assert np.count_nonzero(test.null >= display.critical_) == 19
    few = calibrant.mmd_test([0.0, 1.0, 2.0], [1.0, 3.0, 4.0]).plot(level=0.01)
    assert few.critical_ == math.inf
    terms = calibrant.mmd_test(Y_REAL, SCALE, estimator="linear", bandwidth=1.0)
    assert terms.plot().critical_ == pytest.approx(1.6448536 * terms.standard_error)
    with pytest.raises(ValueError, match="level must lie strictly between 0 and 1, got 1"):
        test.plot(level=1)


def test_the_band_of_few_rows_is_in_one_piece():
    bins = calibrant.reliability_bins(
        [0, 1, 0, 1, 1, 1], [0.1, 0.2, 0.25, 0.5, 0.9, 0.95], n_bins=9
    )
    used = bins.weights > 0
    score, rows = bins.mean_scores[used], bins.weights[used]
    (path,) = bins.plot().band_.get_paths()
    x, y = path.vertices[:-1].T
    assert (x.min(), x.max()) == (0.0, 1.0)
    assert np.abs(np.diff(x)).max() < 0.006
    for at, margin in zip(score, consistency_margin(score, rows, 0.95), strict=True):
        ends = y[np.isclose(x, at, atol=1e-12)]
        assert ends.min() == pytest.approx(max(at - margin, 0.0))
        assert ends.max() == pytest.approx(min(at + margin, 1.0))


def test_a_legend_covers_no_data():
    cards = (
        calibrant.reliability_bins(Y, P), calibrant.assess(Y, P, n_bins=20),
        calibrant.cumulative_differences(Y, P), calibrant.roc_curve(Y, P),
    )  # fmt: skip
    for result in cards:
        display = result.plot()
        display.figure_.canvas.draw()
        legend = display.ax_.get_legend().get_window_extent()
        axes = display.ax_.get_tightbbox(bbox_extra_artists=[])
        assert legend.y1 <= display.ax_.xaxis.label.get_window_extent().y0
        assert display.figure_.bbox.padded(1).containsx(legend.x1)
        assert display.figure_.bbox.y0 <= legend.y0
        assert axes.height > 150


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_bands_stand_out_from_the_background(theme):
    palette = plotting.PALETTES[theme]
    colours = (palette.background, palette.band)
    parts = zip(*([int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in colours), strict=True)
    band = "#" + "".join(f"{round(0.82 * back + 0.18 * front):02x}" for back, front in parts)
    assert contrast(band, palette.background) > (1.2 if theme == "light" else 1.5)


def test_a_plain_scorecard_draws_its_reliability_diagram():
    for card in (calibrant.scorecard(Y, P, n_bins=9), stream_card()):
        display = card.plot()
        assert isinstance(display, plotting.ReliabilityDisplay)
        expected = calibrant.reliability_bins(Y, P, n_bins=9)
        assert display.bins.to_dict() == expected.to_dict()
    several = calibrant.scorecard([0, 1, 2], np.eye(3))
    assert several.plot().ax_.get_xlabel() == "probability of the top label"


def stream_card():
    total = calibrant.streaming.Scorecard(n_bins=9)
    total.update(Y, P)
    return total.result()
