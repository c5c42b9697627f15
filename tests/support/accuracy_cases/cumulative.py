"""Cumulative differences and tests."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import mpmath
import numpy as np
from mapie.metrics import calibration as mapie

import calibrant
import law_reference as law
import reference
from accuracy_cases import Case, case, number, peer, row
from accuracy_cases.inputs import SPAN_OF_80, listed, predictions, weights_of


def walk_by_numpy(y, p, weights) -> tuple[np.ndarray, float]:
    """C / σ after the last of equal scores, by a sort and a cumulative sum; and σ."""
    w, order = weights_of(p, weights), np.argsort(p, kind="stable")
    walk = np.cumsum((w * (y - p))[order])
    last = np.append(np.diff(p[order]) > 0, True)
    spread = np.sqrt(np.sum(w * p * (1 - p)))
    return np.append(0.0, walk[last]) / spread, spread / w.sum()


@row(
    "KS and Kuiper statistics", covers="ks_test kuiper_test cumulative_tests", bound=1,
    peer="NumPy",
)  # fmt: skip
def statistics(few: bool) -> Iterator[Case]:
    for y, p, weights in predictions(few, most=1000, weights=SPAN_OF_80):
        found = calibrant.cumulative_tests(y, p, sample_weight=weights)
        true = reference.ks_and_kuiper(p.tolist(), y, listed(weights))
        walk = peer(walk_by_numpy, y, p, weights)[0]
        yield case(found.ks.statistic, true[0], peer=np.abs(walk).max())
        yield case(found.kuiper.statistic, true[1], peer=np.ptp(walk))


@row(
    "cumulative differences and their σ", covers="cumulative_differences", bound=1, peer="NumPy",
)  # fmt: skip
def differences(few: bool) -> Iterator[Case]:
    for y, p, weights in predictions(few, most=1000, weights=SPAN_OF_80):
        places, variance, total = reference.walk(p.tolist(), y, listed(weights))
        found = calibrant.cumulative_differences(y, p, sample_weight=weights)
        walk, sigma = peer(walk_by_numpy, y, p, weights)
        for ours, place, their in zip(found.differences, places, walk * sigma, strict=True):
            yield case(ours, place / total, peer=their)
        yield case(found.sigma, mpmath.sqrt(number(variance)) / number(total), peer=sigma)


def spiegelhalter_of(y, p, weights) -> tuple[mpmath.mpf, mpmath.mpf]:
    """z, and the error that is allowed."""
    excess, variance = reference.spiegelhalter(p.tolist(), y, listed(weights))
    if variance == 0:
        return (mpmath.sign(number(excess)) * mpmath.inf if excess else mpmath.mpf(0)), mpmath.mpf(
            1
        )
    z = number(excess) / mpmath.sqrt(number(variance))
    total = mpmath.fsum(weights_of(p, weights).tolist())
    grid = mpmath.ldexp(mpmath.sqrt(total), -66)
    return z, reference.ulp(z) + mpmath.ldexp(abs(z), -53) + grid


@row(
    "Spiegelhalter's z", covers="spiegelhalter_test streaming.Spiegelhalter", bound=1,
    unit="ulp + 2⁻⁵³ abs(z) + 2⁻⁶⁶ √Σw", peer="MAPIE",
)  # fmt: skip
def spiegelhalter(few: bool) -> Iterator[Case]:
    for y, p, weights in predictions(few, most=1000, weights=SPAN_OF_80):
        z, unit = spiegelhalter_of(y, p, weights)
        found = calibrant.spiegelhalter_test(y, p, sample_weight=weights).statistic
        theirs = None
        if weights is None and len(y) > 1:
            theirs = peer(mapie.spiegelhalter_statistic, y, p)
        yield case(found, z, least=unit, peer=theirs)


@row(
    "p-values of the three, and their logarithms", covers="", bound=4,
    unit="ulp times 1 + x², x the statistic; logarithms at least of 1",
)  # fmt: skip
def pvalues(few: bool) -> Iterator[Case]:
    laws: tuple[tuple[Callable, Callable, int], ...] = (
        (calibrant.ks_test, law.sup, 0), (calibrant.kuiper_test, law.span, 1),
    )  # fmt: skip
    for y, p, weights in predictions(few, most=1000, weights=SPAN_OF_80):
        statistics = reference.ks_and_kuiper(p.tolist(), y, listed(weights))
        truths = [(test, of, statistics[i]) for test, of, i in laws]
        z = spiegelhalter_of(y, p, weights)[0]
        for test, of, x in [*truths, (calibrant.spiegelhalter_test, law.folded_normal, abs(z))]:
            if not 0.01 < x < 1e4:
                continue
            with mpmath.workdps(60):
                cdf, sf = of(x)
                logarithm = law.log_of(sf, cdf)
            found = test(y, p, sample_weight=weights)
            allowed = reference.ulp(sf) * (1 + x * x) if sf > 2.0**-1000 else 2.0**-1000
            yield case(found.pvalue, sf, least=allowed)
            yield case(
                found.log_pvalue, logarithm, scale=1,
                least=reference.ulp(max(abs(logarithm), 1)) * (1 + x * x / max(abs(logarithm), 1)),
            )  # fmt: skip


@row(
    "KS and Kuiper of a group against all rows", covers="", bound=1,
)  # fmt: skip
def of_a_group(few: bool) -> Iterator[Case]:
    rng = np.random.default_rng(5)
    for y, p, weights in itertools.islice(
        predictions(few, least=10, most=100, weights=("none", "integers")), 8 if few else None
    ):
        members = rng.random(len(y)) < 0.4
        members[0] = True
        places, variance, _ = reference.subpopulation_walk(
            p.tolist(), y, members.tolist(), listed(weights)
        )
        found = calibrant.cumulative_tests(y, p, subset=members, sample_weight=weights)
        root = mpmath.sqrt(number(variance))
        ends = max(map(abs, places)), max(places) - min(places)
        for test, end in zip((found.ks, found.kuiper), ends, strict=True):
            yield case(test.statistic, number(end) / root if variance else mpmath.mpf(0))
