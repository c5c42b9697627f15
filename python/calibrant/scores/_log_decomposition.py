"""The log score, split into the source's entropy and the model's divergence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from calibrant._input.validation import MultiClass, NanPolicy
from calibrant._result import Result
from calibrant.calibration._assessment import SourceEstimator, assess

__all__ = ["LogDecomposition", "log_decomposition"]


@dataclass(frozen=True, repr=False)
class LogDecomposition(Result):
    """The log score, split into what is the source's and what is the model's own; in nats.

    Attributes
    ----------
    cross_entropy : float
        The log score itself: entropy + divergence.
    entropy : float
        What the source's own uncertainty costs; a perfect model pays as much.
    divergence : float
        What the model's deviation from the source costs. It may be slightly negative, where
        probabilities vary inside a bin.
    n : int
        Rows.
    """

    cross_entropy: float
    entropy: float
    divergence: float
    n: int = 0


def log_decomposition(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    n_bins: int | Sequence[float] | np.ndarray | None = None,
    strategy: Literal["uniform", "quantile", "kmeans"] = "quantile",
    per_class: bool = False,
    source: SourceEstimator = "bins",
    q_lim: float = 0.0,
    sample_weight: ArrayLike | None = None,
    pos_label: object | None = None,
    labels: ArrayLike | None = None,
    multi_class: MultiClass = "auto",
    nan_policy: NanPolicy = "raise",
) -> LogDecomposition:
    """Split the log score: cross-entropy = entropy of the source + divergence of the model.

    They are -ln of the three accuracies (m = 0) that `assess` gives: of the model, of the source
    and of their ratio.

    Parameters
    ----------
    y_true : array of shape (n,)
        Class codes, 0 to k - 1; or what pos_label or labels say.
    y_proba : array of shape (n,) or (n, k), values in [0, 1]
        The probability of class 1 of a binary problem, or of each class. Two columns are a binary
        problem, see `calibrant.brier_score`.
    n_bins, strategy, per_class, source, q_lim
        As for `assess`.
    sample_weight, pos_label, labels, multi_class, nan_policy
        As for `assess`.

    Examples
    --------
    >>> y, p = [0, 0, 0, 1, 1], [0.1, 0.1, 0.1, 0.9, 0.1]
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):  # five rows, only to show it
    ...     log_decomposition(y, p, n_bins=[0, 0.5, 1])
    LogDecomposition(cross_entropy=0.544805, entropy=0.500402, divergence=0.044403, n=5)
    """
    result = assess(
        y_true, y_proba, n_bins=n_bins, strategy=strategy, per_class=per_class, source=source,
        q_lim=q_lim, sample_weight=sample_weight, pos_label=pos_label, labels=labels,
        multi_class=multi_class, nan_policy=nan_policy,
    )  # fmt: skip
    parts = (result.model, result.source, result.divergence)
    cross_entropy, entropy, divergence = (_minus_log(part.accuracy) for part in parts)
    return LogDecomposition(cross_entropy, entropy, divergence, result.n)


def _minus_log(probability: float) -> float:
    return 0.0 - math.log(probability) if probability > 0.0 else math.inf  # not -0.0
