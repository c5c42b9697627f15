"""How a batch of rows gets into the accumulators of `Evidence`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant import _core, streaming
from calibrant._input.groups import group_codes
from calibrant._input.labels import POSITIVE_COLUMN, scored_columns
from calibrant._input.validation import NanPolicy, check_nan_policy
from calibrant.intervals._bounds import Crossed
from calibrant.intervals._sets import update_coded_sets
from calibrant.io._batches import Batch

if TYPE_CHECKING:
    from calibrant.evidence import Evidence

__all__ = ["add_batch"]

#: Why there is no HSIC of weighted rows.
NO_WEIGHTS = "rows have weights, and HSIC takes none"


def add_batch(
    evidence: Evidence,
    batch: Batch,
    nan_policy: NanPolicy,
    first_pair: int,
    crossed: Crossed = "raise",
) -> None:
    """Add rows to all accumulators; if some are rejected, some accumulators may have them."""
    omit = check_nan_policy(nan_policy)
    groups = None
    multi_class = evidence._settings.get("multi_class", "auto")
    scored = scored_columns(batch.y_proba, multi_class)
    if scored is not batch.y_proba:
        evidence.source["y_proba"] = POSITIVE_COLUMN
    batch = replace(batch, y_proba=scored)
    if batch.y_proba is not None and batch.groups is not None:
        groups = group_codes(batch.groups, omit=omit)
        batch = _without_strays(batch, groups[0])
    y_true, weight = batch.y_true, batch.sample_weight
    if batch.y_proba is not None:
        _add_scores(evidence, batch, omit, groups)
        if evidence.spectrum is not None:
            evidence.spectrum._add(y_true, batch.y_proba, weight, omit)
        evidence._add_pairs(evidence.scorecard, y_true, batch.y_proba, weight, omit)
    if evidence.intervals is not None and batch.intervals is not None:
        evidence.intervals.update(
            y_true, batch.intervals, sample_weight=weight, nan_policy=nan_policy, crossed=crossed
        )
        _add_hsic(evidence, batch, nan_policy, crossed)
    if evidence.sets is not None and batch.sets is not None:
        _add_sets(evidence.sets, evidence.classes, batch, nan_policy)
    if evidence.ranks is not None and batch.draws is not None:
        evidence.ranks.update(
            batch.draws, batch.truth, first_pair=first_pair, nan_policy=nan_policy
        )


def _without_strays(batch: Batch, codes: np.ndarray) -> Batch:
    """Rows without a key lose their label, so that all parts leave out the same rows."""
    strays = codes < 0
    if not strays.any():
        return batch
    y_true = np.asarray(batch.y_true, np.float64)
    if y_true.shape != strays.shape:  # rejected where the rows are counted
        return batch
    return replace(batch, y_true=np.where(strays, np.nan, y_true))


def _add_scores(
    evidence: Evidence, batch: Batch, omit: bool, groups: tuple[np.ndarray, list[Any]] | None
) -> None:
    y_true, weight = batch.y_true, batch.sample_weight
    state = evidence.scorecard._state
    state.update(y_true, batch.y_proba, weight, omit)
    if groups is None:
        return
    codes, keys = groups
    empty = streaming.Scorecard(n_bins=state.n_bins, q_lim=state.q_lim)
    nothing = _core.GroupedAccumulators(empty)
    parts = nothing.begin(list(range(len(keys))), "int")
    parts.update(codes, (y_true, batch.y_proba, weight, omit), nothing, 0)
    for number, key in enumerate(keys):
        part = streaming.Scorecard._from_state(parts.merged([number]))
        if part.n or part.n_omitted:
            evidence._add_group(_plain_key(key), part)


def _plain_key(key: Any) -> Any:
    return key if isinstance(key, (bool, int, float, str)) else str(key)


def _add_hsic(evidence: Evidence, batch: Batch, nan_policy: NanPolicy, crossed: Crossed) -> None:
    if evidence.coverage_hsic is None:
        return
    if batch.sample_weight is not None:
        evidence._leave_out("coverage_hsic", NO_WEIGHTS)
        return
    try:
        evidence.coverage_hsic.update(
            batch.y_true, batch.intervals, nan_policy=nan_policy, crossed=crossed
        )
    except ValueError:  # the rows are good, as the intervals took them: too many boxes
        evidence._leave_out("coverage_hsic", evidence._too_many_boxes)


def _add_sets(
    total: streaming.PredictionSets, classes: tuple[Any, ...], batch: Batch, nan_policy: NanPolicy
) -> None:
    y_true, weight = batch.y_true, batch.sample_weight
    if classes:
        omit = check_nan_policy(nan_policy)
        update_coded_sets(total._state, y_true, batch.sets, weight, list(classes), omit)
    else:
        total.update(y_true, batch.sets, sample_weight=weight, nan_policy=nan_policy)
