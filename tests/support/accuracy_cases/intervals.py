"""Intervals and sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import mpmath
import numpy as np
from mapie.metrics import regression as mapie
from scipy import stats

import calibrant
import interval_reference as by
from accuracy_cases import Case, case, number, peer, row
from accuracy_cases.inputs import SPAN_OF_80, WEIGHTS, weights_of

LEVEL = 0.9

DATA: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "as drawn": lambda x: x,
    "far from 0": lambda x: 1e8 + x,
    "tiny": lambda x: 1e-300 * x,
    "huge": lambda x: 1e300 * x,
    "wide": lambda x: np.sign(x) * 10.0 ** (20 * np.abs(x) - 20),
}


def intervals(
    few: bool, most: int = 10_000, weighings: tuple[str, ...] = tuple(WEIGHTS)
) -> Iterator[tuple]:
    """Yield y, low, high, weights and the rows of the reference."""
    for n in (2, 20) if few else (2, 3, 10, 100, 1000, 10_000):
        for kind, change in DATA.items():
            for weighing in weighings:
                if n > most or (n == 10_000 and kind != "wide"):
                    continue
                y, bounds = by.random_intervals(n, seed=len(kind))
                y, low, high = change(y), change(bounds[:, 0, 0]), change(bounds[:, 1, 0])
                weights = WEIGHTS[weighing](np.random.default_rng(n), n)
                yield y, low, high, weights, by.rows_of(y, low, high, weights)


def mean_of(rows, column: int) -> Fraction:
    return sum(Fraction(row[column]) * row[3] for row in rows) / by.total(rows)


@row(
    "coverage and mean width of intervals",
    covers="interval_coverage interval_width interval_summary streaming.Intervals", bound=1,
    peer="NumPy",
)  # fmt: skip
def coverage_and_width(few: bool) -> Iterator[Case]:
    for y, low, high, weights, rows in intervals(few):
        options = {"sample_weight": weights}
        covered = (low <= y) & (y <= high)
        yield case(
            calibrant.interval_coverage(y, (low, high), **options).value, mean_of(rows, 0),
            peer=np.average(covered, weights=weights),
        )  # fmt: skip
        yield case(
            calibrant.interval_width((low, high), **options), mean_of(rows, 1),
            peer=peer(np.average, high - low, weights=weights),
        )  # fmt: skip


@row("interval score (Winkler)", covers="interval_score", bound=3, peer="MAPIE")
def winkler(few: bool) -> Iterator[Case]:
    for y, low, high, weights, rows in intervals(few):
        true = mean_of(rows, 1) + 2 / (1 - Fraction(LEVEL)) * mean_of(rows, 2)
        found = calibrant.interval_score(
            y, (low, high), confidence_level=LEVEL, sample_weight=weights
        )
        theirs = None
        if weights is None:
            stacked = np.stack([low, high], axis=1)[:, :, None]
            theirs = peer(mapie.regression_mwi_score, y, stacked, LEVEL)
        yield case(found, true, peer=theirs)


@row(
    "coverage width criterion", covers="coverage_width_criterion", bound=8,
    unit="ulp, at least of the criterion for a width of 0",
)  # fmt: skip
def criterion(few: bool) -> Iterator[Case]:
    for y, low, high, weights, rows in intervals(few):
        used = [Fraction(v) for v, row in zip(y.tolist(), rows, strict=True) if row[3] > 0]
        ratio = number(mean_of(rows, 1) / (max(used) - min(used)))
        exponent = 30 * (number(mean_of(rows, 0)) - mpmath.mpf(LEVEL)) ** 2
        found = calibrant.coverage_width_criterion(
            y, (low, high), confidence_level=LEVEL, sample_weight=weights
        )
        if not np.isfinite(found):
            continue
        factor = mpmath.exp(-exponent)
        yield case(found, (1 - ratio) * factor, scale=max(1, ratio) * factor * (1 + exponent))


def groups_of(few: bool) -> Iterator[tuple]:
    for y, low, high, weights, rows in intervals(few, 1000, SPAN_OF_80):
        yield y, low, high, weights, rows, np.arange(len(y)) % 3


@row(
    "coverage by group and by width, and the gap", covers="coverage_gap size_stratified_coverage",
    bound=2, unit="ulp, the gap at least of 1",
)  # fmt: skip
def by_group(few: bool) -> Iterator[Case]:
    for y, low, high, weights, rows, groups in groups_of(few):
        found = calibrant.coverage_gap(
            y, (low, high), groups=groups, confidence_level=LEVEL, sample_weight=weights
        )
        parts = [[r for r, g in zip(rows, groups, strict=True) if g == k] for k in set(groups)]
        shares = [mean_of(part, 0) for part in parts]
        for ours, true in zip(found.coverage.ravel(), shares, strict=True):
            yield case(ours, true)
        gap = sum(abs(share - Fraction(LEVEL)) for share in shares) / len(shares)
        yield case(found.value, gap, scale=1)
        strata = calibrant.size_stratified_coverage(
            y, (low, high), n_groups=3, sample_weight=weights
        ).levels[0]
        for ours, (*_, true) in zip(strata.groups, by.equal_count_groups(rows, 3), strict=True):
            yield case(ours.coverage, true)


@row(
    "coverage and mean size of sets",
    covers="set_coverage set_size set_summary streaming.PredictionSets", bound=1, peer="NumPy",
)  # fmt: skip
def sets(few: bool) -> Iterator[Case]:
    for n in (1, 20) if few else (1, 2, 10, 100, 1000):
        for weighing in WEIGHTS:
            rng = np.random.default_rng(n)
            members, y = rng.random((n, 5)) < 0.6, rng.integers(0, 5, n)
            weights = WEIGHTS[weighing](rng, n)
            w = [Fraction(float(x)) for x in weights_of(y, weights)]
            hit = members[np.arange(n), y]
            found = calibrant.set_summary(y, members, sample_weight=weights)
            for ours, terms in (
                (found.coverage.value, hit.astype(int)), (found.size.value, members.sum(axis=1)),
            ):  # fmt: skip
                pairs = zip(w, terms.tolist(), strict=True)
                yield case(
                    ours, sum(v * t for v, t in pairs) / sum(w),
                    peer=np.average(terms, weights=weights),
                )  # fmt: skip


def counts(few: bool) -> Iterator[tuple[int, int]]:
    for n in (1, 40) if few else (1, 2, 5, 40, 333, 1000, 100_000):
        within = (n // 7, n // 2) if n <= 1000 else ()  # where truths take long
        yield from sorted({(n, k) for k in (0, 1, *within, n - 1, n)})


def covered(n: int, k: int, method: str, level: float) -> tuple[float, float]:
    """Ends of the interval of a coverage of k out of n."""
    y = np.where(np.arange(n) < k, 0.0, 9.0)
    found = calibrant.interval_coverage(
        y, (np.full(n, -1.0), np.ones(n)), ci_method=method, ci_level=level
    )
    return float(found.low), float(found.high)


@row(
    "Wilson's interval", covers="", bound=4, unit="ulp, at least of z²/(n + z²)",
)  # fmt: skip
def wilson(few: bool) -> Iterator[Case]:
    for n, k in counts(few):
        for level in (0.5, 0.95, 0.999):
            tail = (1 - mpmath.mpf(level)) / 2
            z = mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * tail)
            share, spread = mpmath.mpf(k) / n, z * z / n
            half = z * mpmath.sqrt(share * (1 - share) / n + spread / (4 * n))
            ends = [(share + spread / 2 + sign * half) / (1 + spread) for sign in (-1, 1)]
            for ours, true in zip(covered(n, k, "wilson", level), ends, strict=True):
                yield case(ours, true, scale=spread / (1 + spread))


def newton(x: float, a: int, b: int, tail) -> mpmath.mpf:
    """The x with I_x(a, b) = tail, from one that is close."""
    root = mpmath.mpf(x)
    for _ in range(3):
        below = mpmath.betainc(a, b, 0, root, regularized=True)
        slope = root ** (a - 1) * (1 - root) ** (b - 1) / mpmath.beta(a, b)
        root -= (below - tail) / slope
    return root


@row(
    "Clopper and Pearson's interval", covers="_core.clopper_pearson", bound=100,
    peer="SciPy",
)  # fmt: skip
def clopper_pearson(few: bool) -> Iterator[Case]:
    with mpmath.workdps(50):
        for n, k in counts(few):
            for level in (0.5, 0.95, 0.999):
                tail = (1 - mpmath.mpf(level)) / 2
                low, high = covered(n, k, "exact", level)
                if k > 0:
                    theirs = stats.beta.ppf((1 - level) / 2, k, n - k + 1)
                    yield case(low, newton(low, k, n - k + 1, tail), peer=theirs)
                if k < n:
                    theirs = stats.beta.isf((1 - level) / 2, k + 1, n - k)
                    yield case(high, newton(high, k + 1, n - k, 1 - tail), peer=theirs)
