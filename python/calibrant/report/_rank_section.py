"""The section about ranks of truths among draws."""

from __future__ import annotations

from calibrant.calibration._verdict import pvalue_text
from calibrant.plotting import RankCoverageDisplay, RankEcdfDisplay, RankHistogramDisplay
from calibrant.ranks._results import RankCalibration, RankDimension
from calibrant.report._section import Figure, Number, Section, Table
from calibrant.report._svg import WIDTH

__all__ = ["rank_section"]

#: Of dimensions in the table, and of histograms that are drawn.
MOST_ROWS = 30
MOST_HISTOGRAMS = 3


def rank_section(found: RankCalibration) -> Section:
    """Return what rank calibration has to say: verdict, tests, bands and coverage."""
    worst = sorted(found.dimensions, key=lambda d: d.gamma_test.log_pvalue)
    return Section(
        "ranks",
        "Ranks of truths among draws",
        "If the posterior is right, the truth is one more draw, and its rank among the draws is "
        "uniform. Too many middle ranks mean a posterior that is too wide, too many extreme "
        "ones one that is too narrow, a slope one that lies to one side. Right ranks do not "
        "make a posterior sharp: a proper score tells.",
        _numbers(found, worst[0]),
        _figures(found, worst),
        (_table(found, worst),),
        notes=tuple(dict.fromkeys(d.histogram.note for d in worst if d.histogram.note)),
        definition="docs/guide/rank-calibration.md",
        terms=("rank", "rank_gamma", "rank_components", "expected_coverage"),
    )


def _numbers(found: RankCalibration, worst: RankDimension) -> tuple[Number, ...]:
    several = len(found.dimensions) > 1
    of = f"of {worst.name}, the furthest out" if several else ""
    gamma = worst.gamma_test
    word, _, meaning = found.verdict.partition(":")
    return (
        Number(
            "rank_verdict", "verdict", word.strip(), explanation=meaning.strip(), form="text",
            definition="rank",
        ),
        Number(
            "rank_pvalue", "p-value", found.pvalue,
            explanation="of the hypothesis that all dimensions are calibrated"
            if several else "gamma test: exact", form="pvalue",
            log=None if several else gamma.log_pvalue, definition="rank_gamma",
        ),
        Number(
            "rank_bias", "bias z", worst.histogram.bias.statistic,
            explanation=of or "positive: too many high ranks", definition="rank_components",
        ),
        Number(
            "rank_dispersion", "dispersion z", worst.histogram.dispersion.statistic,
            explanation=of or "positive: too many extreme ranks", definition="rank_components",
        ),
        Number(
            "coverage_area", "area over the diagonal", found.coverage_of(worst).area,
            explanation=of or "of the coverage curve; positive: too wide",
            definition="expected_coverage",
        ),
        Number("n_ranks", "ranks", found.n, form="count", definition="rank"),
        Number("n_draws", "draws", found.n_draws, form="count", definition="rank"),
    )  # fmt: skip


def _figures(found: RankCalibration, worst: list[RankDimension]) -> tuple[Figure, ...]:
    curves = Figure(
        "rank-ecdf",
        RankEcdfDisplay(found),
        "ECDF of the ranks less the diagonal, with pointwise and simultaneous bands",
        {d.name: d.ecdf.to_dict() for d in found.dimensions},
        size=(WIDTH, RankEcdfDisplay.size[1]),
    )
    coverage = Figure(
        "rank-coverage",
        RankCoverageDisplay(found),
        "Share of truths inside regions of each level, against the level",
        {d.name: found.coverage_of(d).to_dict() for d in found.dimensions},
        size=(WIDTH, WIDTH),
    )
    places = {d.name: i for i, d in enumerate(found.dimensions)}
    histograms = tuple(
        Figure(
            f"rank-histogram-{places[d.name]}",
            RankHistogramDisplay(found),
            f"Histogram of the ranks of {d.name}, with the band that chance keeps all bars in",
            d.histogram.to_dict(),
            {"dimension": places[d.name]},
            (WIDTH, RankHistogramDisplay.size[1]),
        )
        for d in worst[:MOST_HISTOGRAMS]
    )
    return (curves, *histograms, coverage)


def _row(found: RankCalibration, d: RankDimension) -> tuple[str, ...]:
    h = d.histogram
    tests = (
        (d.gamma_test.pvalue, d.gamma_test.log_pvalue),
        (d.adjusted_pvalue, None),
        (d.ks.pvalue, d.ks.log_pvalue),
        (h.chi_square.pvalue, h.chi_square.log_pvalue),
    )
    pvalues = (pvalue_text(p, log).removeprefix("p ").removeprefix("= ") for p, log in tests)
    numbers = (h.bias.statistic, h.dispersion.statistic, found.coverage_of(d).area)
    shown = (Number("", "", number).text for number in numbers)
    return (d.name, *pvalues, *shown, d.verdict.partition(":")[0])


def _table(found: RankCalibration, worst: list[RankDimension]) -> Table:
    more = len(worst) - MOST_ROWS
    return Table(
        "rank dimensions",
        ("dimension", "gamma p", "adjusted p", "KS p", "chi-square p", "bias z", "dispersion z",
         "area", "verdict"),
        tuple(_row(found, d) for d in worst[:MOST_ROWS]),
        f"{more:,} more dimensions, all with larger p-values." if more > 0 else "",
    )  # fmt: skip
