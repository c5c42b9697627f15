"""The Brier score in parts: how much of it is miscalibration, and how much is lack of knowledge.

*Murphy's* decomposition looks at bins of scores, *CORP* at the isotonic fit of the outcomes,
which needs no bins. Both start from the uncertainty, the score of the base rate as a constant
forecast; a forecast earns by telling rows apart, and pays for probabilities that are off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from calibrant import _core
from calibrant._input.bins import Strategy, check_strategy, edges_or_number
from calibrant._input.labels import event_rows
from calibrant._input.validation import (
    MultiClass,
    NanPolicy,
    check_nan_policy,
    checked_choice,
    checked_flag,
)
from calibrant._result import Result
from calibrant._runtime.public_module import public_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from calibrant.plotting import BrierDecompositionDisplay

__all__ = [
    "BrierDecomposition",
    "CorpDecomposition",
    "MurphyDecomposition",
    "brier_decomposition",
]


def __dir__() -> list[str]:
    return __all__


@public_in("calibrant.decompositions")
@dataclass(frozen=True, repr=False, kw_only=True)
class BrierDecomposition(Result):
    """What both decompositions of the Brier score share.

    Attributes
    ----------
    score : float
        The Brier score, as `calibrant.brier_score` gives it.
    uncertainty : float
        The score of the base rate as a constant forecast.
    n, n_omitted : int
        Rows taken in, and rows dropped because a value was missing.
    """

    score: float
    uncertainty: float
    n: int = 0
    n_omitted: int = 0

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, **options: Any
    ) -> BrierDecompositionDisplay:
        """Draw the way from the uncertainty to the score, part by part.

        Needs matplotlib: ``pip install ".[plot]"``. The arguments are those of
        `calibrant.plotting.BrierDecompositionDisplay`.
        """
        from calibrant.plotting import BrierDecompositionDisplay

        return BrierDecompositionDisplay(self).plot(ax, name=name, **options)


@public_in("calibrant.decompositions")
@dataclass(frozen=True, repr=False, kw_only=True)
class MurphyDecomposition(BrierDecomposition):
    """The Brier score by bins: score = REL - RES + UNC + WBV - WBC.

    Attributes
    ----------
    score, uncertainty, n, n_omitted
        As in `BrierDecomposition`; the uncertainty may be bias-corrected.
    reliability : float
        Mean square gap between a bin's mean score and its frequency; 0 is best.
    resolution : float
        Mean square gap between a bin's frequency and the base rate; more is better.
    within_bin_variance, within_bin_covariance : float
        What is left because scores differ inside a bin: the mean of (s - s_k)^2, and twice the
        mean of (s - s_k) (y - o_k).
    n_uncorrected_bins : int
        With ``bias_corrected``, the bins that hold rows but less than two.
    """

    reliability: float
    resolution: float
    within_bin_variance: float
    within_bin_covariance: float
    n_uncorrected_bins: int = 0

    @property
    def generalized_resolution(self) -> float:
        """RES - WBV + WBC, so that score = REL - this + UNC."""
        return self.resolution - self.within_bin_variance + self.within_bin_covariance


@public_in("calibrant.decompositions")
@dataclass(frozen=True, repr=False, kw_only=True)
class CorpDecomposition(BrierDecomposition):
    """The Brier score by isotonic regression: score = MCB - DSC + UNC.

    Attributes
    ----------
    score, uncertainty, n, n_omitted
        As in `BrierDecomposition`.
    miscalibration : float
        What the score would fall by if each score were replaced by its isotonic fit; never
        negative.
    discrimination : float
        How much better that fit is than the base rate; never negative.
    """

    miscalibration: float
    discrimination: float


@overload
def brier_decomposition(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    method: Literal["murphy"] = "murphy",
    n_bins: int | Sequence[float] | np.ndarray = 15,
    strategy: Strategy = "uniform",
    bias_corrected: bool = False,
    sample_weight: ArrayLike | None = None,
    pos_label: object | None = None,
    labels: ArrayLike | None = None,
    multi_class: MultiClass = "auto",
    nan_policy: NanPolicy = "raise",
) -> MurphyDecomposition: ...
@overload
def brier_decomposition(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    method: Literal["corp"],
    sample_weight: ArrayLike | None = None,
    pos_label: object | None = None,
    labels: ArrayLike | None = None,
    multi_class: MultiClass = "auto",
    nan_policy: NanPolicy = "raise",
) -> CorpDecomposition: ...
def brier_decomposition(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    method: str = "murphy",
    n_bins: int | Sequence[float] | np.ndarray = 15,
    strategy: Strategy = "uniform",
    bias_corrected: bool = False,
    sample_weight: ArrayLike | None = None,
    pos_label: object | None = None,
    labels: ArrayLike | None = None,
    multi_class: MultiClass = "auto",
    nan_policy: NanPolicy = "raise",
) -> BrierDecomposition:
    """Brier score, split into miscalibration, discrimination and uncertainty.

    With o the base rate, and in bin k the mean score s_k, the frequency o_k of hits and the
    share w_k of the rows, Murphy's decomposition [1]_ with the within-bin terms [2]_ is

        score = REL - RES + UNC + WBV - WBC
        REL = sum w_k (s_k - o_k)^2      RES = sum w_k (o_k - o)^2      UNC = o (1 - o)
        WBV = mean (s - s_k)^2           WBC = 2 mean (s - s_k) (y - o_k)

    and CORP [3]_, with x the isotonic fit of y on s (rows of equal score pooled first), is

        score = MCB - DSC + UNC
        MCB = score - score of x         DSC = UNC - score of x

    Parameters
    ----------
    y_true : array of shape (n,)
        Class codes, 0 to k - 1.
    y_proba : array of shape (n,) or (n, k), values in [0, 1]
        For (n, k) each class is decomposed against the rest, with bins or a fit of its own, and
        the parts are summed over the classes, as `brier_score` sums the score.
    method : {"murphy", "corp"}
    n_bins, strategy
        For "murphy", as for `calibrant.reliability_bins`.
    bias_corrected : bool
        For "murphy": take the sampling variance of the frequencies off REL and RES and add that
        of the base rate to UNC [4]_; the sum stays. With n_k rows in bin k and
        A = sum w_k o_k (1 - o_k) / (n_k - 1), they become REL - A, RES - A + UNC / (n - 1) and
        UNC n / (n - 1). REL and RES may then be negative, and are not clipped. A bin of one row
        has no variance to estimate: it adds nothing to A and is counted in
        ``n_uncorrected_bins``. With weights, a weight is a number of rows: n_k is their sum.
    sample_weight, pos_label, labels, multi_class, nan_policy
        As for `brier_score`.

    Returns
    -------
    MurphyDecomposition or CorpDecomposition

    Notes
    -----
    Without WBV and WBC, which are often left out, REL - RES + UNC is the score only if all
    scores in a bin are equal.

    References
    ----------
    .. [1] A. H. Murphy, "A new vector partition of the probability score", J. Appl. Meteorol.
       12, 1973.
    .. [2] D. B. Stephenson, C. A. S. Coelho, I. T. Jolliffe, "Two extra components in the Brier
       score decomposition", Weather Forecast. 23, 2008.
    .. [3] T. Dimitriadis, T. Gneiting, A. I. Jordan, "Stable reliability diagrams for
       probabilistic classifiers", PNAS 118, 2021.
    .. [4] C. A. T. Ferro, T. E. Fricker, "A bias-corrected decomposition of the Brier score",
       Q. J. R. Meteorol. Soc. 138, 2012.

    Examples
    --------
    >>> y_true, y_proba = [0, 0, 1, 0, 1, 1], [0.125, 0.25, 0.375, 0.625, 0.75, 0.875]
    >>> parts = brier_decomposition(y_true, y_proba, n_bins=2)
    >>> parts.reliability, parts.generalized_resolution
    (0.006944444444444444, 0.10069444444444445)
    >>> brier_decomposition(y_true, y_proba, method="corp")
    CorpDecomposition(score=0.15625, uncertainty=0.25, n=6, miscalibration=0.0729167, discrimination=0.166667)
    """  # noqa: E501
    checked_choice(method, "method", ("murphy", "corp"))
    if checked_flag(bias_corrected, "bias_corrected") and method == "corp":
        raise ValueError("bias_corrected needs method='murphy'")
    check_strategy(strategy)
    omit = check_nan_policy(nan_policy)
    codes, y_proba = event_rows(
        y_true, y_proba, labels=labels, pos_label=pos_label, multi_class=multi_class
    )
    state = _core.ScoreSums(True, False, False, 0.0)
    state.update(codes, y_proba, sample_weight, omit)
    score = state.brier()
    rows = (codes, y_proba, sample_weight, omit)
    if method == "corp":
        miscalibration, discrimination, uncertainty = _core.brier_corp(*rows)
        return CorpDecomposition(
            score=score, miscalibration=miscalibration, discrimination=discrimination,
            uncertainty=uncertainty, n=state.n, n_omitted=state.n_omitted,
        )  # fmt: skip
    edges, number, clustered = edges_or_number(n_bins, strategy)
    reliability, resolution, uncertainty, variance, covariance, uncorrected = _core.brier_murphy(
        *rows, None if number else edges, number, clustered, bias_corrected
    )
    return MurphyDecomposition(
        score=score, reliability=reliability, resolution=resolution, uncertainty=uncertainty,
        within_bin_variance=variance, within_bin_covariance=covariance, n=state.n,
        n_omitted=state.n_omitted, n_uncorrected_bins=uncorrected,
    )  # fmt: skip
