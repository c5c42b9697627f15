"""The coupled Gaussian: one shape parameter from compact support over the Gaussian to heavy tails.

Nelson, "Reduced perplexity: a simplified perspective on assessing probabilistic forecasts" (2017),
equation 14, with the exponent's sign corrected (docs/guide/distributions.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant._input.columns import read_numbers
from calibrant._input.validation import checked_count, checked_number
from calibrant._result import Result
from calibrant._runtime.interruptible import answering_signals
from calibrant._runtime.linear_algebra import product
from calibrant._runtime.public_module import public_in

__all__ = ["CoupledGaussian", "CoupledGaussianFit", "class_posterior"]


def __dir__() -> list[str]:
    return __all__


#: Below this size a coupling cannot be told from none, and its reciprocal may overflow.
_NO_COUPLING = 1e-200
_LOG_2PI = math.log(2 * math.pi)


@public_in("calibrant.distributions")
class CoupledGaussian:
    r"""The distribution with density [1 + κu]₊^{-(1/κ + d)/2} / Z, u = (x - μ)' S⁻¹ (x - μ).

    κ > 0 is the multivariate Student t with 1/κ degrees of freedom and scale matrix S; κ = 0 the
    Gaussian, exp(-u/2)/Z; -1/d < κ < 0 has the compact support u < -1/κ. For κ < 1/2 the
    covariance is S / (1 - 2κ); beyond, it is infinite.

    Parameters
    ----------
    mean : float or array of shape (d,)
    scale : float, array of shape (d,) or (d, d)
        The scale matrix S, positive definite: squared lengths, as a variance is. A vector is its
        diagonal, a number stands for all of the diagonal.
    kappa : float, kappa > -1/d
        The coupling κ.

    Examples
    --------
    >>> CoupledGaussian(0.0, 1.0, 1.0).pdf(1.0) * 2 * np.pi
    1.0
    >>> first, second = CoupledGaussian(2, 1, 0.5), CoupledGaussian(0, 1, 0.5)
    >>> round(first.posterior(2.0, second), 12)
    0.838609522204
    """

    __slots__ = ("_factor", "_log_norm", "kappa", "mean", "scale")

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    kappa: float

    def __init__(self, mean: ArrayLike, scale: ArrayLike = 1.0, kappa: float = 0.0) -> None:
        self.mean = _vector(mean)
        d = self.mean.size
        self.kappa = checked_number(kappa, "kappa")
        if not (math.isfinite(self.kappa) and self.kappa * d > -1.0):
            raise ValueError(
                f"kappa must be finite and greater than -1/d = {-1 / d:g}, got {kappa}"
            )
        self.scale = _matrix(scale, d)
        try:
            self._factor = answering_signals(
                np.linalg.cholesky, self.scale, work=len(self.scale) ** 3
            )
        except np.linalg.LinAlgError as error:
            raise ValueError("scale must be positive definite") from error
        log_root = float(np.log(np.diagonal(self._factor)).sum())
        self._log_norm = log_root + _log_unit_norm(self.kappa, d)

    @property
    def dim(self) -> int:
        """The dimension d."""
        return self.mean.size

    def __repr__(self) -> str:
        scale = self.scale.tolist() if self.dim > 1 else float(self.scale[0, 0])
        mean = self.mean.tolist() if self.dim > 1 else float(self.mean[0])
        return f"CoupledGaussian(mean={mean}, scale={scale}, kappa={self.kappa})"

    def logpdf(self, x: ArrayLike) -> Any:
        """Return the logarithm of the density; -inf outside of the support.

        Parameters
        ----------
        x : array of shape (..., d)
            For d = 1 also of any shape without the last axis.

        Returns
        -------
        float or array of shape (...)
        """
        u = self._squared_distance(x)
        if abs(self.kappa) < _NO_COUPLING:
            return _plain(-0.5 * u - self._log_norm)
        with np.errstate(divide="ignore"):
            log_base = np.log1p(np.maximum(self.kappa * u, -1.0))
        return _plain(-0.5 * (1.0 / self.kappa + self.dim) * log_base - self._log_norm)

    def pdf(self, x: ArrayLike) -> Any:
        """Return the density; the arguments are those of `logpdf`."""
        return _plain(np.exp(self.logpdf(x)))

    def cdf(self, x: ArrayLike) -> Any:
        """Return the probability of a smaller value, in one dimension.

        Needs SciPy: ``pip install ".[sklearn]"`` brings it.
        """
        if self.dim != 1:
            raise ValueError(f"cdf is for one dimension, this has {self.dim}")
        special = _scipy_special()
        z = (_points(x, self.dim) - self.mean[0]) / math.sqrt(self.scale[0, 0])
        if abs(self.kappa) < _NO_COUPLING:
            return _plain(special.ndtr(z))
        if self.kappa > 0:
            return _plain(special.stdtr(1.0 / self.kappa, z))
        inside = np.minimum(-self.kappa * z * z, 1.0)
        half = 0.5 * special.betainc(0.5, _beta_shape(self.kappa, 1), inside)
        tail = 0.5 * special.betaincc(0.5, _beta_shape(self.kappa, 1), inside)
        return _plain(np.where(z < 0, tail, 0.5 + half))

    def rvs(self, size: int, *, seed: int | np.random.Generator | None = None) -> Any:
        """Draw a sample.

        Parameters
        ----------
        size : int
        seed : int or numpy.random.Generator, optional

        Returns
        -------
        array of shape (size, d), or (size,) in one dimension
        """
        size = checked_count(size, "size", least=0)
        generator = isinstance(seed, np.random.Generator)
        rng = np.random.default_rng(
            seed if seed is None or generator else checked_count(seed, "seed", least=0)
        )
        z = rng.standard_normal((size, self.dim))
        if self.kappa >= _NO_COUPLING:
            z /= np.sqrt(self.kappa * rng.chisquare(1.0 / self.kappa, (size, 1)))
        elif self.kappa <= -_NO_COUPLING:
            z /= np.linalg.norm(z, axis=1, keepdims=True)
            shape = _beta_shape(self.kappa, self.dim)
            z *= np.sqrt(rng.beta(0.5 * self.dim, shape, (size, 1)) / -self.kappa)
        x = self.mean + product(z, self._factor.T)
        return x[:, 0] if self.dim == 1 else x

    def posterior(
        self,
        x: ArrayLike,
        other: CoupledGaussian,
        *,
        prior: float = 0.5,
        outside: float | None = None,
    ) -> Any:
        """Return the probability that x came from this one and not from the other.

        Parameters
        ----------
        x : array, as for `logpdf`
        other : CoupledGaussian of the same dimension
        prior : float in (0, 1)
            The probability of this one before x is known.
        outside : float in [0, 1], optional
            What is returned where both densities are 0, which leaves 0/0: the prior by default.

        Returns
        -------
        float or array
        """
        if not isinstance(other, CoupledGaussian):
            raise TypeError(f"other must be a CoupledGaussian, got {other!r}")
        if not 0.0 < checked_number(prior, "prior") < 1.0:
            raise ValueError(f"prior must lie in (0, 1), got {prior}")
        if outside is not None and not 0.0 <= checked_number(outside, "outside") <= 1.0:
            raise ValueError(f"outside must lie in [0, 1], got {outside}")
        if other.dim != self.dim:
            raise ValueError(f"other must have dimension {self.dim}, got {other.dim}")
        logs = np.stack([np.asarray(self.logpdf(x)), np.asarray(other.logpdf(x))])
        found = _posterior(logs, [math.log(prior), math.log1p(-prior)])[0]
        neither = np.isneginf(logs).all(axis=0)
        return _plain(np.where(neither, prior if outside is None else outside, found))

    @classmethod
    def fit(
        cls,
        x: ArrayLike,
        kappa: float = 0.0,
        *,
        max_iterations: int = 1000,
        tolerance: float = 1e-12,
    ) -> CoupledGaussianFit:
        """Fit mean and scale to a sample, for a given coupling.

        For κ >= 0 by maximum likelihood: the sample's mean and covariance (divisor n) for κ = 0,
        iterated means with weights (1 + dκ)/(1 + κu) for κ > 0. For κ < 0, where the likelihood is
        not smooth, by moments: S = (1 - 2κ) covariance; rows may then lie outside of the
        support.

        Parameters
        ----------
        x : array of shape (n, d) or (n,)
        kappa : float
        max_iterations : int
        tolerance : float
            Of the relative change of the scale matrix, at which the iteration ends.
        """
        kappa = checked_number(kappa, "kappa")
        max_iterations = checked_count(max_iterations, "max_iterations")
        if not 0.0 < checked_number(tolerance, "tolerance") < math.inf:
            raise ValueError(f"tolerance must be positive and finite, got {tolerance!r}")
        rows = read_numbers(x, "x").astype(np.float64)
        rows = rows[:, None] if rows.ndim == 1 else rows
        if rows.ndim != 2 or len(rows) <= rows.shape[1]:
            raise ValueError(f"x must have more rows than columns, got shape {np.shape(x)}")
        if not np.isfinite(rows).all():
            bad = int(np.argmin(np.isfinite(rows).all(axis=1)))
            raise ValueError(f"x must be finite, found {rows[bad]} at row {bad}")
        mean = rows.mean(axis=0)
        scale = np.atleast_2d(np.cov(rows, rowvar=False, bias=True))
        if kappa <= 0:
            return CoupledGaussianFit(cls(mean, (1 - 2 * kappa) * scale, kappa), 0, True)
        for iteration in range(1, max_iterations + 1):
            u = cls(mean, scale, kappa)._squared_distance(rows)
            weight = (1 + rows.shape[1] * kappa) / (1 + kappa * u)
            mean = weight @ rows / weight.sum()
            centred = rows - mean
            before, scale = scale, product(weight * centred.T, centred) / len(rows)
            if np.abs(scale - before).max() <= tolerance * np.abs(scale).max():
                return CoupledGaussianFit(cls(mean, scale, kappa), iteration, True)
        return CoupledGaussianFit(cls(mean, scale, kappa), max_iterations, False)

    def _squared_distance(self, x: ArrayLike) -> NDArray[np.float64]:
        points = _points(x, self.dim)
        if self.dim == 1 and (points.ndim < 2 or points.shape[-1] != 1):
            points = points[..., None]
        if points.ndim == 0 or points.shape[-1] != self.dim:
            raise ValueError(f"x must have shape (..., {self.dim}), got {np.shape(x)}")
        flat = (points - self.mean).reshape(-1, self.dim)
        work = flat.size * len(self._factor)
        whitened = (
            answering_signals(np.linalg.solve, self._factor, flat.T, work=work)
            if flat.size
            else flat.T
        )
        distance: NDArray[np.float64] = np.square(whitened).sum(axis=0).reshape(points.shape[:-1])
        return distance


@public_in("calibrant.distributions")
@dataclass(frozen=True, repr=False)
class CoupledGaussianFit(Result):
    """What `CoupledGaussian.fit` found.

    Attributes
    ----------
    distribution : CoupledGaussian
    iterations : int
    converged : bool
    """

    distribution: CoupledGaussian
    iterations: int
    converged: bool

    def to_dict(self) -> dict[str, Any]:
        """Return mean, scale and coupling as lists and numbers, ready for JSON."""
        found = self.distribution
        parameters = {"mean": found.mean.tolist(), "scale": found.scale.tolist()}
        return {
            **parameters, "kappa": found.kappa,
            "iterations": self.iterations, "converged": self.converged,
        }  # fmt: skip


def class_posterior(
    x: ArrayLike,
    classes: Sequence[CoupledGaussian],
    *,
    priors: ArrayLike | None = None,
    outside: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Probability of each of several classes, by Bayes' rule.

    With the densities G_j and the priors π_j it is π_j G_j(x) / sum_k π_k G_k(x).

    Parameters
    ----------
    x : array of shape (..., d)
        As for `CoupledGaussian.logpdf`.
    classes : sequence of k CoupledGaussian of one dimension
        They may differ in mean, scale and coupling.
    priors : array of shape (k,), positive, optional
        The probabilities of the classes before x is known; they are divided by their sum. Equal
        by default.
    outside : array of shape (k,), values in [0, 1], optional
        What is returned where all densities are 0, which leaves 0/0: the priors by default.

    Returns
    -------
    array of shape (..., k)
        For two classes the first column is `CoupledGaussian.posterior`.

    Examples
    --------
    >>> classes = [CoupledGaussian(mean, 1.0, 0.5) for mean in (0.0, 2.0, 4.0)]
    >>> class_posterior([2.0], classes, priors=[1, 2, 1]).round(6)
    array([[0.080695, 0.83861 , 0.080695]])
    """
    members: list[Any] = list(classes) if isinstance(classes, (list, tuple)) else [classes]
    for member in members:
        if not isinstance(member, CoupledGaussian):
            raise TypeError(f"classes must be a list of CoupledGaussian, got {member!r}")
    if not members:
        raise ValueError("classes must have at least one CoupledGaussian, got none")
    for j, member in enumerate(members):
        if member.dim != members[0].dim:
            raise ValueError(
                f"classes must have one dimension, got {members[0].dim} and, at position {j}, "
                f"{member.dim}"
            )
    k = len(members)
    weights = np.ones(k) if priors is None else _of_classes(priors, "priors", k)
    if not (weights > 0).all():
        raise ValueError(f"priors must be positive, got {weights.tolist()}")
    weights = weights / weights.max()
    weights = weights / weights.sum()
    instead = weights if outside is None else _of_classes(outside, "outside", k)
    if not ((instead >= 0) & (instead <= 1)).all():
        raise ValueError(f"outside must lie in [0, 1], got {instead.tolist()}")
    logs = np.stack([np.asarray(member.logpdf(x)) for member in members])
    found = np.moveaxis(_posterior(logs, np.log(weights).tolist()), 0, -1)
    nowhere = np.asarray(np.isneginf(logs).all(axis=0, keepdims=True))
    return np.where(np.moveaxis(nowhere, 0, -1), instead, found)


def _posterior(logs: NDArray[np.float64], log_priors: Sequence[float]) -> NDArray[np.float64]:
    """Return 1 / (sum of odds against the class), of shape (k, ...); NaN where all are -inf."""
    k = len(logs)
    odds = np.ones_like(logs)
    with np.errstate(over="ignore", invalid="ignore"):
        for i in range(k):
            for j in range(k):
                if i != j:
                    odds[i] += np.exp(logs[j] - logs[i] + log_priors[j] - log_priors[i])
        # A class without density has infinite odds against it from those that have one, and 0/0
        # from those that have none.
        found: NDArray[np.float64] = np.where(np.isneginf(logs), 0.0, 1.0 / odds)
    return found


def _of_classes(values: ArrayLike, name: str, k: int) -> NDArray[np.float64]:
    numbers: NDArray[np.float64] = read_numbers(values, name).astype(np.float64)
    if numbers.shape != (k,) or not np.isfinite(numbers).all():
        raise ValueError(
            f"{name} must be finite, with a number for each of {k} classes, got {values!r}"
        )
    return numbers


def _plain(values: Any) -> Any:
    return float(values) if np.ndim(values) == 0 else values


def _points(x: ArrayLike, d: int) -> NDArray[np.float64]:
    """Read x; a line has two infinite ends, in space infinity is at no distance."""
    points: NDArray[np.float64] = read_numbers(x, "x").astype(np.float64)
    bad = np.argwhere(np.isnan(points) if d == 1 else ~np.isfinite(points))
    if len(bad):
        where = f" at row {bad[0][0]}" if points.ndim else ""
        found = points[tuple(bad[0])]
        must = "not be NaN" if math.isnan(found) else "be finite"
        raise ValueError(f"x must {must}, found {found}{where}")
    return points


def _vector(mean: ArrayLike) -> NDArray[np.float64]:
    vector = np.atleast_1d(read_numbers(mean, "mean").astype(np.float64))
    if vector.ndim != 1 or vector.size == 0 or not np.isfinite(vector).all():
        raise ValueError(f"mean must be a finite number or vector, got {mean!r}")
    return vector


def _matrix(scale: ArrayLike, d: int) -> NDArray[np.float64]:
    given = read_numbers(scale, "scale").astype(np.float64)
    if given.ndim < 2:
        given = np.diag(np.broadcast_to(given, d)) if given.size in (1, d) else given
    if given.shape != (d, d) or not np.isfinite(given).all():
        raise ValueError(
            f"scale must be finite, a number, a vector of {d} or a matrix of {d} x {d}, got shape "
            f"{np.shape(scale)}"
        )
    if not np.allclose(given, given.T, rtol=1e-12, atol=0.0):
        raise ValueError("scale must be symmetric")
    return np.array(given)


def _beta_shape(kappa: float, d: int) -> float:
    """The second parameter of the beta distribution of -κu, for κ < 0."""
    return (-1.0 / kappa - d) / 2.0 + 1.0


def _log_unit_norm(kappa: float, d: int) -> float:
    """ln Z for S = 1, without differences of large numbers as κ goes to 0."""
    if abs(kappa) < _NO_COUPLING:
        return 0.5 * d * _LOG_2PI
    if kappa > 0:
        return 0.5 * d * _LOG_2PI - _log_gamma_step(0.5 / kappa, d)
    narrower = math.log1p(-kappa * (2.0 - d))
    return 0.5 * d * (_LOG_2PI - narrower) - _log_gamma_step(_beta_shape(kappa, d), d)


def _log_gamma_step(a: float, d: int) -> float:
    """ln Γ(a + d/2) - ln Γ(a) - (d/2) ln a, which vanishes as a grows."""
    whole = sum(math.log1p(j / a) for j in range(d // 2))
    if d % 2 == 0:
        return whole
    top = a + d // 2
    return whole + _log_gamma_half_step(top) + 0.5 * math.log1p((d // 2) / a)


def _log_gamma_half_step(a: float) -> float:
    """ln Γ(a + 1/2) - ln Γ(a) - (1/2) ln a: up by Γ(a + 1) = a Γ(a), then Stirling's series."""
    step = 0.0
    while a < 24.0:
        step += 0.5 * math.log1p(1.0 / a) - math.log1p(0.5 / a)
        a += 1.0
    r = 1.0 / (a * a)
    series = -1 / 8 + r * (1 / 192 + r * (-1 / 640 + r * (17 / 14336 + r * (-31 / 18432))))
    return step + series / a


def _scipy_special() -> Any:
    try:
        from scipy import special
    except ImportError as error:
        raise ImportError('cdf needs SciPy: pip install ".[sklearn]"') from error
    return special
