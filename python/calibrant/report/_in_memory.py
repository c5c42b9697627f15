"""A report of arrays in memory."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from calibrant._input.labels import event_rows
from calibrant._input.validation import MultiClass, NanPolicy, check_nan_policy
from calibrant.evidence import Evidence
from calibrant.report._report import Report

__all__ = ["report"]


def report(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    groups: Any = None,
    title: str | None = None,
    n_bins: int = 15,
    q_lim: float = 0.0,
    confidence_level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    pos_label: object | None = None,
    labels: ArrayLike | None = None,
    multi_class: MultiClass = "auto",
    nan_policy: NanPolicy = "raise",
) -> Report:
    """Everything about these probabilities, to look at.

    Parameters
    ----------
    y_true : array of shape (n,)
        Class codes, 0 to k - 1; or what pos_label or labels say.
    y_proba : array of shape (n,) or (n, k), values in [0, 1]
        The probability of class 1 of a binary problem, or of each class. Two columns are a binary
        problem, see `calibrant.brier_score`.
    title : str, optional
        Of the page.
    groups, n_bins, q_lim, confidence_level, sample_weight, pos_label, labels, multi_class
        As for `calibrant.scorecard`.
    nan_policy : {"raise", "omit"}
        Reject missing values, or leave their rows out and count them.

    Returns
    -------
    Report
        With ``save(path)``, ``to_html()`` and ``to_dict()``; a notebook shows it.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.uniform(0.02, 0.98, 10000)
    >>> y = rng.random(10000) < truth
    >>> odds = (truth / (1 - truth)) ** 2  # twice the logit: too sure of itself
    >>> page = report(y, odds / (1 + odds))
    >>> page.verdict.headline
    'These probabilities are over-confident: events given ... happened ... of the time.'
    >>> [section.name for section in page.sections]
    ['scorecard', 'reliability', 'assessment', 'cumulative', 'spectrum', 'roc']
    """
    check_nan_policy(nan_policy)
    if y_proba is None:
        raise TypeError("y_proba must be an array of real numbers, got None")
    codes, _ = event_rows(
        y_true, y_proba, labels=labels, pos_label=pos_label, multi_class=multi_class
    )
    classes = () if labels is None else tuple(map(_plain, labels))  # type: ignore[arg-type]
    evidence = Evidence(n_bins=n_bins, q_lim=q_lim, classes=classes, multi_class=multi_class)
    evidence.update(
        codes, y_proba, sample_weight=sample_weight, groups=groups, nan_policy=nan_policy
    )
    settings = evidence.source["settings"]
    settings.update(confidence_level=confidence_level, nan_policy=nan_policy)
    if classes:
        evidence.source["classes"] = list(map(str, classes))
    return Report.of(evidence, title=title, confidence_level=confidence_level)


def _plain(label: Any) -> Any:
    return label.item() if hasattr(label, "item") else label
