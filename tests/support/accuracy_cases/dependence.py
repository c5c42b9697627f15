"""Dependence and MMD."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import mpmath
import numpy as np
from mapie.metrics import regression as mapie

import calibrant
from accuracy_cases import Case, case, peer, row

KERNELS = ("gaussian", "laplace")


def kernel_less_one(a, b, h, kernel) -> mpmath.mpf:
    """k - 1, which neither HSIC nor MMD tells from k."""
    gaps = [mpmath.mpf(s) - mpmath.mpf(t) for s, t in zip(a, b, strict=True)]
    if kernel == "gaussian":
        return mpmath.expm1(-mpmath.fsum(gap**2 for gap in gaps) / (2 * mpmath.mpf(h) ** 2))
    return mpmath.expm1(-mpmath.fsum(map(abs, gaps)) / mpmath.mpf(h))


def rows_of(x: np.ndarray) -> list[list[float]]:
    return x.reshape(len(x), -1).tolist()


def matrix(x, y, h, kernel) -> list[list[mpmath.mpf]]:
    return [[kernel_less_one(a, b, h, kernel) for b in rows_of(y)] for a in rows_of(x)]


def centred_product(k, m) -> mpmath.mpf:
    """trace(KHLH)."""
    n = len(k)
    of_k, of_m = ([mpmath.fsum(row) for row in table] for table in (k, m))
    product = mpmath.fsum(k[i][j] * m[i][j] for i in range(n) for j in range(n))
    cross = mpmath.fsum(a * b for a, b in zip(of_k, of_m, strict=True))
    return product - 2 * cross / n + mpmath.fsum(of_k) * mpmath.fsum(of_m) / n**2


def hsic_by_numpy(x, y, h, kernel) -> float:
    def centred(v):
        v = v.reshape(len(v), -1)
        gaps = v[:, None] - v
        d = (gaps**2).sum(-1) / (2 * h * h) if kernel == "gaussian" else np.abs(gaps).sum(-1) / h
        k = np.exp(-d)
        return k - k.mean(0) - k.mean(1)[:, None] + k.mean()

    return float((centred(x) * centred(y)).sum()) / len(x) ** 2


def samples(few: bool) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    n = 12 if few else 40
    rng = np.random.default_rng(11)
    x = rng.normal(size=n)
    yield x, x**2 + 0.1 * rng.normal(size=n)
    yield x, rng.exponential(size=n)
    yield 1e6 + x, rng.integers(0, 3, n).astype(float)
    yield 10.0 ** rng.uniform(-6, 6, n), rng.random(n)
    yield rng.normal(size=(n, 3)), np.stack([x, x * rng.normal(size=n)], axis=1)


BANDWIDTHS = (1e-2, 1.0, 1e2)


@row("HSIC, biased", covers="hsic", bound=4500, peer="NumPy")
def hsic(few: bool) -> Iterator[Case]:
    for x, y in samples(few):
        for kernel, h in itertools.product(KERNELS, BANDWIDTHS[1:2] if few else BANDWIDTHS):
            found = calibrant.hsic(x, y, bandwidth=(h, h), kernel=kernel).hsic
            with mpmath.workdps(50):
                true = centred_product(matrix(x, x, h, kernel), matrix(y, y, h, kernel))
            yield case(found, true / len(x) ** 2, peer=hsic_by_numpy(x, y, h, kernel))


def centred(k) -> list[list[mpmath.mpf]]:
    n = len(k)
    means = [mpmath.fsum(row) / n for row in k]
    middle = mpmath.fsum(means) / n
    return [[k[i][j] - means[i] - means[j] + middle for j in range(n)] for i in range(n)]


@row(
    "HSIC, unbiased", covers="", bound=9, unit="ulp of the largest of its three terms",
)  # fmt: skip
def unbiased_hsic(few: bool) -> Iterator[Case]:
    for x, y in samples(few):
        n = len(x)
        for kernel in KERNELS:
            found = calibrant.hsic(x, y, bandwidth=(1.0, 1.0), kernel=kernel, estimator="unbiased")
            with mpmath.workdps(50):
                k, m = matrix(x, x, 1.0, kernel), matrix(y, y, 1.0, kernel)
                of_k, of_m = ([mpmath.fsum(line) for line in table] for table in (k, m))
                first = mpmath.fsum(k[i][j] * m[i][j] for i in range(n) for j in range(n))
                second = mpmath.fsum(of_k) * mpmath.fsum(of_m) / ((n - 1) * (n - 2))
                cross = mpmath.fsum(a * b for a, b in zip(of_k, of_m, strict=True))
                third = 2 * cross / (n - 2)
                true = (first + second - third) / (n * (n - 3))
            yield case(found.hsic, true, scale=max(first, second, third) / (n * (n - 3)))


@row(
    "HSIC test: mean and variance over all orders, p-value of the gamma law", covers="hsic_test",
    bound=4500,
)  # fmt: skip
def hsic_null(few: bool) -> Iterator[Case]:
    for x, y in itertools.islice(samples(few), 2 if few else None):
        x, y, n = x[:6], y[:6], 6
        found = calibrant.hsic_test(x, y, bandwidth=(1.0, 1.0))
        with mpmath.workdps(50):
            k, m = (centred(matrix(s, s, 1.0, "gaussian")) for s in (x, y))
            values = [
                mpmath.fsum(
                    k[i][j] * m[a][b] for i, a in enumerate(order) for j, b in enumerate(order)
                )
                / n**2
                for order in itertools.permutations(range(n))
            ]
            mean = mpmath.fsum(values) / len(values)
            variance = mpmath.fsum((value - mean) ** 2 for value in values) / len(values)
            p = mpmath.gammainc(
                mean**2 / variance, values[0] * mean / variance, mpmath.inf, regularized=True
            )
        yield case(found.null_mean, mean)
        yield case(found.null_variance, variance)
        yield case(found.pvalue, p)


@row(
    "coverage HSIC, biased", covers="coverage_hsic streaming.CoverageHSIC", bound=450, peer="MAPIE"
)
def coverage_hsic(few: bool) -> Iterator[Case]:
    n = 20 if few else 60
    rng = np.random.default_rng(3)
    widths = (
        rng.exponential(size=n) + 2, 10.0 ** rng.uniform(-6, 6, n), rng.integers(1, 4, n) / 2.0,
    )  # fmt: skip
    for width, h, g in itertools.product(
        widths, BANDWIDTHS[1:2] if few else BANDWIDTHS, (1.0, 0.5)
    ):
        covered = rng.random(n) < width / (1 + width)
        covered[:2] = 0, 1
        y, bounds = np.where(covered, 0.0, -1.0), np.stack([np.zeros(n), width], axis=1)
        found = calibrant.coverage_hsic(y, bounds, bandwidths=(h, g)).hsic
        with mpmath.workdps(50):
            factor = 2 * (1 - mpmath.exp(-1 / (2 * mpmath.mpf(g) ** 2)))
            mean = mpmath.mpf(int(covered.sum())) / n
            a = [mpmath.mpf(int(c)) - mean for c in covered]
            k = matrix(width, width, h, "gaussian")
            form = mpmath.fsum(a[i] * a[j] * (k[i][j] + 1) for i in range(n) for j in range(n))
            true = factor * form / n**2
        theirs = peer(mapie.hsic, y, bounds[:, :, None], kernel_sizes=(2 * h * h, 2 * g * g))
        theirs = float(np.ravel(theirs)[0]) ** 2 * (n - 1) ** 2 / n**2
        yield case(found, true, peer=theirs)


def mmd_by_numpy(x, y, h, kernel) -> float:
    def mean(a, b):
        gaps = a.reshape(len(a), 1, -1) - b.reshape(1, len(b), -1)
        d = (gaps**2).sum(-1) / (2 * h * h) if kernel == "gaussian" else np.abs(gaps).sum(-1) / h
        return np.exp(-d).mean()

    return float(mean(x, x) + mean(y, y) - 2 * mean(x, y))


@row(
    "MMD, biased and unbiased", covers="mmd mmd_test", bound=9, unit="ulp of the largest 1 − k",
    peer="NumPy",
)  # fmt: skip
def mmd(few: bool) -> Iterator[Case]:
    for x, y in samples(few):
        if x.ndim != y.ndim or x.shape[1:] != y.shape[1:]:
            y = y[:, :1] * np.ones(x.shape)
        for kernel, h in itertools.product(KERNELS, BANDWIDTHS[1:2] if few else BANDWIDTHS):
            with mpmath.workdps(50):
                tables = [matrix(a, b, h, kernel) for a, b in ((x, x), (y, y), (x, y))]
            scale = max(-value for table in tables for row in table for value in row)
            xx, yy, xy = (mpmath.fsum(map(mpmath.fsum, table)) for table in tables)
            n, m = len(x), len(y)
            yield case(
                calibrant.mmd(x, y, bandwidth=h, kernel=kernel),
                xx / n**2 + yy / m**2 - 2 * xy / (n * m), scale=scale,
                peer=mmd_by_numpy(x, y, h, kernel),
            )  # fmt: skip
            yield case(
                calibrant.mmd(x, y, bandwidth=h, kernel=kernel, estimator="unbiased"),
                xx / (n * (n - 1)) + yy / (m * (m - 1)) - 2 * xy / (n * m), scale=scale,
            )  # fmt: skip


@row(
    "MMD, linear: value and standard error", covers="", bound=9, unit="ulp of the largest 1 − k",
)  # fmt: skip
def linear_mmd(few: bool) -> Iterator[Case]:
    for x, y in samples(few):
        if x.shape[1:] != y.shape[1:]:
            continue
        found = calibrant.mmd_test(x, y, bandwidth=1.0, estimator="linear")
        a, b = rows_of(x), rows_of(y)

        def k(s, t):
            return kernel_less_one(s, t, 1.0, "gaussian")

        terms = [
            k(a[i], a[i + 1]) + k(b[i], b[i + 1]) - k(a[i], b[i + 1]) - k(a[i + 1], b[i])
            for i in range(0, len(a) // 2 * 2, 2)
        ]
        n = len(terms)
        mean = mpmath.fsum(terms) / n
        error = mpmath.sqrt(mpmath.fsum((t - mean) ** 2 for t in terms) / (n - 1) / n)
        yield case(found.statistic, mean, scale=1)
        yield case(found.standard_error, error, scale=1)


@row("median of distances", covers="median_bandwidth", bound=2, peer="NumPy")
def median(few: bool) -> Iterator[Case]:
    for x, y in samples(few):
        if x.shape[1:] != y.shape[1:]:
            continue
        pooled = rows_of(np.concatenate([x, y]))
        distances = sorted(
            mpmath.sqrt(mpmath.fsum((mpmath.mpf(s) - t) ** 2 for s, t in zip(a, b, strict=True)))
            for a, b in itertools.combinations(pooled, 2)
        )
        middle = (distances[(len(distances) - 1) // 2] + distances[len(distances) // 2]) / 2
        points = np.array(pooled)
        first, second = np.triu_indices(len(points), 1)
        theirs = np.median(np.sqrt(((points[first] - points[second]) ** 2).sum(1)))
        yield case(calibrant.median_bandwidth(x, y), middle, peer=theirs)
