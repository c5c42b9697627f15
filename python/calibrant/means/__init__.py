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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from calibrant import _core
from calibrant._input.labels import event_rows
from calibrant._input.validation import MultiClass, NanPolicy, check_nan_policy, checked_number
from calibrant._result import Result
from calibrant.means._couplings import coupling_to_power, power_to_coupling
from calibrant.means._entropies import (
    CrossEntropyProbability,
    cross_entropy_probability,
    renyi_entropy,
    tsallis_entropy,
)
from calibrant.means._sums import core_profile, sum_probabilities

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
    "geometric_standard_deviation",
    "mean_spectrum",
    "power_to_coupling",
    "renyi_entropy",
    "risk_profile",
    "tsallis_entropy",
]


def __dir__() -> list[str]:
    return __all__


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

        Needs matplotlib: ``pip install ".[plot]"``. The arguments are those of
        `calibrant.plotting.MeanSpectrumDisplay`.
        """
        from calibrant.plotting import MeanSpectrumDisplay

        return MeanSpectrumDisplay(self).plot(ax, name=name, **options)


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
        than 2^26 powers of two apart is rejected: take its limit, infinity.
    q_lim : float, 0 <= q_lim < 0.5
        Clip p to [q_lim, 1 - q_lim].
    sample_weight : array of shape (n,), finite and not negative, optional
        A row of weight 2 counts like two rows, one of weight 0 not at all.
    nan_policy : {"raise", "omit"}
        What to do with NaN or missing values: reject them, or leave their rows out.

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
    state = sum_probabilities(
        p, (m,), q_lim=q_lim, sample_weight=sample_weight, nan_policy=nan_policy
    )
    return state.means()[0]


def geometric_standard_deviation(
    p: ArrayLike,
    *,
    q_lim: float = 0.0,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float:
    """Geometric standard deviation of probabilities: their spread as a factor.

    The exponential of the standard deviation of ln p, Nelson's equation 10 with the square that
    the print leaves out,

        exp(sqrt(sum w (ln p)^2 / sum w - (sum w ln p / sum w)^2)),

    so that the geometric mean times and by it are one standard deviation of ln p away. Nelson
    prefers decisiveness and robustness as error bars, as the product may exceed 1.

    Parameters
    ----------
    p, q_lim, sample_weight, nan_policy
        As for `generalized_mean`.

    Returns
    -------
    float
        1 where all p are equal, and infinite where some, but not all, are 0. The variance is over
        n, not n - 1 as in ``scipy.stats.gstd``: it describes these rows.

    Examples
    --------
    >>> round(geometric_standard_deviation([0.5, 0.25]) ** 2, 12)
    2.0
    """
    omit = check_nan_policy(nan_policy)
    return _core.geometric_deviation(p, checked_number(q_lim, "q_lim"), sample_weight, omit)


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
    state = sum_probabilities(
        p, powers, q_lim=q_lim, sample_weight=sample_weight, nan_policy=nan_policy
    )
    return MeanSpectrum(tuple(state.powers), tuple(state.means()), state.n, state.n_omitted)


def risk_profile(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    q_lim: float = 0.0,
    sample_weight: ArrayLike | None = None,
    pos_label: object | None = None,
    labels: ArrayLike | None = None,
    multi_class: MultiClass = "auto",
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
    multi_class : {"auto", "top_label"}
        How shape (n, 2) is read. "auto": as a binary problem, whose second column is scored as if
        it were passed alone; its rows must sum to 1, up to 0.001. "top_label": as k classes are.
    nan_policy : {"raise", "omit"}
        What to do with NaN or missing values: reject them, or drop their rows and count them.

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
    codes, y_proba = event_rows(
        y_true, y_proba, labels=labels, pos_label=pos_label, multi_class=multi_class
    )
    state.update(codes, y_proba, sample_weight, check_nan_policy(nan_policy))
    return RiskProfile._of(state)
