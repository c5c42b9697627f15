"""Proper scores: the Brier, log and spherical score, and what the best constant achieves.

A score is *strictly proper* if, in expectation, only the true probabilities reach its best
value; all three are. With q the probability that was given to what happened,

    Brier      mean (p - y)^2, or the mean over rows of sum_j (p_j - [j happened])^2
    log        mean -ln q
    spherical  mean q / sqrt(sum_j p_j^2)

Brier and log are losses, 0 at best; the spherical score is a gain, 1 at best.

Sums are exact: no result depends on the order of rows, the number of threads or how the
rows were split, and an integer weight k is k repetitions, to the last bit.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant import _core
from calibrant._input.columns import read_numbers
from calibrant._input.labels import class_codes, event_rows, scored_columns
from calibrant._input.validation import MultiClass, NanPolicy, check_nan_policy, checked_count
from calibrant._result import Result
from calibrant.scores._decompositions import (
    BrierDecomposition,
    CorpDecomposition,
    MurphyDecomposition,
    brier_decomposition,
)
from calibrant.scores._log_decomposition import LogDecomposition, log_decomposition

if TYPE_CHECKING:
    from calibrant.scorecards import (
        Estimate as Estimate,
        Scorecard as Scorecard,
        scorecard as scorecard,
    )

__all__ = [
    "BrierDecomposition",
    "CorpDecomposition",
    "Estimate",
    "LogDecomposition",
    "MurphyDecomposition",
    "ScoreSummary",
    "Scorecard",
    "brier_decomposition",
    "brier_score",
    "brier_skill_score",
    "gini_impurity",
    "log_decomposition",
    "log_score",
    "optimal_constant",
    "scorecard",
    "spherical_score",
]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name not in ("Estimate", "Scorecard", "scorecard"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from calibrant import scorecards

    return getattr(scorecards, name)


#: The names of the scores, in the order in which all list them.
SCORES = ("brier", "log", "spherical")

#: None if it was not kept; not typed so, or whoever keeps all, the default, would have to ask.
MaybeFloat = float | Any


@dataclass(frozen=True, repr=False)
class ScoreSummary(Result):
    """Proper scores of the same rows.

    Attributes
    ----------
    brier, log, spherical : float, or None
        As `brier_score`, `log_score` and `spherical_score` give them; None if the accumulator
        did not keep it.
    n, n_omitted : int
        Rows taken in, and rows dropped because a value was missing.
    q_lim : float
        For the log score, probabilities were clipped to [q_lim, 1 - q_lim].
    """

    brier: MaybeFloat = None
    log: MaybeFloat = None
    spherical: MaybeFloat = None
    n: int = 0
    n_omitted: int = 0
    q_lim: float = 0.0

    @classmethod
    def _of(cls, state: _core.ScoreSums) -> ScoreSummary:
        kept = {name: getattr(state, name)() for name in state.scores}
        return cls(**kept, n=state.n, n_omitted=state.n_omitted, q_lim=state.q_lim)


def core_sums(
    *, brier: bool = False, log: bool = False, spherical: bool = False, q_lim: Any = 0.0
) -> _core.ScoreSums:
    """Make an empty accumulator of the core, for these scores."""
    if not isinstance(q_lim, numbers.Real):
        raise TypeError(f"q_lim must be a real number, got {q_lim!r}")
    return _core.ScoreSums(brier, log, spherical, float(q_lim))


def _scored(
    state: _core.ScoreSums,
    y_true: ArrayLike,
    y_proba: ArrayLike,
    sample_weight: ArrayLike | None,
    pos_label: object | None,
    labels: ArrayLike | None,
    multi_class: MultiClass,
    nan_policy: NanPolicy,
) -> _core.ScoreSums:
    codes, y_proba = event_rows(
        y_true, y_proba, labels=labels, pos_label=pos_label, multi_class=multi_class
    )
    state.update(codes, y_proba, sample_weight, check_nan_policy(nan_policy))
    return state


def brier_score(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: object | None = None,
    labels: ArrayLike | None = None,
    multi_class: MultiClass = "auto",
    nan_policy: NanPolicy = "raise",
) -> float:
    """Mean squared difference between probabilities and outcomes; 0 is perfect.

    The shape of y_proba decides the scale. For (n,) it is the mean of (p - y)^2, from 0 to 1.
    For (n, k) it is the mean of the sum over classes, sum_j (p_j - [j happened])^2, from 0 to 2.
    Two columns are a binary problem, see multi_class; scored as classes, they give twice the
    value of one.

    Parameters
    ----------
    y_true : array of shape (n,)
        Class codes, 0 to k - 1, of any integer, bool or integral float type.
    y_proba : array of shape (n,) or (n, k), values in [0, 1]
        The probability of class 1 of a binary problem, or of each class. float32 and float64
        of any stride are read in place. Rows need not sum to 1, unless there are two columns.
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
        What to do with NaN or missing values: reject them, or leave their rows out.

    See Also
    --------
    calibrant.streaming.Scores : the same for batches and many machines

    Notes
    -----
    scikit-learn's ``brier_score_loss`` is the same for shape (n,); for (n, k) it is the same
    with its default, ``scale_by_half="auto"``, which halves for two classes and not for more.

    Examples
    --------
    >>> brier_score([1, 0], [0.75, 0.5])
    0.15625
    >>> brier_score([1, 0], [[0.25, 0.75], [0.5, 0.5]])
    0.15625
    >>> brier_score([1, 0], [[0.25, 0.75], [0.5, 0.5]], multi_class="top_label")
    0.3125
    """
    rows = (y_true, y_proba, sample_weight, pos_label, labels, multi_class, nan_policy)
    return _scored(core_sums(brier=True), *rows).brier()


def log_score(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    q_lim: float = 0.0,
    sample_weight: ArrayLike | None = None,
    pos_label: object | None = None,
    labels: ArrayLike | None = None,
    multi_class: MultiClass = "auto",
    nan_policy: NanPolicy = "raise",
) -> float:
    """Mean of -ln q, in nats, of the probabilities q given to what happened; 0 is perfect.

    It is minus the logarithm of the accuracy of `risk_profile`.

    Parameters
    ----------
    y_true : array of shape (n,)
        Class codes, 0 to k - 1; or what pos_label or labels say.
    y_proba : array of shape (n,) or (n, k), values in [0, 1]
        The probability of class 1 of a binary problem, or of each class. Two columns are a binary
        problem, see `calibrant.brier_score`.
    q_lim : float, 0 <= q_lim < 0.5
        Clip q to [q_lim, 1 - q_lim]: the precision claimed for the probabilities. Without it
        a single q = 0 makes the score infinite.
    sample_weight, pos_label, labels, multi_class, nan_policy
        As for `brier_score`.

    Notes
    -----
    scikit-learn's ``log_loss`` clips to the machine epsilon of y_proba's type, so that its
    value for a q of 0 depends on that type.

    Examples
    --------
    >>> log_score([1, 0], [0.5, 0.75])
    1.0397207708399179
    >>> log_score([1, 0], [0.5, 1.0])
    inf
    >>> log_score([1, 0], [0.5, 1.0], q_lim=0.125)
    1.3862943611198906
    """
    state = core_sums(log=True, q_lim=q_lim)
    rows = (y_true, y_proba, sample_weight, pos_label, labels, multi_class, nan_policy)
    return _scored(state, *rows).log()


def spherical_score(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: object | None = None,
    labels: ArrayLike | None = None,
    multi_class: MultiClass = "auto",
    nan_policy: NanPolicy = "raise",
) -> float:
    """Mean of q / sqrt(sum_j p_j^2), from 0 to 1; higher is better, 1 is perfect.

    q is the probability given to what happened, and the sum is over all classes: for shape (n,)
    over p and 1 - p. A row of zeros, whose direction is undefined, scores 0.

    Parameters
    ----------
    y_true : array of shape (n,)
        Class codes, 0 to k - 1; or what pos_label or labels say.
    y_proba : array of shape (n,) or (n, k), values in [0, 1]
        The probability of class 1 of a binary problem, or of each class. Two columns are a binary
        problem, see `calibrant.brier_score`.
    sample_weight, pos_label, labels, multi_class, nan_policy
        As for `brier_score`.

    Examples
    --------
    >>> spherical_score([1, 0], [0.5, 0.5])
    0.7071067811865476
    >>> spherical_score([0, 1], [[0.6, 0.8, 0.0], [0.6, 0.8, 0.0]])
    0.7
    """
    rows = (y_true, y_proba, sample_weight, pos_label, labels, multi_class, nan_policy)
    return _scored(core_sums(spherical=True), *rows).spherical()


def brier_skill_score(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    reference: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object | None = None,
    labels: ArrayLike | None = None,
    multi_class: MultiClass = "auto",
    nan_policy: NanPolicy = "raise",
) -> float:
    """Brier score relative to a reference forecast, 1 - BS / BS_ref.

    1 is perfect, 0 is as good as the reference, below 0 is worse.

    Parameters
    ----------
    y_true : array of shape (n,)
        Class codes, 0 to k - 1; or what pos_label or labels say.
    y_proba : array of shape (n,) or (n, k), values in [0, 1]
        The probability of class 1 of a binary problem, or of each class. Two columns are a binary
        problem, see `calibrant.brier_score`.
    reference : array that can be broadcast to the shape of y_proba, optional
        The forecast to compare with: for each row, or one for all rows (a number for shape
        (n,), k numbers for shape (n, k)). By default the class frequencies of y_true itself,
        which no constant forecast can beat on these rows.
    sample_weight, pos_label, labels, multi_class, nan_policy
        As for `brier_score`. With "omit", rows are left out if anything is missing in them,
        the reference included.

    Raises
    ------
    ValueError
        If the reference is perfect, so that the skill is undefined; by default that is where
        all rows are of one class.

    Examples
    --------
    >>> brier_skill_score([1, 0], [0.75, 0.5])
    0.375
    >>> brier_skill_score([1, 0], [0.75, 0.5], reference=0.25)
    0.5
    """
    codes, scored = event_rows(
        y_true, y_proba, labels=labels, pos_label=pos_label, multi_class=multi_class
    )
    omit = check_nan_policy(nan_policy)
    state = core_sums(brier=True)
    if reference is None:
        state.update(codes, scored, sample_weight, omit)
        return state.brier_skill(None)
    forecast = read_numbers(y_proba, "y_proba")
    try:
        other = np.broadcast_to(read_numbers(reference, "reference"), forecast.shape)
    except ValueError as error:
        raise ValueError(
            f"reference must fit y_proba of shape {forecast.shape}, got shape {np.shape(reference)}"
        ) from error
    if omit:
        missing = np.isnan(forecast) | np.isnan(other)
        missing = missing.any(axis=1) if missing.ndim == 2 else missing
        weight = (
            np.ones(len(missing))
            if sample_weight is None
            else read_numbers(sample_weight, "sample_weight")
        )
        sample_weight = np.where(missing, np.nan, weight)  # left out of both scores
    state.update(codes, scored, sample_weight, omit)
    _check_reference(other, omit)
    reference_state = core_sums(brier=True)
    other = scored_columns(other, multi_class, "reference")
    reference_state.update(codes, other, sample_weight, omit)
    return state.brier_skill(reference_state)


def _check_reference(reference: NDArray[Any], omit: bool) -> None:
    """Find what the core would take for a bad value of y_proba."""
    good = (reference >= 0.0) & (reference <= 1.0)
    bad = np.argwhere(~(good | np.isnan(reference)) if omit else ~good)
    if bad.size:
        value, row = reference[tuple(bad[0])], bad[0][0]
        raise ValueError(f"reference must lie in [0, 1], found {value} at row {row}")


def _classes(
    y_true: ArrayLike,
    n_classes: int | None,
    labels: ArrayLike | None,
    sample_weight: ArrayLike | None,
    nan_policy: NanPolicy,
) -> _core.ScoreSums:
    omit = check_nan_policy(nan_policy)
    codes = class_codes(y_true, None, labels=labels, pos_label=None)
    if labels is not None:
        if n_classes is not None:
            raise ValueError("pass labels or n_classes, not both: labels already says how many")
        n_classes = np.size(labels)
    if n_classes is None:
        n_classes = max(_largest_code(codes) + 1, 2)
    n_classes = checked_count(n_classes, "n_classes", least=2)
    state = core_sums()
    state.update_labels(codes, n_classes, sample_weight, omit)
    return state


def _largest_code(codes: ArrayLike) -> int:
    values = np.asarray(codes)
    if values.size == 0 or values.dtype.kind not in "biuf":
        return 0  # the core says what is wrong with it
    largest = np.nanmax(values) if values.dtype.kind == "f" else values.max()
    return int(largest) if 0 <= largest < 2**20 else 0


def optimal_constant(
    y_true: ArrayLike,
    *,
    n_classes: int | None = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> NDArray[np.float64]:
    """Class frequencies: the constant forecast with the best Brier and log score.

    Parameters
    ----------
    y_true : array of shape (n,)
        Class codes, 0 to k - 1, or what ``labels`` lists.
    n_classes : int, optional
        k; by default one more than the largest code, and at least 2.
    labels : sequence, optional
        The class labels, in the order in which their frequencies are wanted.
    sample_weight, nan_policy
        As for `brier_score`.

    Returns
    -------
    array of shape (k,)
        For a binary problem, ``[1]`` is the forecast of shape (n,).

    Examples
    --------
    >>> optimal_constant([0, 1, 2, 1])
    array([0.25, 0.5 , 0.25])
    """
    return _classes(y_true, n_classes, labels, sample_weight, nan_policy).class_frequencies()


def gini_impurity(
    y_true: ArrayLike,
    *,
    n_classes: int | None = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float:
    """Gini impurity of labels, sum_j pi_j (1 - pi_j) over the class frequencies pi.

    It is the Brier score, in the sum form, of the best constant forecast: the risk of a node of
    a decision tree per row. The one-column form of a binary problem gives half of it.

    Parameters
    ----------
    y_true, n_classes, labels, sample_weight, nan_policy
        As for `optimal_constant`; classes without rows change nothing.

    Examples
    --------
    >>> y_true = [0, 1, 2, 1]
    >>> gini_impurity(y_true)
    0.625
    >>> brier_score(y_true, [optimal_constant(y_true)] * 4)
    0.625
    """
    return _classes(y_true, n_classes, labels, sample_weight, nan_policy).gini()
