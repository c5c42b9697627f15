"""HSIC beside MAPIE, hyppo and NumPy, all of which make n x n matrices; and beside reading."""

import numpy as np

import calibrant
from bench.case import Case, Peer, benchmarks, yardstick
from calibrant.intervals._hsic import mapie_hsic

#: 4,000 rows are where the matrices of the peers still fit.
FEW = 4000
READING = yardstick("reading both columns", lambda x, y: (x.sum(), y.sum()))


def widths(n):
    rng = np.random.default_rng(2)
    width = rng.exponential(size=n) + 0.5
    return rng.normal(size=n), -width, width


def pairs(n):
    rng = np.random.default_rng(3)
    x = rng.normal(size=n)
    return x, x + rng.normal(size=n)


def kernels(x):
    return np.exp(-((x[:, None] - x) ** 2) / 2)


def numpy_hsic(x, y):
    """Centred on one side; the trace as a sum of products."""
    k, m = kernels(x), kernels(y)
    k -= k.mean(0)
    k -= k.mean(1)[:, None]
    return np.sum(k * m) / x.size**2


def hyppo_hsic(x, y):
    from hyppo.independence import Hsic

    return Hsic(bias=True, gamma=0.5).statistic(x[:, None], y[:, None])


def as_hyppo(x, y):
    xy, xx, yy = (calibrant.hsic(a, b, bandwidth=1.0).hsic for a, b in ((x, y), (x, x), (y, y)))
    return np.sqrt(xy / np.sqrt(xx * yy))


def mapie(y, low, high):
    from mapie.metrics.regression import hsic

    return hsic(y, np.stack([low, high], axis=1))


test_dependence = benchmarks(
    Case("coverage_hsic", widths, lambda y, low, high: calibrant.coverage_hsic(y, (low, high)),
         (Peer("MAPIE", mapie, needs="mapie.metrics.regression",
               expected=lambda y, low, high: mapie_hsic(y, np.stack([low, high], axis=1)),
               differs="the root, kernels of another scale, and n - 1 for n", most=FEW),
          yardstick("np.sum of the widths", lambda y, low, high: high.sum())),
         answer=lambda found: found.hsic, sizes=(FEW, 10**7)),
    Case("hsic, Gaussian", pairs, lambda x, y: calibrant.hsic(x, y, bandwidth=1.0),
         (Peer("NumPy", numpy_hsic, most=FEW),
          Peer("hyppo", hyppo_hsic, needs="hyppo.independence", expected=as_hyppo,
               differs="the root of a correlation: HSIC(x, y) over that of x and of y", most=FEW),
          READING), answer=lambda found: found.hsic, sizes=(FEW, 10**6)),
    Case("hsic, Laplace", pairs, lambda x, y: calibrant.hsic(x, y, bandwidth=1.0, kernel="laplace"),
         (READING,), check=lambda data, found: np.testing.assert_array_less(0, found.hsic),
         sizes=(FEW, 10**6)),
)  # fmt: skip
