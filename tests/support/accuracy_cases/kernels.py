"""Elementary functions and laws."""

from __future__ import annotations

from collections.abc import Iterator

import mpmath
import numpy as np
from mapie.metrics import calibration as mapie
from scipy import special, stats

import calibrant
import elementary_points as at
import law_reference as law
from accuracy_cases import Case, case, peer, row
from calibrant import _core
from calibrant._core import _testing
from reference import exact


def points(table: dict[str, np.ndarray], few: bool) -> np.ndarray:
    return np.concatenate([values[:: 50 if few else 1] for values in table.values()])


@row("ln x", covers="_core.log", bound=at.LOG_BOUND, peer="NumPy")
def log(few: bool) -> Iterator[Case]:
    x = points(at.POSITIVE, few)
    x = x[x != 1.0]
    for v, found, theirs in zip(x.tolist(), _testing.log(x), np.log(x), strict=True):
        yield case(found, mpmath.log(v), peer=theirs)


def exponentials(few: bool, subnormal: bool) -> Iterator[Case]:
    x = points(at.EXPONENTS, few)
    x = x[((x > -745) & (x < -708.4)) if subnormal else ((x > -708.3) & (x < 709.7))]
    for v, found, theirs in zip(x.tolist(), _testing.exp(x), np.exp(x), strict=True):
        yield case(found, mpmath.exp(v), peer=theirs)


@row("exp x", covers="_core.exp", bound=at.EXP_BOUND, peer="NumPy")
def exp(few: bool) -> Iterator[Case]:
    return exponentials(few, subnormal=False)


@row("exp x, subnormal results", covers="", bound=at.EXP_BOUND + at.SUBNORMAL, peer="NumPy")
def exp_subnormal(few: bool) -> Iterator[Case]:
    return exponentials(few, subnormal=True)


def powers(few: bool, exponents: list[float]) -> Iterator[Case]:
    for m in exponents:
        x = points({name: at.in_reach(v[::8], m) for name, v in at.POSITIVE.items()}, few)
        for v, found, theirs in zip(
            x.tolist(), _testing.power(x, m), peer(np.power, x, m), strict=True
        ):
            true = mpmath.exp(exact(m) * mpmath.log(v))
            if at.MIN <= true <= at.MAX:
                # The peer takes the double nearest to -2/3 as it is.
                yield case(found, true, peer=None if m == -2 / 3 else theirs)


@row("x^m, abs(m) ≤ 1", covers="_core.power", bound=at.power_bound(1), peer="NumPy")
def small_powers(few: bool) -> Iterator[Case]:
    return powers(few, [m for m in at.POWERS if abs(m) <= 1])


@row("x^m, 1 < abs(m) ≤ 8", covers="", bound=at.power_bound(8), peer="NumPy")
def larger_powers(few: bool) -> Iterator[Case]:
    return powers(few, [m for m in at.POWERS if abs(m) > 1])


def tails(few: bool, name: str, definition, functions, peers) -> Iterator[Case]:
    """Of cdf, sf and log_sf, whichever are given."""
    x = law.points(name)[:: 100 if few else 2]
    with mpmath.workdps(60):
        truths = [definition(mpmath.mpf(v)) for v in x.tolist()]
        truths = [(cdf, sf, law.log_of(sf, cdf)) for cdf, sf in truths]
    for part, (function, other) in enumerate(zip(functions, peers, strict=True)):
        if function is None:
            continue
        found = function(x)
        theirs = [None] * len(x) if other is None else peer(other, x)
        for truth, ours, their in zip(truths, found, theirs, strict=True):
            yield case(ours, truth[part], peer=their)


@row(
    "normal law: upper tail and its logarithm", covers="_core.normal_sf _core.normal_log_sf",
    bound=4, peer="SciPy",
)  # fmt: skip
def normal(few: bool) -> Iterator[Case]:
    functions = None, _core.normal_sf, _core.normal_log_sf
    return tails(few, "normal", law.normal, functions, (None, stats.norm.sf, stats.norm.logsf))


@row(
    "normal law: both tails and their logarithm",
    covers="_core.normal_two_sided _core.normal_log_two_sided", bound=4, peer="SciPy",
)  # fmt: skip
def two_sided(few: bool) -> Iterator[Case]:
    functions = None, _core.normal_two_sided, _core.normal_log_two_sided
    peers = None, lambda x: 2 * stats.norm.sf(x), lambda x: np.log(2) + stats.norm.logsf(x)
    return tails(few, "folded normal", law.folded_normal, functions, peers)


def one_by_one(function):
    return lambda x: [peer(function, v) for v in x.tolist()]


@row(
    "law of the largest deviation: cdf, sf, log sf",
    covers="brownian_sup_cdf brownian_sup_sf brownian_sup_log_sf", bound=4, peer="MAPIE",
)  # fmt: skip
def sup(few: bool) -> Iterator[Case]:
    functions = (
        calibrant.brownian_sup_cdf, calibrant.brownian_sup_sf, calibrant.brownian_sup_log_sf,
    )  # fmt: skip
    cdf = mapie.kolmogorov_smirnov_cdf
    peers = one_by_one(cdf), one_by_one(lambda v: 1 - cdf(v)), None
    return tails(few, "sup", law.sup, functions, peers)


@row(
    "law of the range: cdf, sf, log sf",
    covers="brownian_range_cdf brownian_range_sf brownian_range_log_sf", bound=4, peer="MAPIE",
)  # fmt: skip
def span(few: bool) -> Iterator[Case]:
    functions = (
        calibrant.brownian_range_cdf, calibrant.brownian_range_sf, calibrant.brownian_range_log_sf,
    )  # fmt: skip
    cdf = mapie.kuiper_cdf
    peers = one_by_one(cdf), one_by_one(lambda v: 1 - cdf(v)), None
    return tails(few, "range", law.span, functions, peers)


def gamma_tails(few: bool, shapes: list[float], of, peer_sf, peer_log_sf) -> Iterator[Case]:
    """``of(x, a)`` are sf and log sf of the gamma law with the shape a and the scale 1."""
    for a in shapes[:: 3 if few else 1]:
        for x in [*np.geomspace(1e-10, 1, 8), *(a * np.geomspace(0.1, 30, 30)), 1e3][
            :: 6 if few else 1
        ]:
            with mpmath.workdps(60):
                true = mpmath.gammainc(
                    mpmath.mpf(a), mpmath.mpf(float(x)), mpmath.inf, regularized=True
                )
                if true <= 0:
                    continue
                logarithm = mpmath.log(true)
            sf, log_sf = of(float(x), a)
            yield case(sf, true, peer=peer(peer_sf, x, a))
            # Near a probability of 1 its logarithm is as good as the probability.
            yield case(log_sf, logarithm, scale=1, peer=peer(peer_log_sf, x, a))


@row(
    "chi-square law: upper tail and its logarithm",
    covers="_core.chi_square_sf _core.chi_square_log_sf", bound=4,
    unit="ulp; logarithms: at least of 1", peer="SciPy",
)  # fmt: skip
def chi_square(few: bool) -> Iterator[Case]:
    def of(x, a):
        return _core.chi_square_sf(2 * x, int(2 * a)), _core.chi_square_log_sf(2 * x, int(2 * a))

    shapes = [k / 2 for k in (1, 2, 3, 4, 5, 9, 10, 99, 100, 1001)]
    return gamma_tails(
        few, shapes, of,
        lambda x, a: stats.chi2.sf(2 * x, 2 * a), lambda x, a: stats.chi2.logsf(2 * x, 2 * a),
    )  # fmt: skip


@row(
    "gamma law: upper tail and its logarithm", covers="_core.gamma_tail", bound=1800,
    unit="ulp; logarithms: at least of 1", peer="SciPy",
)  # fmt: skip
def gamma(few: bool) -> Iterator[Case]:
    return gamma_tails(
        few, [0.5, 0.75, 1.0, 1.3, 2.7, 8.1, 20.5, 33.3, 120.0, 777.7],
        lambda x, a: _core.gamma_tail(a, x),
        lambda x, a: special.gammaincc(a, x), lambda x, a: stats.gamma.logsf(x, a),
    )  # fmt: skip
