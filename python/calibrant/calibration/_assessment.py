"""The model against the source: what is the data's own uncertainty, and what is the model's.

All pairs (event, class) are binned by their probability [1]_. With N_k pairs in bin k, of which
N*_k are true (the event was of that class), f_k = N*_k / N_k is the frequency with which the
bin's pairs happen. Over the N events, with power m,

    Model(m)  = (1/N sum q^m)^(1/m)             of the probabilities q of what happened,
    Source(m) = (sum_k N*_k/N f_k^m)^(1/m)      of the frequencies of their bins,

and with m = 0 the model's probability is the source's times the divergence: cross-entropy is
entropy plus divergence. The angle of the line through the points (Source(m), Model(m)) tells
over-confidence (above 45 degrees) from under-confidence (below).

References
----------
.. [1] K. P. Nelson, "Assessing Probabilistic Inference by Comparing the Generalized Mean of
   the Model and Source Probabilities", Entropy 19(6), 286, 2017, sections 4 to 6. The formulas
   here are as corrected in the documentation of calibrant.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from calibrant import _core
from calibrant._input.bins import edges_or_number
from calibrant._input.labels import event_rows, n_classes
from calibrant._input.validation import (
    MultiClass,
    NanPolicy,
    check_nan_policy,
    checked_choice,
    checked_flag,
    checked_number,
)
from calibrant._result import Result, plain
from calibrant._runtime.public_module import public_in
from calibrant.calibration._verdict import (
    angle_of,
    angle_text,
    angle_tolerance,
    calibration_verdict,
    too_many_bins,
)
from calibrant.means import RiskProfile

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from calibrant.plotting import AssessmentDisplay

__all__ = ["Assessment", "AssessmentBins", "assess"]


def __dir__() -> list[str]:
    return __all__


SourceEstimator = Literal["bins", "bayes", "isotonic", "knn", "kernel"]
SOURCES = ("bins", "bayes", "isotonic", "knn", "kernel")

#: A Beta prior weighs as much as one pair: for two classes, Jeffreys' Beta(1/2, 1/2).
PRIOR_STRENGTH = 1.0


@public_in("calibrant.assessment")
@dataclass(frozen=True, repr=False, eq=False)
class AssessmentBins(Result):
    """Per bin, what the model said and what happened. All attributes are arrays.

    Attributes
    ----------
    left, right : float
        The bin is [left, right); the last (of a class) also holds its right edge.
    classes : int
        The class whose pairs these are, or -1 for all.
    pairs, true_pairs : int
        Pairs (event, class), and those of them that happened.
    weights, true_weights : float
        The sums of their weights; the numbers themselves where there are none.
    mean_scores : float
        The arithmetic mean of the probabilities of all pairs.
    decisiveness, accuracy, robustness : float
        The generalized means (m = 1, 0, -2/3) of the probabilities of the true pairs.
    frequencies : float
        True pairs per pair.
    source : float
        The mean over the true pairs of the estimate of the source.
    contributions : float
        N*_k/N ln accuracy_k; they sum to the logarithm of the model's accuracy.

    Means over no pair are NaN.
    """

    left: np.ndarray
    right: np.ndarray
    classes: np.ndarray
    pairs: np.ndarray
    true_pairs: np.ndarray
    weights: np.ndarray
    true_weights: np.ndarray
    mean_scores: np.ndarray
    decisiveness: np.ndarray
    accuracy: np.ndarray
    robustness: np.ndarray
    frequencies: np.ndarray
    source: np.ndarray
    contributions: np.ndarray

    @classmethod
    def _of(
        cls, table: _core.Assessment, of_class: int, by_bin: np.ndarray
    ) -> dict[str, np.ndarray]:
        edges = np.array(table.edges)
        return {
            "left": edges[:-1],
            "right": edges[1:],
            "classes": np.full(len(edges) - 1, of_class),
            "pairs": table.pairs().astype(np.int64),
            "true_pairs": table.true_pairs().astype(np.int64),
            "weights": table.weights(),
            "true_weights": table.true_weights(),
            "mean_scores": table.mean_scores(),
            "decisiveness": table.model_means(0),
            "accuracy": table.model_means(1),
            "robustness": table.model_means(2),
            "frequencies": table.frequencies(),
            "source": by_bin,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the columns by name as lists, ready for JSON; NaN becomes None."""
        return {name: plain(getattr(self, name)) for name in self.__dataclass_fields__}

    def __len__(self) -> int:
        return len(self.left)

    def __repr__(self) -> str:
        rows = ["  from    to      pairs     true      model   frequency"]
        last = len(self) - 1
        for k in range(len(self)):
            if last > 20 and 10 <= k <= last - 10:
                if k == 10:
                    rows.append(f"  ... {last - 19} more bins")
                continue
            means = f"{self.accuracy[k]:.4f}  {self.frequencies[k]:.4f}"
            rows.append(
                f"  {self.left[k]:.4f}  {self.right[k]:.4f}  {self.pairs[k]:<8d}  "
                f"{self.true_pairs[k]:<8d}  {means if self.true_pairs[k] else ''}".rstrip()
            )
        return "\n".join(rows)


@public_in("calibrant.assessment")
@dataclass(frozen=True, repr=False, eq=False)
class Assessment(Result):
    """The model against the source.

    Attributes
    ----------
    model, source, divergence : RiskProfile
        The generalized means of the model's probabilities of what happened and of the source's,
        and their ratios. ``model`` is `calibrant.risk_profile`, to the bit. With
        ``accuracy`` (m = 0) the identity model = source * divergence is cross-entropy =
        entropy + divergence.
    angle : float
        In degrees, of the line through the three points (source, model): above 45 is
        over-confident, below under-confident. NaN where both spreads are 0.
    tolerance : float
        How far, in degrees, the angle of calibrated probabilities strays from 45 by chance
        alone, in 95 of 100 samples of these bins; simulated.
    verdict : str
        That of Spiegelhalter's test and the KS test together, whatever the bins; false in at
        most 5 of 100 samples of calibrated rows, of any size. It starts with "over-confident",
        "under-confident", "too high", "too low" or "miscalibrated", and the size of the error;
        or with "calibrated", "too few rows to tell" or "undefined", and the reason.
    bins : AssessmentBins
    n, n_classes, n_omitted : int
        Events taken in, classes, and rows dropped because a value was missing.
    q_lim : float
        Probabilities were clipped to [q_lim, 1 - q_lim].
    source_estimator : str
    warning : str or None
        Why the numbers should be read with care.
    pvalue : float
        Of the verdict: of the hypothesis that the probabilities are right.
    """

    model: RiskProfile
    source: RiskProfile
    divergence: RiskProfile
    angle: float
    tolerance: float
    verdict: str
    bins: AssessmentBins
    n: int
    n_classes: int
    n_omitted: int = 0
    q_lim: float = 0.0
    source_estimator: str = "bins"
    warning: str | None = None
    pvalue: float = math.nan

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name, ready for JSON."""
        return {name: plain(getattr(self, name)) for name in self.__dataclass_fields__}

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, **options: Any
    ) -> AssessmentDisplay:
        """Draw the model against the source: a bubble for each bin, and the three means.

        Needs matplotlib: ``pip install ".[plot]"``. The arguments are those of
        `calibrant.plotting.AssessmentDisplay`.
        """
        from calibrant.plotting import AssessmentDisplay

        return AssessmentDisplay(self).plot(ax, name=name, **options)

    def __repr__(self) -> str:
        lines = [
            f"Assessment of {self.n} rows, {self.n_classes} classes, {len(self.bins)} bins, source="
            + repr(self.source_estimator),
            "                model   source  model / source",
        ]
        for name in ("decisiveness", "accuracy", "robustness"):
            values = [getattr(part, name) for part in (self.model, self.source, self.divergence)]
            lines.append(f"  {name:<12}  " + "  ".join(f"{value:.4f}" for value in values))
        lines.append(f"  {self.verdict}")
        if self.warning is not None:
            lines.append(f"  {self.warning}")
        return "\n".join(lines)


def default_bins(y_true: Any) -> int:
    """Return how many bins the rows can support."""
    try:
        n = len(y_true)
    except TypeError:
        n = 0  # not an array: rejected when it is read
    return number_of_bins(n)


def number_of_bins(n: int) -> int:
    """Return how many bins n rows can support: 50 rows each, at least 2 and at most 100."""
    return min(max(n // 50, 2), 100)


def _ratios(model: _core.RiskProfile, source: _core.RiskProfile) -> RiskProfile:
    decisiveness, accuracy, robustness = (model.mean_ratio(i, source) for i in range(3))
    return RiskProfile(decisiveness, accuracy, robustness, model.n)


def model_of(tables: list[_core.Assessment]) -> _core.RiskProfile:
    """Return the means of all true pairs."""
    model = tables[0].model()
    for table in tables[1:]:
        model.merge(table.model())
    return model


def conclude(
    tables: list[_core.Assessment],
    model_state: _core.RiskProfile,
    sources: list[tuple[_core.RiskProfile, np.ndarray]],
    classes: Sequence[int],
    n_classes: int,
    estimator: str,
    rows: _core.ScoreTable | None,
) -> Assessment:
    """Return what tables and their sources, of all pairs or one per class, amount to.

    The verdict is on the rows, which states of older versions do not have.
    """
    source_state = sources[0][0].copy()
    for profile, _ in sources[1:]:
        source_state.merge(profile)
    model, source = RiskProfile._of(model_state), RiskProfile._of(source_state)
    source = replace(source, n=model.n)
    columns = [
        AssessmentBins._of(table, of_class, by_bin)
        for table, of_class, (_, by_bin) in zip(tables, classes, sources, strict=True)
    ]
    joined = {name: np.concatenate([part[name] for part in columns]) for name in columns[0]}
    joined["contributions"] = np.concatenate([t.contributions(model_state) for t in tables])
    bins = AssessmentBins(**joined)
    divergence = _ratios(model_state, source_state)
    angle = angle_of(model, source)
    tolerance = angle_tolerance(model, bins)
    text, pvalue = verdict_on(rows, angle_text(angle, tolerance, len(bins)), tables[0].q_lim)
    return Assessment(
        model, source, divergence, angle, tolerance, text,
        bins, tables[0].n, n_classes, tables[0].n_omitted, tables[0].q_lim, estimator,
        too_many_bins(bins, n_classes), pvalue,
    )  # fmt: skip


def verdict_on(rows: _core.ScoreTable | None, angle: str, q_lim: float) -> tuple[str, float]:
    """Return the verdict on rows with the angle beside it, and its p-value."""
    if rows is None:
        return "undefined: the rows are not known, and the angle alone is no test", math.nan
    found = calibration_verdict(rows, q_lim=q_lim)
    return f"{found}; {angle}", found.pvalue


def check_source(source: str, allowed: Sequence[str] = SOURCES) -> str:
    """Return it if it is one of these."""
    return str(checked_choice(source, "source", allowed))


def source_of_table(
    table: _core.Assessment, whole: _core.RiskProfile, source: str, n_classes: int
) -> tuple[_core.RiskProfile, np.ndarray]:
    """Return the sources that need no more than the table: its means, and by bin."""
    if source == "bayes":
        return table.bayes_frequency_estimate(whole, n_classes, PRIOR_STRENGTH)
    return table.frequency_estimate_of_bins(whole)


def assess(
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
) -> Assessment:
    """Compare the model's probabilities with the source's: how confident may it be?

    All pairs (event, class) are binned by probability; the module's page has the formulas.

    Parameters
    ----------
    y_true : array of shape (n,)
        Class codes, 0 to k - 1.
    y_proba : array of shape (n,) or (n, k), values in [0, 1]
        The probability of class 1 of a binary problem, or of each class. Shape (n,) gives the
        pairs (1 - p, class 0) and (p, class 1).
    n_bins : int, or the edges themselves, optional
        By default one for every 50 rows, from 2 to 100.
    strategy : {"quantile", "uniform", "kmeans"}
        Bins of equal count as far as ties allow; of equal width; or clusters of similar
        probabilities, those with the least sum of squared distances from their means.
    per_class : bool
        Bin the pairs of each class apart, n_bins each, instead of all in one.
    source : {"bins", "bayes", "isotonic", "knn", "kernel"}
        How often pairs of a given probability happen is estimated by the frequency of the bin;
        that with a Beta prior of mean 1/k that counts as one pair; the isotonic regression on
        the probability; the frequency among the nearest pairs that hold 1/n_bins of the
        weight; or a kernel, 1 - (distance * n_bins)^2 as far as positive (n_bins <= 2048).
    q_lim : float, 0 <= q_lim < 0.5
        Clip all probabilities to [q_lim, 1 - q_lim].
    sample_weight, pos_label, labels, multi_class, nan_policy
        As for `calibrant.risk_profile`.

    Returns
    -------
    Assessment

    Warns
    -----
    UserWarning
        If the bins are so many that they describe chance.

    See Also
    --------
    calibrant.streaming.Assessment : the same for batches and many machines, with fixed edges

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.uniform(0.02, 0.98, 10000)
    >>> y = rng.random(10000) < truth
    >>> odds = (truth / (1 - truth)) ** 2  # twice the logit: too sure of itself
    >>> assess(y, odds / (1 + odds), n_bins=50)
    Assessment of 10000 rows, 2 classes, 50 bins, source='bins'
                    model   source  model / source
      decisiveness  0.7016  0.6508  1.0780
      accuracy      0.5471  0.5927  0.9231
      robustness    0.2955  0.5360  0.5513
      over-confident: events given 11 % happened 27 % of the time (...); the angle over 50 bins ...
    """
    omit = check_nan_policy(nan_policy)
    check_source(source)
    codes, y_proba = event_rows(
        y_true, y_proba, labels=labels, pos_label=pos_label, multi_class=multi_class
    )
    k = n_classes(y_proba)
    classes = list(range(max(k, 1))) if checked_flag(per_class, "per_class") else [_core.ALL_PAIRS]
    data = (codes, y_proba, sample_weight, omit)
    bins = default_bins(codes) if n_bins is None else n_bins
    tables = [_table(data, of_class, bins, strategy, q_lim) for of_class in classes]
    model = model_of(tables)
    if source in ("bins", "bayes"):
        sources = [source_of_table(table, model, source, k) for table in tables]
    else:
        sources = [
            _core.sorted_frequency_estimate(*data, of_class, table, model, source)
            for of_class, table in zip(classes, tables, strict=True)
        ]
    rows = _core.ScoreTable()
    rows.update(*data)
    result = conclude(tables, model, sources, classes, k, source, rows)
    if result.warning is not None:
        warnings.warn(result.warning, UserWarning, stacklevel=2)
    return result


def _table(
    data: tuple[Any, Any, Any, bool], of_class: int, bins: Any, strategy: str, q_lim: float
) -> _core.Assessment:
    edges, number, clustered = edges_or_number(bins, strategy)
    q_lim = checked_number(q_lim, "q_lim")
    if number:
        find = _core.clustered_pair_edges if clustered else _core.equal_count_pair_edges
        edges = find(*data, of_class, q_lim, number)
    table = _core.Assessment(edges, q_lim, with_table=False)
    table.update(*data, of_class)
    return table
