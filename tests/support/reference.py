"""Slow, obvious definitions, in exact or 60-digit arithmetic. No code shared with the library.

Every float is taken for the rational number it is, except the power nearest to -2/3, which
means -2/3.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath

DIGITS = 60


def as_mpf(x):
    """A fraction, to as many digits as mpmath works with, and 60 at least."""
    with mpmath.workdps(max(DIGITS, mpmath.mp.dps)):
        return mpmath.mpf(x.numerator) / x.denominator


def exact(x):
    """The value of a float as an mpf; -2/3 where that is meant."""
    return mpmath.mpf(-2) / 3 if x == -2 / 3 else as_mpf(Fraction(x))


def generalized_mean(values, m, weights=None):
    """(sum w v^m / sum w)^(1/m) and its limits, as an mpf."""
    with mpmath.workdps(DIGITS):
        values = [float(v) for v in values]
        weights = [1] * len(values) if weights is None else [float(w) for w in weights]
        rows = [(exact(v), exact(w)) for v, w in zip(values, weights, strict=True) if w > 0]
        if m == math.inf:
            return max(v for v, _ in rows)
        if m == -math.inf:
            return min(v for v, _ in rows)
        if m <= 0 and any(v == 0 for v, _ in rows):
            return mpmath.mpf(0)
        total = mpmath.fsum(w for _, w in rows)
        if m == 0:
            return mpmath.exp(mpmath.fsum(w * mpmath.log(v) for v, w in rows) / total)
        m = exact(m)
        # 1 + x with a tiny x must not lose x to the digits.
        with mpmath.workdps(DIGITS + max(0, int(-mpmath.log10(abs(m))))):
            mean = mpmath.fsum(w * v**m for v, w in rows) / total
            return mean ** (1 / m) if mean else mpmath.mpf(0)


def true_class_probabilities(y_true, y_proba, q_lim=0.0):
    """The probability given to what happened, clipped: floats, as the definition rounds them.

    1 - p is rounded to a float, as whoever has both columns would have it.
    """
    chosen = []
    for label, p in zip(y_true, y_proba, strict=True):
        if hasattr(p, "__len__"):
            q = float(p[int(label)])
        else:
            q = float(p) if label == 1 else 1.0 - float(p)
        chosen.append(min(max(q, q_lim), 1.0 - q_lim))
    return chosen


def risk_profile(y_true, y_proba, q_lim=0.0, weights=None):
    """(decisiveness, accuracy, robustness)."""
    q = true_class_probabilities(y_true, y_proba, q_lim)
    return tuple(generalized_mean(q, m, weights) for m in (1, 0, -2 / 3))


def renyi_entropy(p, order):
    """ln(sum p^a) / (1 - a) and its limits, in nats."""
    with mpmath.workdps(DIGITS):
        p = [exact(float(x)) for x in p if x > 0]
        if order == math.inf:
            return -mpmath.log(max(p))
        if order == 1:
            return -mpmath.fsum(x * mpmath.log(x) for x in p)
        a = exact(order)
        return mpmath.log(mpmath.fsum(x**a for x in p)) / (1 - a)


def tsallis_entropy(p, order):
    """(1 - sum p^q) / (q - 1) and its limit, in nats."""
    with mpmath.workdps(DIGITS):
        if order == 1:
            return renyi_entropy(p, 1)
        q = exact(order)
        return (1 - mpmath.fsum(exact(float(x)) ** q for x in p if x > 0)) / (q - 1)


def cross_entropy_probability(p, q, weights):
    """(prod q^w, prod p^w, prod (q/p)^w), w scaled to sum 1."""
    with mpmath.workdps(DIGITS):
        model = generalized_mean(q, 0, weights)
        source = generalized_mean(p, 0, weights)
        return model, source, model / source


def _weighted_mean(terms, weights):
    weights = [1] * len(terms) if weights is None else [exact(float(w)) for w in weights]
    pairs = zip(weights, terms, strict=True)
    return mpmath.fsum(w * t for w, t in pairs if w) / mpmath.fsum(weights)


def _columns(p):
    """All classes' probabilities: of shape (n,), that of class 0 is 1 - p, not rounded."""
    if hasattr(p, "__len__"):
        return [exact(float(x)) for x in p]
    return [1 - exact(float(p)), exact(float(p))]


def brier_score(y_true, y_proba, weights=None):
    """(p - y)^2 for a number, sum_j (p_j - [j happened])^2 for a row; averaged."""
    with mpmath.workdps(DIGITS):
        terms = []
        for label, p in zip(y_true, y_proba, strict=True):
            squares = [(x - (j == label)) ** 2 for j, x in enumerate(_columns(p))]
            terms.append(mpmath.fsum(squares) if hasattr(p, "__len__") else squares[1])
        return _weighted_mean(terms, weights)


def spherical_score(y_true, y_proba, weights=None):
    """q / sqrt(sum_j p_j^2), and 0 for a row of zeros; averaged."""
    with mpmath.workdps(DIGITS):
        terms = []
        for label, p in zip(y_true, y_proba, strict=True):
            columns = _columns(p)
            norm = mpmath.sqrt(mpmath.fsum(x * x for x in columns))
            terms.append(columns[int(label)] / norm if norm else mpmath.mpf(0))
        return _weighted_mean(terms, weights)


def log_score(y_true, y_proba, q_lim=0.0, weights=None):
    """-ln q, averaged; q is rounded to a float, as in true_class_probabilities."""
    with mpmath.workdps(DIGITS):
        q = true_class_probabilities(y_true, y_proba, q_lim)
        if any(x == 0 and w > 0 for x, w in zip(q, weights or [1] * len(q), strict=True)):
            return mpmath.inf
        return _weighted_mean([-mpmath.log(exact(x)) if x else 0 for x in q], weights)


def ulp(x):
    """The unit in the last place of the double in whose binade x lies, as an mpf."""
    exponent = mpmath.frexp(x)[1] if x else -1074
    return mpmath.ldexp(1, int(max(exponent - 53, -1074)))


def ulps(computed, true):
    """How many units in the last place of ``true`` lie between the two."""
    with mpmath.workdps(DIGITS):
        return float(abs(mpmath.mpf(computed) - true) / math.ulp(float(true)))


def within_an_ulp(computed, true):
    """Whether a mean is what is promised for |m| >= 1/8; a search of 10^5 lists found 0.72."""
    return ulps(computed, true) <= 1


def equal_count_edges(scores, n_bins, weights=None):
    """Bin k ends with the smallest score that has at least k/n_bins of the weight at or below."""
    weights = [1] * len(scores) if weights is None else weights
    rows = sorted((float(s), Fraction(w)) for s, w in zip(scores, weights, strict=True) if w > 0)
    total = sum(w for _, w in rows)
    edges = [0.0]
    for k in range(1, n_bins):
        last = min(
            score
            for score, _ in rows
            if sum(w for s, w in rows if s <= score) * n_bins >= k * total
        )
        larger = [s for s, _ in rows if s > last]
        edges.append(larger[0] if larger else 1.0)
    return [*edges, 1.0]


def bin_of(score, edges):
    """[e_k, e_k+1), the last bin closed."""
    last = len(edges) - 2
    return max(k for k in range(last + 1) if edges[k] <= score or k == 0)


def reliability(hits, scores, edges, weights=None):
    """Per bin: rows, weight, weight of hits, weighted sum of scores; all exact."""
    weights = [1] * len(scores) if weights is None else weights
    table = [[0, Fraction(0), Fraction(0), Fraction(0)] for _ in edges[1:]]
    for hit, score, weight in zip(hits, scores, weights, strict=True):
        row = table[bin_of(score, edges)]
        row[0] += 1
        row[1] += Fraction(weight)
        row[2] += Fraction(weight) * int(hit)
        row[3] += Fraction(weight) * Fraction(float(score))
    return table


def calibration_error(table, norm, debias=False):
    """The definitions of expected_calibration_error, from the table above; as an mpf."""
    total = sum(row[1] for row in table)
    filled = [row for row in table if row[1] > 0]
    gaps = [abs(hits - scores) / weight for _, weight, hits, scores in filled]
    if norm == "max":
        return as_mpf(max(gaps))
    if norm == 1:
        return as_mpf(sum(w * g for (_, w, _, _), g in zip(filled, gaps, strict=True)) / total)
    squares = Fraction(0)
    for (_, weight, hits, _), gap in zip(filled, gaps, strict=True):
        if debias and weight < 2:
            continue
        frequency = hits / weight
        noise = frequency * (1 - frequency) / (weight - 1) if debias else 0
        squares += weight * (gap**2 - noise)
    with mpmath.workdps(DIGITS):
        return mpmath.sqrt(as_mpf(max(squares / total, Fraction(0))))


def top_label_error(y_true, y_proba, bins, average, norm, weights=None, debias=False):
    """Mean of the errors of the rows of each predicted label; bins: edges, or a function of scores
    and weights that gives them. As an mpf."""
    weights = [1] * len(y_true) if weights is None else list(weights)
    by_label: dict = {}
    for y, row, w in zip(y_true, y_proba, weights, strict=True):
        values = [float(p) for p in row]
        top = values.index(max(values))
        by_label.setdefault(top, []).append((int(y) == top, max(values), w))
    errors, totals = [], []
    for rows in by_label.values():
        hits, scores, ws = zip(*rows, strict=True)
        total = sum(Fraction(w) for w in ws)
        if total == 0:
            continue
        edges = bins(scores, ws) if callable(bins) else bins
        errors.append(calibration_error(reliability(hits, scores, edges, ws), norm, debias))
        totals.append(total if average == "weighted" else Fraction(1))
    with mpmath.workdps(DIGITS):
        products = [as_mpf(t) * e for t, e in zip(totals, errors, strict=True)]
        return mpmath.fsum(products) / as_mpf(sum(totals))


def clusters(scores, n_bins, weights=None):
    """The least weighted sum of squares of n_bins clusters of scores, by trying all cuts."""
    weights = [1] * len(scores) if weights is None else weights
    values = sorted({float(s) for s, w in zip(scores, weights, strict=True) if w > 0})
    of = {v: Fraction(0) for v in values}
    for s, w in zip(scores, weights, strict=True):
        if w > 0:
            of[float(s)] += Fraction(w)

    def cost(part):
        total = sum(of[v] for v in part)
        mean = sum(of[v] * Fraction(v) for v in part) / total
        return sum(of[v] * (Fraction(v) - mean) ** 2 for v in part)

    n_bins = min(n_bins, len(values))
    return min(
        sum(cost(values[a:b]) for a, b in itertools.pairwise((0, *cuts, len(values))))
        for cuts in itertools.combinations(range(1, len(values)), n_bins - 1)
    )


def pairs(y_true, y_proba, q_lim=0.0, weights=None):
    """(class, clipped probability, did it happen, weight) of all events and classes.

    1 - p is rounded to a float, as whoever has both columns would have it.
    """
    weights = [1.0] * len(y_true) if weights is None else weights
    found = []
    for label, p, weight in zip(y_true, y_proba, weights, strict=True):
        row = [float(x) for x in p] if hasattr(p, "__len__") else [1.0 - float(p), float(p)]
        for j, q in enumerate(row):
            clipped = min(max(q, q_lim), 1.0 - q_lim)
            found.append((j, clipped, j == label, float(weight)))
    return found


def assessed_bins(rows, edges):
    """Per bin of pairs that are binned together.

    (pairs, true pairs, weight, true weight, frequency or None, the three means of the true
    pairs or None, the true weight times the logarithm of the geometric mean)
    """
    table = [[] for _ in edges[1:]]
    for row in rows:
        table[bin_of(row[1], edges)].append(row)
    bins = []
    with mpmath.workdps(DIGITS):
        for content in table:
            hits = [row for row in content if row[2]]
            weight = sum((Fraction(row[3]) for row in content), Fraction(0))
            happened = sum((Fraction(row[3]) for row in hits), Fraction(0))
            means = contribution = None
            if happened > 0:
                scores, weights = [row[1] for row in hits], [row[3] for row in hits]
                means = [generalized_mean(scores, m, weights) for m in (1, 0, -2 / 3)]
                log = mpmath.log(means[1]) if means[1] else -mpmath.inf
                contribution = mpmath.mpf(happened.numerator) / happened.denominator * log
            frequency = happened / weight if weight else None
            bins.append((len(content), len(hits), weight, happened, frequency, means, contribution))
    return bins


def source_means(frequencies):
    """G_m of (frequency, weight), both Fractions, for the three named powers."""
    with mpmath.workdps(DIGITS):
        rows = [
            (mpmath.mpf(f.numerator) / f.denominator, mpmath.mpf(w.numerator) / w.denominator)
            for f, w in frequencies
        ]
        total = mpmath.fsum(w for _, w in rows)
        means = []
        for m in (mpmath.mpf(1), mpmath.mpf(0), mpmath.mpf(-2) / 3):
            if m == 0:
                means.append(mpmath.exp(mpmath.fsum(w * mpmath.log(f) for f, w in rows) / total))
            else:
                means.append((mpmath.fsum(w * f**m for f, w in rows) / total) ** (1 / m))
        return means


def spiegelhalter(scores, hits, weights=None):
    """The Brier score less its expectation, and its variance under the null: sums over rows."""
    excess = variance = Fraction(0)
    for p, hit, w in zip(scores, hits, weights or [1] * len(scores), strict=True):
        p, w = Fraction(float(p)), Fraction(w)
        mean, square = Fraction(0), Fraction(0)
        for outcome, probability in ((1, p), (0, 1 - p)):
            mean += probability * (outcome - p) ** 2
            square += probability * (outcome - p) ** 4
        excess += w * ((int(hit) - p) ** 2 - mean)
        variance += w * (square - mean**2)
    return excess, variance


def murphy(hits, scores, edges, weights=None, bias_corrected=False):
    """REL, RES, UNC, WBV, WBC and the bins of less than two rows, from the definitions."""
    weights = [Fraction(1)] * len(scores) if weights is None else [Fraction(w) for w in weights]
    rows = [
        (int(y), Fraction(float(s)), w, bin_of(s, edges))
        for y, s, w in zip(hits, scores, weights, strict=True)
        if w > 0
    ]
    total = sum(w for _, _, w, _ in rows)
    base_rate = sum(w * y for y, _, w, _ in rows) / total
    rel = res = wbv = wbc = bias = Fraction(0)
    uncorrected = 0
    for k in {k for *_, k in rows}:
        members = [(y, s, w) for y, s, w, bin_k in rows if bin_k == k]
        n_k = sum(w for _, _, w in members)
        f_k = sum(w * s for _, s, w in members) / n_k
        o_k = sum(w * y for y, _, w in members) / n_k
        rel += n_k * (f_k - o_k) ** 2
        res += n_k * (o_k - base_rate) ** 2
        wbv += sum(w * (s - f_k) ** 2 for _, s, w in members)
        wbc += 2 * sum(w * (s - f_k) * (y - o_k) for y, s, w in members)
        if n_k >= 2:
            bias += n_k * o_k * (1 - o_k) / (n_k - 1)
        else:
            uncorrected += 1
    unc = base_rate * (1 - base_rate)
    if not bias_corrected:
        return rel / total, res / total, unc, wbv / total, wbc / total, 0
    more = unc / (total - 1)
    rel, res = (rel - bias) / total, (res - bias) / total + more
    return rel, res, unc + more, wbv / total, wbc / total, uncorrected


def isotonic_fit(hits, scores, weights=None):
    """{score: fit} by the min-max formula: max over a <= i of min over b >= i of mean(a..b)."""
    weights = [Fraction(1)] * len(scores) if weights is None else [Fraction(w) for w in weights]
    pools = {}
    for y, s, w in zip(hits, scores, weights, strict=True):
        if w > 0:
            weight, hit = pools.get(float(s) + 0.0, (0, 0))
            pools[float(s) + 0.0] = weight + w, hit + w * int(y)
    order = sorted(pools)
    weight_to, hits_to = [Fraction(0)], [Fraction(0)]
    for s in order:
        weight_to.append(weight_to[-1] + pools[s][0])
        hits_to.append(hits_to[-1] + pools[s][1])

    def mean(a, b):  # of a, ..., b
        return (hits_to[b + 1] - hits_to[a]) / (weight_to[b + 1] - weight_to[a])

    n = len(order)
    return {
        order[i]: max(min(mean(a, b) for b in range(i, n)) for a in range(i + 1)) for i in range(n)
    }


def corp(hits, scores, weights=None):
    """MCB, DSC, UNC: differences between the scores of forecast, isotonic fit and base rate."""
    weights = [Fraction(1)] * len(scores) if weights is None else [Fraction(w) for w in weights]
    total = sum(weights)
    fit = isotonic_fit(hits, scores, weights)
    base_rate = sum(w * int(y) for y, w in zip(hits, weights, strict=True)) / total

    def score(forecast):
        rows = zip(hits, scores, weights, strict=True)
        return sum(w * (forecast(float(s) + 0.0) - int(y)) ** 2 for y, s, w in rows if w) / total

    fitted = score(fit.get)
    return score(Fraction) - fitted, score(lambda _: base_rate) - fitted, score(lambda _: base_rate)


def walk(scores, hits, weights=None):
    """Cumulative differences, their variance and the weight: [C W after each score], V, W."""
    weights = [1] * len(scores) if weights is None else weights
    rows = sorted(
        (Fraction(float(s)), int(y), Fraction(w))
        for s, y, w in zip(scores, hits, weights, strict=True)
        if w > 0
    )
    places = [Fraction(0)]
    for _, tie in itertools.groupby(rows, key=lambda row: row[0]):
        places.append(places[-1] + sum(w * (y - s) for s, y, w in tie))
    return places, sum(w * s * (1 - s) for s, _, w in rows), sum(w for *_, w in rows)


def ks_and_kuiper(scores, hits, weights=None):
    """Both statistics, to 60 digits."""
    places, variance, _ = walk(scores, hits, weights)
    found = max(map(abs, places)), max(places) - min(places)
    with mpmath.workdps(DIGITS):
        if variance == 0:
            return tuple(mpmath.inf if x else mpmath.mpf(0) for x in found)
        root = mpmath.sqrt(mpmath.mpf(variance.numerator) / variance.denominator)
        return tuple(mpmath.mpf(x.numerator) / x.denominator / root for x in found)


def ks_and_kuiper_of_many(scores, hits):
    """The same for rows of weight 1, in whole multiples of 2^-1074."""
    one = 2**1074
    whole = [a * (one // b) for a, b in (float(s).as_integer_ratio() for s in scores)]
    rows = sorted(zip(whole, map(int, hits), strict=True))
    places = [0]
    for _, tie in itertools.groupby(rows, key=lambda row: row[0]):
        places.append(places[-1] + sum(y * one - s for s, y in tie))
    variance = sum(s * (one - s) for s in whole)  # in multiples of 2^-2148
    found = max(map(abs, places)), max(places) - min(places)
    with mpmath.workdps(DIGITS):
        if variance == 0:
            return tuple(mpmath.inf if x else mpmath.mpf(0) for x in found)
        return tuple(mpmath.mpf(x) / mpmath.sqrt(mpmath.mpf(variance)) for x in found)


def subpopulation_walk(scores, hits, members, weights=None):
    """Deviations of the members from all rows: [D after each of their scores], variance, weight.

    Each row belongs to the member score that is nearest, the lower of two.
    """
    weights = [1] * len(scores) if weights is None else weights
    rows = [
        (Fraction(float(s)), int(y), bool(m), Fraction(w))
        for s, y, m, w in zip(scores, hits, members, weights, strict=True)
        if w > 0
    ]
    centres = sorted({s for s, _, m, _ in rows if m})
    windows = {centre: [] for centre in centres}
    for row in rows:
        windows[min(centres, key=lambda c: (abs(row[0] - c), c))].append(row)
    places, variance, weight = [Fraction(0)], Fraction(0), Fraction(0)
    for centre in centres:
        window = windows[centre]
        whole, whole_hits = sum(w for *_, w in window), sum(y * w for _, y, _, w in window)
        part = sum(w for _, _, m, w in window if m)
        part_hits = sum(y * w for _, y, m, w in window if m)
        rate = whole_hits / whole
        places.append(places[-1] + part_hits - part * rate)
        weight += part
        if part < whole:
            rest = min(1, (whole - part) / (whole - 1)) if whole > 1 else 1
            variance += part * rate * (1 - rate) * rest
    return places, variance, weight


def subpopulation_ks_and_kuiper(scores, hits, members, weights=None):
    """Both statistics, as floats; 0 where there is no variance."""
    places, variance, _ = subpopulation_walk(scores, hits, members, weights)
    found = max(map(abs, places)), max(places) - min(places)
    with mpmath.workdps(DIGITS):
        if variance == 0:
            return 0.0, 0.0
        root = mpmath.sqrt(mpmath.mpf(variance.numerator) / variance.denominator)
        return tuple(float(mpmath.mpf(x.numerator) / x.denominator / root) for x in found)
