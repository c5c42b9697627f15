"""Ranks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import mpmath
import numpy as np
from scipy import stats

import calibrant
import law_reference as law
import rank_law_reference as by
import reference
from accuracy_cases import Case, case, number, row


def tables(few: bool, ranks: tuple[int, ...], most: int) -> Iterator[np.ndarray]:
    """Yield how often each rank was found."""
    for k in ranks:
        for n in (5, most) if few else (1, 2, 5, most // 2, most):
            for seed in range(1 if few else 4):
                rng = np.random.default_rng([k, n, seed])
                p = rng.dirichlet(np.full(k, 10.0 if seed % 2 else 0.7))
                yield rng.multinomial(n, p)


def calibration_of(counts: np.ndarray):
    ranks = np.repeat(np.arange(len(counts)), counts)
    return calibrant.rank_calibration(ranks, len(counts) - 1).dimensions[0]


@row("tests of ranks: γ and D", covers="rank_calibration streaming.Ranks", bound=450)
def rank_statistics(few: bool) -> Iterator[Case]:
    for counts in tables(few, (2, 5) if few else (2, 3, 5, 20), 10 if few else 100):
        n, k = int(counts.sum()), len(counts)
        below = list(itertools.accumulate(counts.tolist()))[:-1]
        found = calibration_of(counts)
        yield case(found.gamma_test.statistic, by.gamma_of(below, by.lower_tails(n, k)))
        distances = (abs(Fraction(r, n) - Fraction(j, k)) for j, r in enumerate(below, start=1))
        yield case(found.ks.statistic, max(distances))


@row("tests of ranks: exact p-values", covers="", bound=1, unit="10⁻⁹ of the value")
def rank_pvalues(few: bool) -> Iterator[Case]:
    for counts in tables(few, (2, 5) if few else (2, 3, 5, 8), 10 if few else 40):
        n, k = int(counts.sum()), len(counts)
        below = list(itertools.accumulate(counts.tolist()))[:-1]
        found = calibration_of(counts)
        for ours, exact in (
            (found.gamma_test.pvalue, by.gamma_pvalue(below, n, k)),
            (found.ks.pvalue, by.ks_pvalue(below, n, k)[1]),
        ):
            yield case(ours, exact, least=1e-9 * number(exact))


def moments(counts: np.ndarray) -> Iterator[tuple[str, mpmath.mpf, mpmath.mpf]]:
    """z of bias and dispersion, and the size of what was subtracted."""
    n, k = int(counts.sum()), len(counts)
    u = [Fraction(2 * r + 1, 2 * k) for r in range(k)]
    for name, values in (("bias", u), ("dispersion", [(v - Fraction(1, 2)) ** 2 for v in u])):
        mean = sum(values) / k
        variance = sum((v - mean) ** 2 for v in values) / k
        if variance:
            found = sum(int(c) * v for c, v in zip(counts, values, strict=True)) / n
            root = mpmath.sqrt(number(variance / n))
            yield name, number(found - mean) / root, number(mean) / root


@row(
    "bias and dispersion of ranks: z and p-value", covers="", bound=6,
    unit="ulp, at least of mean over standard deviation; p-values times 1 + z²",
)  # fmt: skip
def bias_and_dispersion(few: bool) -> Iterator[Case]:
    for counts in tables(few, (2, 10, 101), 1000):
        found = calibration_of(counts).histogram
        for name, z, scale in moments(counts):
            test = getattr(found, name)
            yield case(test.statistic, z, scale=scale)
            with mpmath.workdps(60):
                _, sf = law.folded_normal(abs(z))
            off = reference.ulp(max(abs(z), scale)) * max(abs(z), 1)  # what it does to p
            yield case(test.pvalue, sf, least=reference.ulp(sf) * (1 + z * z) + sf * off)


@row(
    "chi-square of ranks and its p-value", covers="", bound=4, unit="ulp times 1 + x", peer="SciPy"
)
def chi_square(few: bool) -> Iterator[Case]:
    for counts in tables(few, (2, 10, 101), 1000):
        found = calibration_of(counts).histogram
        sizes, n = np.diff(found.edges), int(counts.sum())
        expected = [Fraction(n * int(size), len(counts)) for size in sizes]
        pairs = zip(found.counts.tolist(), expected, strict=True)
        true = sum((c - e) ** 2 / e for c, e in pairs)
        theirs = stats.chisquare(found.counts, n * sizes / len(counts))
        least = reference.ulp(max(number(true), 1))
        yield case(found.chi_square.statistic, true, least=least, peer=theirs.statistic)
        with mpmath.workdps(60):
            sf = mpmath.gammainc(
                mpmath.mpf(found.df) / 2, number(true) / 2, mpmath.inf, regularized=True
            )
        off = reference.ulp(max(sf, mpmath.mpf(2) ** -1000)) * (1 + number(true))
        yield case(found.chi_square.pvalue, sf, least=off, peer=theirs.pvalue)


@row("PIT values of ranks: how far outside their cell", covers="rank_pit_values", bound=1)
def pit(few: bool) -> Iterator[Case]:
    ranks = np.arange(8 if few else 101)
    n_draws = len(ranks) - 1
    for r, found in zip(ranks.tolist(), calibrant.rank_pit_values(ranks, n_draws), strict=True):
        low, high = Fraction(r, n_draws + 1), Fraction(r + 1, n_draws + 1)
        yield case(found, min(max(Fraction(float(found)), low), high))
        assert math.isfinite(found)
