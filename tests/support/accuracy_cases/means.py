"""Generalized means and entropies."""

from __future__ import annotations

import math
from collections.abc import Iterator

import mpmath
import numpy as np

import calibrant
import reference
from accuracy_cases import Case, case, peer, row
from accuracy_cases.inputs import listed, predictions, weights_of
from calibrant import streaming


def by_numpy(q: np.ndarray, m: float, weights: np.ndarray | None) -> float:
    if m == 0:
        return float(np.exp(np.average(np.log(q), weights=weights)))
    return float(np.average(q**m, weights=weights) ** (1 / m))


def means(few: bool, powers: tuple[float, ...], most: int) -> Iterator[Case]:
    for _, q, weights in predictions(few, ends=False, most=most):
        for m in powers:
            if abs(m) * (math.log2(q.max()) - math.log2(q.min())) > 6e7:
                continue
            found = calibrant.generalized_mean(q, m, sample_weight=weights)
            true = reference.generalized_mean(q, m, listed(weights))
            unit = reference.ulp(true)
            if 0 < abs(m) < 1 / 8:
                terms = min(2.0**-57 / abs(m), 2.0**-52 * -math.log(q.min()))
                unit += terms * true
            theirs = None if m == -2 / 3 else peer(by_numpy, q, m, weights)
            yield case(found, true, least=unit, peer=theirs)


@row(
    "generalized mean, m = 0 and abs(m) ≥ 1/8", covers="generalized_mean mean_spectrum",
    bound=1, peer="NumPy",
)  # fmt: skip
def ordinary_means(few: bool) -> Iterator[Case]:
    return means(few, (1.0, 0.0, -2 / 3, 0.125, -1.0, 2.0, -5.0, 40.0), 1000)


@row(
    "generalized mean, 0 < abs(m) < 1/8", covers="", bound=1,
    unit="ulp and 2⁻⁵⁷/abs(m) or 2⁻⁵²·abs(ln q) of the least q, relatively", peer="NumPy",
)  # fmt: skip
def means_of_small_powers(few: bool) -> Iterator[Case]:
    return means(few, (0.1, -1e-3, 1e-9, -1e-15), 100)


def deviation(q: np.ndarray, weights: np.ndarray | None) -> float:
    logs = np.log(q)
    mean = np.average(logs, weights=weights)
    return float(np.exp(np.sqrt(np.average((logs - mean) ** 2, weights=weights))))


@row(
    "geometric standard deviation", covers="geometric_standard_deviation", bound=1,
    unit="ulp and 2⁻⁵²·ln of it, relatively", peer="NumPy",
)  # fmt: skip
def geometric_deviations(few: bool) -> Iterator[Case]:
    for _, q, weights in predictions(few, ends=False, most=1000):
        found = calibrant.geometric_standard_deviation(q, sample_weight=weights)
        rows = [
            (mpmath.mpf(float(w)), mpmath.log(mpmath.mpf(float(p))))
            for p, w in zip(q, weights_of(q, weights), strict=True)
        ]
        total = mpmath.fsum(w for w, _ in rows)
        mean = mpmath.fsum(w * log for w, log in rows) / total
        spread = mpmath.sqrt(mpmath.fsum(w * (log - mean) ** 2 for w, log in rows) / total)
        true = mpmath.exp(spread)
        unit = reference.ulp(true) + true * spread * 2.0**-52
        yield case(found, true, least=unit, peer=peer(deviation, q, weights))


@row("risk profile", covers="risk_profile streaming.RiskProfile", bound=1, peer="NumPy")
def risk_profile(few: bool) -> Iterator[Case]:
    for y, p, weights in predictions(few, ends=False):
        state = streaming.RiskProfile()
        state.update(y, p, sample_weight=weights)
        found = state.result()
        profile = found.decisiveness, found.accuracy, found.robustness
        true = reference.risk_profile(y, p, weights=listed(weights))
        q = np.where(y == 1, p, 1 - p)
        theirs = [peer(by_numpy, q, m, weights) for m in (1.0, 0.0)]
        for ours, truth, their in zip(profile, true, [*theirs, None], strict=True):
            yield case(ours, truth, peer=their)


@row(
    "model, source and divergence as probabilities", covers="cross_entropy_probability",
    bound=1, peer="NumPy",
)  # fmt: skip
def cross_entropy(few: bool) -> Iterator[Case]:
    for _, p, weights in predictions(few, ends=False, most=1000):
        q = p[::-1] * 0.75
        ratio = np.average(np.log(q) - np.log(p), weights=weights)
        found = calibrant.cross_entropy_probability(p, q, events=True, sample_weight=weights)
        true = reference.cross_entropy_probability(p, q, weights_of(p, weights))
        theirs = by_numpy(q, 0, weights), by_numpy(p, 0, weights), float(np.exp(ratio))
        parts = found.model, found.source, found.divergence
        for ours, truth, their in zip(parts, true, theirs, strict=True):
            yield case(ours, truth, peer=their)


def distributions(few: bool) -> Iterator[np.ndarray]:
    for n in (2, 10) if few else (1, 2, 3, 10, 100, 1000):
        for sharpness in (10.0, 1.0, 0.05):
            p = np.random.default_rng(n).dirichlet(np.full(n, sharpness))
            yield np.maximum(p, 1e-300)


def renyi_by_numpy(p: np.ndarray, order: float) -> float:
    if order == 1:
        return float(-np.sum(p * np.log(p)))
    return float(np.log(np.sum(p**order)) / (1 - order))


def tsallis_by_numpy(p: np.ndarray, order: float) -> float:
    return renyi_by_numpy(p, 1) if order == 1 else float((1 - np.sum(p**order)) / (order - 1))


@row(
    "Rényi and Tsallis entropy", covers="renyi_entropy tsallis_entropy", bound=2,
    unit="ulp or 2⁻⁵⁷, over abs(order − 1) where that is less than 1", peer="NumPy",
)  # fmt: skip
def entropies(few: bool) -> Iterator[Case]:
    for p in distributions(few):
        total = mpmath.fsum(p.tolist())
        for order in (0.0, 0.5, 0.999, 1.0, 1 + 1e-9, 2.0, 7.5):
            least = 2.0**-58 / min(1, abs(order - 1) or 1)
            # The sum of p is not quite 1, and divided out.
            power_sum = mpmath.fsum(mpmath.mpf(x) ** mpmath.mpf(order) for x in p.tolist()) / total
            a = mpmath.mpf(order)
            if order == 1:
                renyi = tsallis = -mpmath.fsum(x * mpmath.log(x) for x in p.tolist()) / total
            else:
                renyi, tsallis = mpmath.log(power_sum) / (1 - a), (1 - power_sum) / (a - 1)
            for function, truth, by_numpy_ in (
                (calibrant.renyi_entropy, renyi, renyi_by_numpy),
                (calibrant.tsallis_entropy, tsallis, tsallis_by_numpy),
            ):
                theirs = peer(by_numpy_, p, order)
                yield case(function(p, order), truth, least=least, peer=theirs)


@row(
    "coupling and power", covers="coupling_to_power power_to_coupling", bound=3,
    unit="ulp times what the quotient's divisor cancels",
)  # fmt: skip
def couplings(few: bool) -> Iterator[Case]:
    rng = np.random.default_rng(0)
    for _ in range(10 if few else 500):
        dimension, exponent = int(rng.integers(1, 9)), float(rng.choice([1.0, 2.0, 2.7]))
        coupling = float(10.0 ** rng.uniform(-12, 3)) * rng.choice([-1, 1])
        coupling = max(coupling, -0.999 / dimension)
        d, a, k = mpmath.mpf(dimension), mpmath.mpf(exponent), mpmath.mpf(coupling)
        options = {"dimension": dimension, "exponent": exponent}
        true, lost = -a * k / (1 + d * k), (1 + abs(d * k)) / abs(1 + d * k)
        power = calibrant.coupling_to_power(coupling, **options)
        yield case(power, true, least=reference.ulp(true) * lost)
        m = -mpmath.mpf(power)
        true, lost = m / (a - d * m), (a + abs(d * m)) / abs(a - d * m)
        yield case(
            calibrant.power_to_coupling(power, **options), true, least=reference.ulp(true) * lost
        )
