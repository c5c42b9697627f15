"""The Fréchet distance of two samples; public in `calibrant.samples`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant import _core
from calibrant._result import ArraysResult
from calibrant._runtime.interruptible import answering_signals
from calibrant._runtime.linear_algebra import (
    Floats,
    product,
    require_symmetric,
    singular_values,
    symmetrized,
    triangular_factor,
)

__all__ = ["SampleMoments", "frechet_distance"]


@dataclass(frozen=True, repr=False, eq=False)
class SampleMoments(ArraysResult):
    """Mean and covariance of a sample.

    Attributes
    ----------
    mean : array of shape (d,)
    covariance : array of shape (d, d)
        Over n - 1.
    n : int
        Rows; 0 if they are not known.
    """

    mean: Floats
    covariance: Floats
    n: int = 0

    def __repr__(self) -> str:
        features = "1 feature" if len(self.mean) == 1 else f"{len(self.mean)} features"
        return f"SampleMoments of {self.n} rows with {features}"


Sample = ArrayLike | SampleMoments | tuple[ArrayLike, ArrayLike]


def frechet_distance(x: Sample, y: Sample) -> float:
    r"""Squared Fréchet distance of the normal laws with the moments of two samples.

    .. math:: |\mu_x - \mu_y|^2 + \operatorname{tr} C_x + \operatorname{tr} C_y
              - 2 \operatorname{tr}\,(C_x C_y)^{1/2}

    with covariances over n - 1. Of the features of an image network it is known as FID. The last
    trace is the sum of the singular values of :math:`L_x^T L_y`, for any factors with
    :math:`C = L L^T`: the centred rows themselves where there are fewer of them than columns, and
    their triangular factor otherwise. No square root of a matrix is taken, and a singular
    covariance does no harm. A result that rounding made negative is 0.

    Ctrl-C is answered at once. LAPACK cannot be stopped, though: the decomposition under way goes
    on in a thread of its own until it is done, and is dropped.

    It is too large by about a constant over n: compare only samples of equal size.

    Parameters
    ----------
    x, y : array of shape (n, d) or (n,), or SampleMoments, or tuple (mean, covariance)
        Rows, finite, at least two; or their moments, as `streaming.Moments` gives them. The two
        need not be of the same kind.

    Examples
    --------
    >>> x, y = [[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]], [[1.0, 1.0], [3.0, 1.0], [1.0, 3.0]]
    >>> round(frechet_distance(x, y), 12)
    2.0
    >>> round(frechet_distance(([0, 0], [[2, 1], [1, 2]]), ([1, 2], [[1, 0], [0, 3]])), 12)
    5.516685226452
    """
    x_mean, x_factor = _mean_and_factor(x, "x")
    y_mean, y_factor = _mean_and_factor(y, "y")
    if len(x_mean) != len(y_mean):
        raise ValueError(
            f"x and y must have the same columns, found {len(x_mean)} and {len(y_mean)}"
        )
    with np.errstate(over="ignore", under="ignore"):
        difference = x_mean - y_mean
        # All by a common power of two: sums of squares then neither overflow nor vanish.
        scale = _scale_of(difference, x_factor, y_factor)
        x_factor, y_factor = x_factor / scale, y_factor / scale
        traces = _sum_of_squares(x_factor) + _sum_of_squares(y_factor)
        common = math.fsum(singular_values(product(x_factor, y_factor.T)))
        distance = _sum_of_squares(difference / scale) + (traces - 2.0 * common)
        return max(0.0, float(distance * scale * scale))


def _mean_and_factor(sample: Any, name: str) -> tuple[Floats, Floats]:
    """The mean, and F with F^T F the covariance."""
    if isinstance(sample, SampleMoments):
        return _of_moments(sample.mean, sample.covariance, name)
    if isinstance(sample, tuple) and len(sample) == 2 and np.ndim(sample[1]) == 2:
        return _of_moments(*sample, name)
    rows = _core.features(sample, name, False)
    if len(rows) < 2:
        raise ValueError(f"a covariance needs at least 2 rows, got {len(rows)} of {name}")
    with np.errstate(over="ignore", invalid="ignore"):
        mean = rows.mean(axis=0)
        rows -= mean  # our own copy
        rest = rows.mean(axis=0)  # what rounding left, where the mean is large
        rows -= rest
    if not np.isfinite(rest).all():
        raise ValueError(f"{name} must be small enough for sums of its rows, which overflow")
    scale = _scale_of(rows)
    rows /= scale
    return mean + rest, triangular_factor(rows) * (scale / math.sqrt(len(rows) - 1))


def _of_moments(mean: Any, covariance: Any, name: str) -> tuple[Floats, Floats]:
    centre = _core.features(mean, f"the mean of {name}", False)[:, 0]
    matrix = _core.features(covariance, f"the covariance of {name}", False)
    width = len(centre)
    if matrix.shape != (width, width):
        raise ValueError(
            f"the covariance of {name} must have shape ({width}, {width}), as its mean has, "
            f"got {matrix.shape}"
        )
    largest = float(np.abs(matrix).max())
    require_symmetric(matrix, f"the covariance of {name}", 1e-8 * largest)
    values, vectors = answering_signals(np.linalg.eigh, symmetrized(matrix), work=9 * width**3)
    if values[0] < -1e-8 * largest:
        raise ValueError(
            f"the covariance of {name} must have no negative eigenvalue, found {values[0]}"
        )
    noise = width * np.finfo(np.float64).eps * max(values[-1], 0.0)
    return centre, np.sqrt(np.where(values > noise, values, 0.0))[:, None] * vectors.T


def _scale_of(*arrays: Floats) -> float:
    largest = max(max(float(a.max()), -float(a.min())) for a in arrays)
    return math.ldexp(1.0, math.frexp(largest)[1]) if 0.0 < largest < math.inf else 1.0


def _sum_of_squares(a: Floats) -> float:
    return float(np.vdot(a, a))
