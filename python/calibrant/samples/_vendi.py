"""Diversity of a sample: the Vendi score; public in `calibrant.samples`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from calibrant import _core
from calibrant._input.columns import read_numbers
from calibrant._input.validation import checked_choice, checked_number, checked_numbers
from calibrant._result import Result, for_json
from calibrant._runtime.interruptible import answering_signals
from calibrant._runtime.linear_algebra import (
    Floats,
    product,
    require_symmetric,
    singular_values,
    triangular_factor,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from calibrant.plotting import VendiProfileDisplay

__all__ = ["ORDERS", "VendiProfile", "profile_of", "vendi_profile", "vendi_score"]

Kernel = Literal["cosine", "precomputed"]
EPS = float(np.finfo(np.float64).eps)

#: Those of a profile, unless others are asked for.
ORDERS = (0.0, 0.1, 0.5, 1.0, 2.0, 5.0, math.inf)


@dataclass(frozen=True, repr=False, eq=False)
class VendiProfile(Result):
    """Vendi scores of one sample for several orders.

    Attributes
    ----------
    orders, scores : tuple of float
        ``scores[i]`` is the effective number of different rows, of order ``orders[i]``. It never
        rises with the order: small ones count what is rare, large ones only what is common.
    eigenvalues : array
        Of the similarity matrix over n, those that are not 0, from the largest on. They sum to 1.
    n : int
    """

    orders: tuple[float, ...]
    scores: tuple[float, ...]
    eigenvalues: Floats
    n: int

    def at(self, q: float) -> float:
        """Return the score of any order."""
        return _score_of(self.eigenvalues, check_order(q))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, ready for JSON."""
        return {
            "orders": [for_json(q) for q in self.orders],
            "scores": list(self.scores),
            "eigenvalues": self.eigenvalues.tolist(),
            "n": self.n,
        }

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, **options: Any
    ) -> VendiProfileDisplay:
        """Draw the scores over their orders.

        Needs matplotlib: ``pip install ".[plot]"``. The arguments are those of
        `calibrant.plotting.VendiProfileDisplay`.
        """
        from calibrant.plotting import VendiProfileDisplay

        return VendiProfileDisplay(self).plot(ax, name=name, **options)

    def __repr__(self) -> str:
        pairs = zip(self.orders, self.scores, strict=True)
        scores = ", ".join(f"{q:g}: {score:.6g}" for q, score in pairs)
        return f"VendiProfile({{{scores}}}, n={self.n})"


def vendi_score(
    x: ArrayLike,
    *,
    q: float = 1.0,
    kernel: Kernel = "cosine",
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Effective number of different rows in a sample, from 1 to n.

    With :math:`\lambda` the eigenvalues of K / n, where K has the similarities of all pairs and
    ones on the diagonal, it is

    .. math:: \Bigl(\sum_i \lambda_i^q\Bigr)^{1/(1-q)}

    or its limit: :math:`\exp(-\sum \lambda \ln \lambda)` for q = 1, the rank of K for q = 0 and
    :math:`1 / \max \lambda` for q infinite. Rows that are all alike have the score 1; rows of
    which no two are similar, n.

    Parameters
    ----------
    x : array of shape (n, d) or (n,), or of shape (n, n) if precomputed
        Features, finite, none a row of zeros; or similarities, symmetric, with no negative
        eigenvalue and ones on the diagonal.
    q : float, q >= 0
        The order. The smaller, the more it counts what is rare. 2 needs no eigenvalues.
    kernel : {"cosine", "precomputed"}
        Similarity is the cosine of the angle between rows, or x has the similarities.
    sample_weight : array of shape (n,), optional
        Not negative, not all 0. The weights p, over their sum, take the place of 1 / n:
        the matrix is :math:`\sqrt{p_i} K_{ij} \sqrt{p_j}`.

    Notes
    -----
    Eigenvalues come from the features by singular values, whichever of n and d is smaller; where
    some are small, without products of rows, in whose rounding they would be lost. Those that
    cannot be told from 0 are left out; small orders would count them.

    Ctrl-C is answered at once. LAPACK cannot be stopped, though: the decomposition under way goes
    on in a thread of its own until it is done, and is dropped.

    Examples
    --------
    >>> round(vendi_score([[1, 0], [0, 1], [1, 1]], q=2), 6)
    1.8
    >>> round(vendi_score([[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]], kernel="precomputed"), 6)
    2.749459
    """
    order = check_order(q)
    if order != 2.0:
        return _score_of(_eigenvalues(x, kernel, sample_weight), order)
    matrix = _factor_or_matrix(x, kernel, sample_weight)
    if kernel == "cosine":  # of two products with the same eigenvalues, the smaller
        is_wide = matrix.shape[1] > len(matrix)
        matrix = product(matrix, matrix.T) if is_wide else product(matrix.T, matrix)
    return 1.0 / float(np.vdot(matrix, matrix))


def vendi_profile(
    x: ArrayLike,
    *,
    orders: Sequence[float] = ORDERS,
    kernel: Kernel = "cosine",
    sample_weight: ArrayLike | None = None,
) -> VendiProfile:
    """Return the Vendi scores of several orders, from one decomposition.

    Parameters
    ----------
    x : array of shape (n, d)
        As for `vendi_score`.
    orders : sequence of float, none negative
    kernel, sample_weight
        As for `vendi_score`.

    Examples
    --------
    >>> vendi_profile([[1, 0], [0, 1], [1, 1]], orders=[0, 1, 2])
    VendiProfile({0: 2, 1: 1.88988, 2: 1.8}, n=3)
    """
    checked = tuple(check_order(q, "orders") for q in checked_numbers(orders, "orders"))
    values = _eigenvalues(x, kernel, sample_weight)
    return profile_of(values, len(x), checked)  # type: ignore[arg-type]


def profile_of(eigenvalues: Floats, n: int, orders: Sequence[float] = ORDERS) -> VendiProfile:
    """Return the profile of eigenvalues that are not 0."""
    falling = np.sort(eigenvalues)[::-1]
    scores = tuple(_score_of(falling, q) for q in orders)
    return VendiProfile(tuple(orders), scores, falling, n)


def check_order(q: Any, name: str = "q") -> float:
    """Return the order as a float, if it can be one."""
    order = checked_number(q, name)
    if order < 0.0:
        raise ValueError(f"{name} must not be negative, got {q!r}")
    return order


def eigenvalues_of(matrix: Floats) -> Floats:
    """Return those of a symmetric matrix, rising."""
    return answering_signals(np.linalg.eigvalsh, matrix, work=4 / 3 * len(matrix) ** 3)


def not_noise(values: Floats, size: int) -> Floats:
    """Drop the eigenvalues of a matrix of this size that cannot be told from 0."""
    return np.asarray(values[values > size * EPS * values.max()])


def _score_of(values: Floats, q: float) -> float:
    if q == 0.0:
        return float(len(values))
    if math.isinf(q):
        return float(1.0 / values.max())
    if q == 1.0:
        return math.exp(-math.fsum(values * np.log(values)))
    # Relative to the largest, so that high powers do not vanish.
    largest = float(values.max())
    total = math.log(math.fsum((values / largest) ** q)) + q * math.log(largest)
    return math.exp(total / (1.0 - q))


def _eigenvalues(x: Any, kernel: str, sample_weight: Any) -> Floats:
    matrix = _factor_or_matrix(x, kernel, sample_weight)
    if kernel == "cosine":
        values = singular_values(triangular_factor(matrix))
        values = values[values > max(matrix.shape) * EPS * values.max()] ** 2
    else:
        values = eigenvalues_of(matrix)
        if values[0] < -1e-8 * values[-1]:
            raise ValueError(
                f"x must have no negative eigenvalue, as similarities have none; found {values[0]}"
                " (over n)"
            )
        values = not_noise(values, len(matrix))
    return values / math.fsum(values)


def _factor_or_matrix(x: Any, kernel: str, sample_weight: Any) -> Floats:
    """Rows whose products, or similarities that, weighted, have a trace of 1."""
    checked_choice(kernel, "kernel", ("cosine", "precomputed"))
    matrix = _core.features(x, "x", kernel == "cosine")
    if len(matrix) == 0:
        raise ValueError("x must have rows")
    if kernel == "precomputed":
        _check_similarities(matrix)
    roots = _roots_of_weights(sample_weight, len(matrix))
    matrix *= roots[:, None]
    return matrix if kernel == "cosine" else matrix * roots


def _roots_of_weights(sample_weight: Any, n: int) -> Floats:
    if sample_weight is None:
        return np.full(n, 1.0 / math.sqrt(n))
    weights = read_numbers(sample_weight, "sample_weight").astype(np.float64)
    if weights.ndim != 1:
        raise ValueError(f"sample_weight must have shape (n,), got shape {weights.shape}")
    if len(weights) != n:
        raise ValueError(
            f"x and sample_weight must have the same length, got {n} and {len(weights)}"
        )
    bad = np.flatnonzero(~((weights >= 0.0) & (weights < math.inf)))
    if len(bad):
        i = int(bad[0])
        if math.isnan(weights[i]):
            raise ValueError(f"sample_weight has a missing value (NaN) at row {i}")
        found = repr(float(weights[i])).removesuffix(".0")
        raise ValueError(f"sample_weight must be finite and not negative, found {found} at row {i}")
    largest = float(weights.max())
    if largest == 0.0:
        raise ValueError("sample_weight must not be 0 in all rows")
    weights /= largest  # their sum cannot overflow
    return np.sqrt(weights / math.fsum(weights))


def _check_similarities(matrix: Floats) -> None:
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"x must be square, as similarities of all pairs; got {matrix.shape}")
    diagonal = np.abs(np.diagonal(matrix) - 1.0)
    if diagonal.max() > 1e-6:
        i = int(diagonal.argmax())
        raise ValueError(f"x must have ones on its diagonal, found {matrix[i, i]} at row {i}")
    require_symmetric(matrix, "x", 1e-6)
