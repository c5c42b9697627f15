"""Calibration errors and the assessment."""

from __future__ import annotations

import math
from collections.abc import Iterator

import mpmath
import numpy as np

import calibrant
import reference
from accuracy_cases import Case, case, peer, row
from accuracy_cases.inputs import classes, listed, predictions, weights_of
from calibrant import streaming

EDGES = [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0]
MANY_EDGES = [k / 100 for k in range(101)]
NORMS: tuple[tuple, ...] = ((1, False), (2, False), (2, True), ("max", False))


def by_numpy(y, p, edges, weights, norm) -> float:
    w = weights_of(p, weights)
    which = np.clip(np.searchsorted(edges, p, side="right") - 1, 0, len(edges) - 2)
    n, hits, scores = (np.bincount(which, x, len(edges) - 1) for x in (w, w * y, w * p))
    used = n > 0
    gap = np.abs(hits[used] - scores[used]) / n[used]
    share = n[used] / n.sum()
    return float({1: share @ gap, 2: np.sqrt(share @ gap**2), "max": gap.max()}[norm])


def errors(few: bool, norms: tuple[tuple, ...], most: int = 10_000) -> Iterator[Case]:
    for edges in (EDGES, MANY_EDGES):
        yield from errors_by(edges, few, norms, most)


def errors_by(edges: list[float], few: bool, norms: tuple[tuple, ...], most: int) -> Iterator[Case]:
    for y, p, weights in predictions(few, most=most):
        table = reference.reliability(y, p.tolist(), edges, listed(weights))
        for norm, debias in norms:
            if debias and weights is not None:
                continue
            found = calibrant.expected_calibration_error(
                y, p, n_bins=edges, norm=norm, debias=debias, sample_weight=weights
            )
            true = reference.calibration_error(table, norm, debias)
            theirs = None if debias else by_numpy(y, p, edges, weights, norm)
            if not debias:
                yield case(found, true, least=2.0**-511 if norm == 2 else 0, peer=theirs)
            elif true:  # the root of a difference
                squares = reference.calibration_error(table, 2) ** 2
                yield case(found, true, least=reference.ulp(squares) / true)


@row(
    "expected calibration error, norm 1", covers="expected_calibration_error", bound=1,
    peer="NumPy",
)  # fmt: skip
def mean_gap(few: bool) -> Iterator[Case]:
    return errors(few, NORMS[:1])


@row(
    "calibration error, norm 2", covers="streaming.Reliability", bound=4,
    unit="ulp or 2⁻⁵¹¹; with debias, ulp of the squares over the value", peer="NumPy",
)  # fmt: skip
def root_mean_square_gap(few: bool) -> Iterator[Case]:
    return errors(few, NORMS[1:3], most=1000)


@row("maximum calibration error", covers="maximum_calibration_error", bound=1, peer="NumPy")
def largest_gap(few: bool) -> Iterator[Case]:
    return errors(few, NORMS[3:], most=1000)


@row("mean calibration error", covers="mean_calibration_error", bound=1)
def mean_difference(few: bool) -> Iterator[Case]:
    for y, p, weights in predictions(few, most=1000):
        _, weight, hits, scores = reference.reliability(y, p.tolist(), [0, 1], listed(weights))[0]
        found = calibrant.mean_calibration_error(y, p, sample_weight=weights)
        yield case(found, (scores - hits) / weight)


@row(
    "top-label and class-wise calibration error", covers="top_label_ece classwise_ece", bound=2,
    peer="NumPy",
)  # fmt: skip
def of_classes(few: bool) -> Iterator[Case]:
    for y, p, weights in classes(few):
        top, listing = p.argmax(axis=1), listed(weights)
        options = {"n_bins": EDGES, "sample_weight": weights}
        found = calibrant.top_label_ece(y, p, average="pooled", **options)
        table = reference.reliability(top == y, p.max(axis=1).tolist(), EDGES, listing)
        theirs = by_numpy(top == y, p.max(axis=1), EDGES, weights, 1)
        yield case(found, reference.calibration_error(table, 1), peer=theirs)
        for average in ("macro", "weighted"):
            found = calibrant.top_label_ece(y, p, average=average, **options)
            yield case(found, reference.top_label_error(y, p, EDGES, average, 1, listing))
        columns = [(y == j, p[:, j]) for j in range(p.shape[1])]
        tables = [reference.reliability(hit, s.tolist(), EDGES, listing) for hit, s in columns]
        true = sum(reference.calibration_error(t, 1) for t in tables) / len(columns)
        theirs = np.mean([by_numpy(hit, s, EDGES, weights, 1) for hit, s in columns])
        found = calibrant.classwise_ece(y, p, n_bins=EDGES, sample_weight=weights)
        yield case(found, true, peer=theirs)


@row("reliability bins: weights, means, frequencies", covers="reliability_bins", bound=1)
def bins(few: bool) -> Iterator[Case]:
    for y, p, weights in predictions(few, most=1000):
        found = calibrant.reliability_bins(y, p, n_bins=EDGES, sample_weight=weights)
        table = reference.reliability(y, p.tolist(), EDGES, listed(weights))
        for k, (_, weight, hits, scores) in enumerate(table):
            if weight:
                yield case(found.weights[k], weight)
                yield case(found.hits[k], hits)
                yield case(found.mean_scores[k], scores / weight)
                yield case(found.frequencies[k], hits / weight)


def smoothed(y, p, bandwidth) -> mpmath.mpf:
    """The integral, in closed form between the places where the smoothed residual is 0."""
    far = range(-math.ceil(8 * bandwidth) - 1, math.ceil(8 * bandwidth) + 2)
    sources = [
        (image, mpmath.mpf(int(label)) - score)
        for label, score in zip(y.tolist(), p.tolist(), strict=True)
        for turn in far
        for image in (2 * turn + mpmath.mpf(score), 2 * turn - mpmath.mpf(score))
    ]

    def density(t):
        return mpmath.fsum(r * mpmath.exp(-(((t - x) / bandwidth) ** 2) / 2) for x, r in sources)

    def below(t):
        root = bandwidth * mpmath.sqrt(2)
        return mpmath.fsum(r * mpmath.erf((t - x) / root) for x, r in sources) / 2

    x, r = np.array([(float(a), float(b)) for a, b in sources]).T
    t = np.linspace(0, 1, 2001)
    width = float(bandwidth)
    sign = np.sign(np.exp(-(((t[:, None] - x) / width) ** 2) / 2) @ r)
    cuts = [mpmath.mpf(0)]
    for i in np.flatnonzero(sign[1:] * sign[:-1] < 0):
        ends = mpmath.mpf(float(t[i])), mpmath.mpf(float(t[i + 1]))
        cuts.append(mpmath.findroot(density, ends, solver="anderson", tol=1e-40))
    cuts.append(mpmath.mpf(1))
    values = [below(cut) for cut in cuts]
    pieces = zip(values[1:], values[:-1], strict=True)
    return mpmath.fsum(abs(b - a) for b, a in pieces) / len(y)


@row(
    "smooth calibration error", covers="smooth_calibration_error", bound=1,
    unit="5·10⁻⁵ of the value: it is taken on a grid",
)  # fmt: skip
def smooth(few: bool) -> Iterator[Case]:
    for n in (1, 4) if few else (1, 2, 5, 12, 40):
        for bandwidth in (0.2, 0.05) if few else (1.0, 0.3, 0.1, 0.05, 0.02):
            rng = np.random.default_rng(n)
            p = rng.random(n)
            y = (rng.random(n) < p**2).astype(int)
            with mpmath.workdps(40):
                found = calibrant.smooth_calibration_error(y, p, bandwidth=bandwidth)
                true = smoothed(y, p, mpmath.mpf(bandwidth))
                yield Case(found, true, 5e-5 * true)
                # It falls as the bandwidth grows: the solution lies between these two.
                found = calibrant.smooth_calibration_error(y, p)
                other = smoothed(y, p, mpmath.mpf(found))
                yield Case(found, other, 5e-5 * other)


def assessed(few: bool) -> Iterator[tuple]:
    """Result, model, source."""
    for y, p, weights in predictions(few, ends=False, most=1000, least=2):
        result = peer(calibrant.assess, y, p, n_bins=EDGES, sample_weight=weights)
        table = reference.assessed_bins(reference.pairs(y, p, weights=listed(weights)), EDGES)
        source = reference.source_means([(b[4], b[3]) for b in table if b[3]])
        yield result, reference.risk_profile(y, p, weights=listed(weights)), source


def profile(found) -> tuple[float, float, float]:
    return found.decisiveness, found.accuracy, found.robustness


@row(
    "assessment: model, source and divergence", covers="assess streaming.Assessment", bound=1.5,
)  # fmt: skip
def assessment(few: bool) -> Iterator[Case]:
    for result, model, source in assessed(few):
        divergence = [a / b for a, b in zip(model, source, strict=True)]
        for part, truth in (
            (result.model, model), (result.source, source), (result.divergence, divergence),
        ):  # fmt: skip
            for found, true in zip(profile(part), truth, strict=True):
                yield case(found, true)


@row(
    "assessment: the angle", covers="", bound=2,
    unit="ulp, or 57° · ulp of the means over their spreads",
)  # fmt: skip
def angle(few: bool) -> Iterator[Case]:
    for result, model, source in assessed(few):
        rise, run = model[0] - model[2], source[0] - source[2]
        if max(rise, run) > 1e-12:
            noise = (reference.ulp(model[0]) + reference.ulp(source[0])) / mpmath.hypot(rise, run)
            true = mpmath.degrees(mpmath.atan2(rise, run))
            yield case(result.angle, true, least=mpmath.degrees(noise))


@row(
    "bounds from a score table: how far outside the truth lies",
    covers="streaming.ScoreTable", bound=1,
)  # fmt: skip
def table_bounds(few: bool) -> Iterator[Case]:
    for y, p, weights in predictions(few, most=1000):
        state = streaming.ScoreTable()
        state.update(y, p, sample_weight=weights)
        edges = reference.equal_count_edges(p.tolist(), 4, listed(weights)) if len(p) < 50 else None
        for strategy, cuts, bins in (("quantile", edges, 4), ("uniform", EDGES, EDGES)):
            if cuts is None:
                continue
            bounds = state.expected_calibration_error(n_bins=bins, strategy=strategy)
            truth = reference.calibration_error(
                reference.reliability(y, p.tolist(), cuts, listed(weights)), 1
            )
            yield case(min(max(truth, bounds.low), bounds.high), truth)
