"""Generalized means of probabilities: how decisive, accurate and robust a forecast is.

The power mean of the probabilities that were given to what happened [1]_,

    G_m = (sum w q^m / sum w)^(1/m),        G_0 = exp(sum w ln q / sum w),

is a score on the probability scale. Three powers have names: *decisiveness* (m = 1),
*accuracy* (m = 0, the exponential of minus the log score) and *robustness* (m = -2/3).
Always robustness <= accuracy <= decisiveness, and a single q = 0 makes the latter two 0:
``q_lim`` states the precision that is claimed, and clips q to [q_lim, 1 - q_lim].

Sums are exact: no result depends on the order of rows, the number of threads or how the
rows were split, and an integer weight k is k repetitions, to the last bit.

References
----------
.. [1] K. P. Nelson, "Assessing Probabilistic Inference by Comparing the Generalized Mean of
   the Model and Source Probabilities", Entropy 19(6), 286, 2017. The formulas here are as
   corrected in the documentation of calibrant.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from calibrant import _core
from calibrant._labels import class_codes
from calibrant._result import Result
from calibrant._settings import checked_choice, checked_count, checked_flag, checked_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from calibrant.plotting import MeanSpectrumDisplay

__all__ = [
    "CrossEntropyProbability",
    "MeanSpectrum",
    "RiskProfile",
    "coupling_to_power",
    "cross_entropy_probability",
    "generalized_mean",
    "mean_spectrum",
    "power_to_coupling",
    "renyi_entropy",
    "risk_profile",
    "tsallis_entropy",
]

NanPolicy = Literal["raise", "omit"]
Convention = Literal["score", "shape"]

#: The powers of decisiveness, accuracy and robustness.
NAMED_POWERS = (1.0, 0.0, -2.0 / 3.0)

#: From -3 to 3 in steps of 1/6, which meet the named powers.
SPECTRUM_POWERS = tuple(k / 6 for k in range(-18, 19))


@dataclass(frozen=True, repr=False)
class RiskProfile(Result):
    """Three generalized means of the probabilities given to what happened.

    Attributes
    ----------
    decisiveness, accuracy, robustness : float
        The means with power 1, 0 and -2/3.
    n, n_omitted : int
        Rows taken in, and rows dropped because a value was missing.
    q_lim : float
        The probabilities were clipped to [q_lim, 1 - q_lim].
    powers, means : tuple of float
        Further powers that were asked for, and their means.
    """

    decisiveness: float
    accuracy: float
    robustness: float
    n: int = 0
    n_omitted: int = 0
    q_lim: float = 0.0
    powers: tuple[float, ...] = ()
    means: tuple[float, ...] = ()

    @property
    def spectrum(self) -> MeanSpectrum:
        """All its means over their powers, those of the three names included."""
        named = zip(NAMED_POWERS, (self.decisiveness, self.accuracy, self.robustness), strict=True)
        means = dict(sorted([*zip(self.powers, self.means, strict=True), *named]))
        return MeanSpectrum(tuple(means), tuple(means.values()), self.n, self.n_omitted)

    @classmethod
    def _of(cls, state: _core.RiskProfile) -> RiskProfile:
        decisiveness, accuracy, robustness, *means = state.means()
        # Where all q are nearly equal, rounding could put them out of order, by an ulp.
        accuracy = min(accuracy, decisiveness)
        robustness = min(robustness, accuracy)
        powers = tuple(state.powers[3:])
        return cls(
            decisiveness, accuracy, robustness, state.n, state.n_omitted, state.q_lim, powers,
            tuple(means),
        )  # fmt: skip


@dataclass(frozen=True, repr=False)
class MeanSpectrum(Result):
    """Generalized means of the same probabilities for many powers.

    Attributes
    ----------
    powers, means : tuple of float
        ``means[i]`` is the mean with power ``powers[i]``; it never falls as the power rises,
        but by a rounding where all probabilities are nearly equal.
    n, n_omitted : int
        Rows taken in, and rows dropped because a value was missing.
    """

    powers: tuple[float, ...]
    means: tuple[float, ...]
    n: int = 0
    n_omitted: int = 0

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, **options: Any
    ) -> MeanSpectrumDisplay:
        """Draw the means over their powers, with the three named ones marked.

        Needs matplotlib: ``pip install "calibrant[plot]"``. The arguments are those of
        `calibrant.plotting.MeanSpectrumDisplay`.
        """
        from calibrant.plotting import MeanSpectrumDisplay

        return MeanSpectrumDisplay(self).plot(ax, name=name, **options)


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


def check_nan_policy(nan_policy: str) -> bool:
    """Return whether rows with missing values are to be dropped."""
    return bool(checked_choice(nan_policy, "nan_policy", ("raise", "omit")) == "omit")


def core_profile(
    powers: Iterable[Any], q_lim: Any, *, first: tuple[float, ...] = ()
) -> _core.RiskProfile:
    """Make an empty accumulator of the core; say which argument is no number, if one is not."""
    if isinstance(powers, str) or not hasattr(powers, "__iter__"):
        raise TypeError(f"powers must be a sequence of real numbers, got {powers!r}")
    values = [*first, *powers]
    try:
        return _core.RiskProfile(values, q_lim)
    except TypeError:
        for name, value in [("q_lim", q_lim), *(("a power", m) for m in values)]:
            if not isinstance(value, numbers.Real):
                raise TypeError(f"{name} must be a real number, got {value!r}") from None
        raise


def _summed(
    p: ArrayLike,
    powers: Iterable[float],
    *,
    q_lim: float = 0.0,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
    name: str = "p",
    can_omit: bool = True,
) -> _core.RiskProfile:
    """Sum up bare probabilities; not `can_omit`: the caller does not offer a nan_policy."""
    omit = check_nan_policy(nan_policy)
    state = core_profile(powers, q_lim)
    state.update_probabilities(p, sample_weight, omit, name, can_omit)
    return state


def generalized_mean(
    p: ArrayLike,
    m: float,
    *,
    q_lim: float = 0.0,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float:
    """Power mean of probabilities, (sum w p^m / sum w)^(1/m).

    Parameters
    ----------
    p : array of shape (n,), values in [0, 1]
    m : float
        Any real number up to 2^26 in magnitude, or infinite: 1 is the arithmetic mean, 0 the
        geometric (the limit), -1 the harmonic, inf the maximum, -inf the minimum. The float
        nearest to -2/3 stands for -2/3 itself. A power so large that the terms p^m lie more
        than 2^26 powers of two apart is refused: take its limit, infinity.
    q_lim : float, 0 <= q_lim < 0.5
        Clip p to [q_lim, 1 - q_lim].
    sample_weight : array of shape (n,), finite and not negative, optional
        A row of weight 2 counts like two rows, one of weight 0 not at all.
    nan_policy : {"raise", "omit"}
        What to do with NaN or missing values: refuse them, or leave their rows out.

    Returns
    -------
    float
        Within 1 ulp of the true mean of the given floats for m = 0 and \\|m\\| >= 1/8. A p of
        0 makes it 0 for every m <= 0.

    Examples
    --------
    >>> generalized_mean([0.5, 0.25], 1)
    0.375
    >>> generalized_mean([0.8, 0.8, 0.1], 0)
    0.4
    >>> generalized_mean([0.9, 0.1], -float("inf"))
    0.1
    """
    state = _summed(p, (m,), q_lim=q_lim, sample_weight=sample_weight, nan_policy=nan_policy)
    return state.means()[0]


def mean_spectrum(
    p: ArrayLike,
    powers: Sequence[float] | np.ndarray = SPECTRUM_POWERS,
    *,
    q_lim: float = 0.0,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> MeanSpectrum:
    """Generalized means for many powers, in one pass over the probabilities.

    Parameters
    ----------
    p : array of shape (n,), values in [0, 1]
        The probabilities that were given to what happened.
    powers : sequence of float
        As ``m`` of `generalized_mean`; by default from -3 to 3 in steps of 1/6.
    q_lim, sample_weight, nan_policy
        As for `generalized_mean`.

    Returns
    -------
    MeanSpectrum

    Examples
    --------
    >>> spectrum = mean_spectrum([0.8, 0.8, 0.1], powers=(0, 1, float("inf")))
    >>> spectrum.means
    (0.4, 0.5666666666666667, 0.8)
    """
    state = _summed(p, powers, q_lim=q_lim, sample_weight=sample_weight, nan_policy=nan_policy)
    return MeanSpectrum(tuple(state.powers), tuple(state.means()), state.n, state.n_omitted)


def risk_profile(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    q_lim: float = 0.0,
    sample_weight: ArrayLike | None = None,
    pos_label: object | None = None,
    labels: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> RiskProfile:
    """Decisiveness, accuracy and robustness of probabilities.

    The generalized means, with power 1, 0 and -2/3, of the probabilities q that were given
    to what happened.

    Parameters
    ----------
    y_true : array of shape (n,)
        Class codes, 0 to k - 1, of any integer, bool or integral float type.
    y_proba : array of shape (n,) or (n, k), values in [0, 1]
        The probability of class 1 of a binary problem, or of each class. float32 and float64
        of any stride are read in place. Rows need not sum to 1.
    q_lim : float, 0 <= q_lim < 0.5
        Clip q to [q_lim, 1 - q_lim]: the precision claimed for the probabilities. Without it
        a single q = 0 makes accuracy and robustness 0.
    sample_weight : array of shape (n,), finite and not negative, optional
        A row of weight 2 counts like two rows.
    pos_label : optional
        The label of the positive class of a binary problem, where it is not 1.
    labels : sequence, optional
        The class labels in the order of y_proba's columns, where they are not 0 to k - 1; for
        a binary problem the negative, then the positive one.
    nan_policy : {"raise", "omit"}
        What to do with NaN or missing values: refuse them, or drop their rows and count them.

    Returns
    -------
    RiskProfile

    See Also
    --------
    calibrant.streaming.RiskProfile : the same for batches and many machines

    Examples
    --------
    >>> risk_profile([1, 1, 0], [0.8, 0.8, 0.9])
    RiskProfile(decisiveness=0.566667, accuracy=0.4, robustness=0.282843, n=3)
    >>> risk_profile(["cat", "dog"], [[0.5, 0.5], [0.75, 0.25]], labels=["cat", "dog"]).accuracy
    0.3535533905932738
    """
    state = core_profile(NAMED_POWERS, q_lim)
    codes = class_codes(y_true, y_proba, labels=labels, pos_label=pos_label)
    state.update(codes, y_proba, sample_weight, check_nan_policy(nan_policy))
    return RiskProfile._of(state)


def coupling_to_power(
    coupling: float, *, dimension: int = 1, exponent: float = 2.0, convention: Convention = "score"
) -> float:
    """Power of the generalized mean that belongs to a nonlinear coupling k.

    With the convention "score", m = -a k / (1 + d k): the power under which the coupled
    Gaussian of coupling k is scored, so 1/2 gives -2/3 and -1/3 gives 1. With "shape",
    m = a k / (1 + d k) = q - 1 as printed in Nelson 2017, eq. 11: the Tsallis parameter of
    the distribution's own shape. They differ in sign.

    Parameters
    ----------
    coupling : float, 1 + dimension * coupling > 0
        0 is the exponential family, above it heavy tails, below it compact support.
    dimension : int, positive
        d, of the distribution.
    exponent : float, positive
        a: 2 generalizes the Gaussian, 1 the exponential distribution.
    convention : {"score", "shape"}

    Examples
    --------
    >>> coupling_to_power(0.5)
    -0.6666666666666666
    >>> coupling_to_power(0.5, convention="shape")
    0.6666666666666666
    """
    sign = _sign(convention)
    _check_scale(dimension, exponent)
    if not math.isfinite(checked_number(coupling, "coupling")) or 1 + dimension * coupling <= 0:
        raise ValueError(
            f"coupling must be finite and exceed -1/dimension = {-1 / dimension}, got {coupling!r}"
        )
    return sign * exponent * (coupling / (1 + dimension * coupling)) + 0.0  # not -0


def power_to_coupling(
    power: float, *, dimension: int = 1, exponent: float = 2.0, convention: Convention = "score"
) -> float:
    """Nonlinear coupling that belongs to a power: the inverse of `coupling_to_power`.

    Examples
    --------
    >>> power_to_coupling(1)
    -0.3333333333333333
    >>> power_to_coupling(0.5, convention="shape")
    0.3333333333333333
    """
    sign = _sign(convention)
    _check_scale(dimension, exponent)
    shape_power = sign * checked_number(power, "power")
    if not math.isfinite(power) or exponent - dimension * shape_power <= 0:
        side = "exceed" if convention == "score" else "be below"
        limit = sign * exponent / dimension
        raise ValueError(f"power must be finite and {side} {limit!r}, got {power!r}")
    return shape_power / (exponent - dimension * shape_power) + 0.0  # not -0


def _sign(convention: str) -> int:
    checked_choice(convention, "convention", ("score", "shape"))
    return -1 if convention == "score" else 1


def _check_scale(dimension: int, exponent: float) -> None:
    checked_count(dimension, "dimension")
    if not 0 < checked_number(exponent, "exponent") < math.inf:
        raise ValueError(f"exponent must be positive and finite, got {exponent!r}")


def _distribution(p: ArrayLike, powers: Sequence[float], name: str) -> _core.RiskProfile:
    state = _summed(p, powers, sample_weight=p, name=name, can_omit=False)
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
        source = _summed(p, (0.0,), sample_weight=sample_weight, name="p")
        model = _summed(q, (0.0,), sample_weight=sample_weight, name="q")
        _same_length(source, model)
    else:
        if sample_weight is not None:
            raise ValueError("sample_weight needs events=True: two distributions are weighted by p")
        source = _distribution(p, (0.0,), "p")
        _same_length(source, _distribution(q, (0.0,), "q"))
        model = _summed(q, (0.0,), sample_weight=p, name="q")
    source_mean = source.means()[0]
    if source_mean == 0.0 and math.isinf(source.log_mean(0)):
        raise ValueError(
            "p must be positive for what happened, found 0: the divergence is undefined"
        )
    return CrossEntropyProbability(model.means()[0], source_mean, model.mean_ratio(0, source))
