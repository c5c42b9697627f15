"""Entropies and cross-entropies of distributions: generalized means, weighted by themselves."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from calibrant import _core
from calibrant._input.validation import checked_flag
from calibrant._result import Result
from calibrant.means._sums import sum_probabilities

__all__ = [
    "CrossEntropyProbability",
    "cross_entropy_probability",
    "renyi_entropy",
    "tsallis_entropy",
]


@dataclass(frozen=True, repr=False)
class CrossEntropyProbability(Result):
    """A model's probability, split into what is the source's and what is the model's own.

    Attributes
    ----------
    model : float
        exp(-cross-entropy), the geometric mean of the model's probabilities.
    source : float
        exp(-entropy), the geometric mean of the source's probabilities.
    divergence : float
        exp(-Kullback-Leibler divergence) = model / source.
    """

    model: float
    source: float
    divergence: float

    def __iter__(self) -> Iterator[float]:
        return iter((self.model, self.source, self.divergence))


def _distribution(p: ArrayLike, powers: Sequence[float], name: str) -> _core.RiskProfile:
    state = sum_probabilities(p, powers, sample_weight=p, name=name, can_omit=False)
    # The tolerance admits float32 distributions of some thousand values.
    if abs(state.weight_sum - 1) > 1e-6:
        raise ValueError(f"{name} must sum to 1, got a sum of {state.weight_sum!r}")
    return state


def _order_to_power(order: Any) -> float:
    if not isinstance(order, numbers.Real):
        raise TypeError(f"order must be a real number, got {order!r}")
    value = float(order)
    if not 0 <= value <= 2**26 and value != math.inf:
        raise ValueError(f"order must be infinite or lie in [0, 2^26], got {order!r}")
    return value - 1


def renyi_entropy(p: ArrayLike, order: float) -> float:
    """Rényi entropy of a distribution, ln(sum p^a) / (1 - a), in nats.

    It is -ln G_m of the probabilities, weighted by themselves, with m = a - 1. (Nelson 2017,
    eq. 12, read with the sum inside the logarithm.)

    Parameters
    ----------
    p : array of shape (n,), values in [0, 1], sum 1
    order : float
        a >= 0: 0 counts the possible outcomes, 1 is Shannon's entropy (the limit), 2 the
        collision entropy, inf the min-entropy.

    Examples
    --------
    >>> renyi_entropy([0.5, 0.25, 0.25], 1)
    1.0397207708399179
    >>> renyi_entropy([0.5, 0.5], 7)
    0.6931471805599453
    """
    return -_distribution(p, (_order_to_power(order),), "p").log_mean(0) + 0.0


def tsallis_entropy(p: ArrayLike, order: float) -> float:
    """Tsallis entropy of a distribution, (1 - sum p^q) / (q - 1).

    Parameters
    ----------
    p : array of shape (n,), values in [0, 1], sum 1
    order : float
        q >= 0, finite; 1 is Shannon's entropy (the limit), in nats.

    Examples
    --------
    >>> tsallis_entropy([0.5, 0.5], 2)
    0.5
    """
    power = _order_to_power(order)
    if math.isinf(power):
        raise ValueError("order must be finite, got inf")
    state = _distribution(p, (power,), "p")
    if power == 0:
        return -state.log_mean(0) + 0.0
    return -state.mean_power_minus_one(0) / power + 0.0


def _same_length(p: _core.RiskProfile, q: _core.RiskProfile) -> None:
    if p.n != q.n:
        raise ValueError(f"p and q must have the same length, got {p.n} and {q.n}")


def cross_entropy_probability(
    p: ArrayLike,
    q: ArrayLike,
    *,
    events: bool = False,
    sample_weight: ArrayLike | None = None,
) -> CrossEntropyProbability:
    """Split a model's probability into the source's and the divergence between them.

    Cross-entropy is entropy plus divergence; on the probability scale (Nelson 2017, eq. 6-9)
    that is a product, model = source * divergence, of

        model = prod q_i^w_i,    source = prod p_i^w_i,    divergence = prod (q_i / p_i)^w_i.

    Parameters
    ----------
    p, q : arrays of shape (n,), values in [0, 1]
        The source's and the model's probabilities: of all outcomes of one distribution each
        (sums 1, w = p), or, with ``events``, of what happened in each of n events (w = 1/n).
    events : bool
    sample_weight : array of shape (n,), optional
        With ``events`` only: w in proportion to it.

    Returns
    -------
    CrossEntropyProbability
        Unpacks as ``model, source, divergence``.

    Examples
    --------
    >>> cross_entropy_probability([0.5, 0.5], [0.8, 0.2])
    CrossEntropyProbability(model=0.4, source=0.5, divergence=0.8)
    >>> model, source, divergence = cross_entropy_probability([0.8, 0.2], [0.9, 0.1], events=True)
    >>> model, source
    (0.3, 0.4)
    """
    if checked_flag(events, "events"):
        source = sum_probabilities(p, (0.0,), sample_weight=sample_weight, name="p")
        model = sum_probabilities(q, (0.0,), sample_weight=sample_weight, name="q")
        _same_length(source, model)
    else:
        if sample_weight is not None:
            raise ValueError("sample_weight needs events=True: two distributions are weighted by p")
        source = _distribution(p, (0.0,), "p")
        _same_length(source, _distribution(q, (0.0,), "q"))
        model = sum_probabilities(q, (0.0,), sample_weight=p, name="q")
    source_mean = source.means()[0]
    if source_mean == 0.0 and math.isinf(source.log_mean(0)):
        raise ValueError(
            "p must be positive for what happened, found 0: the divergence is undefined"
        )
    return CrossEntropyProbability(model.means()[0], source_mean, model.mean_ratio(0, source))
