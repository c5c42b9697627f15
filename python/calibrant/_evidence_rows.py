"""How a batch of rows gets into the accumulators of `Evidence`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant import scorecards, streaming
from calibrant._groups import group_codes
from calibrant._prediction_sets import update_coded_sets
from calibrant._settings import NanPolicy, check_nan_policy
from calibrant.io._batches import Batch

if TYPE_CHECKING:
    from calibrant.evidence import Evidence

__all__ = ["add_batch"]

#: Why there is no HSIC of weighted rows.
NO_WEIGHTS = "rows have weights, and HSIC takes none"


def add_batch(evidence: Evidence, batch: Batch, nan_policy: NanPolicy, first_pair: int) -> None:
    """Add rows to all accumulators; if some are refused, some accumulators may have them."""
    y_true, weight = batch.y_true, batch.sample_weight
    if batch.y_proba is not None:
        _add_scores(evidence, batch, check_nan_policy(nan_policy))
        for part in (evidence.spectrum, evidence.assessment):
            if part is not None:
                part.update(y_true, batch.y_proba, sample_weight=weight, nan_policy=nan_policy)
    if evidence.intervals is not None and batch.intervals is not None:
        evidence.intervals.update(
            y_true, batch.intervals, sample_weight=weight, nan_policy=nan_policy
        )
        _add_hsic(evidence, batch, nan_policy)
    if evidence.sets is not None and batch.sets is not None:
        _add_sets(evidence.sets, evidence.classes, batch, nan_policy)
    if evidence.ranks is not None and batch.draws is not None:
        evidence.ranks.update(
            batch.draws, batch.truth, first_pair=first_pair, nan_policy=nan_policy
        )


def _add_scores(evidence: Evidence, batch: Batch, omit: bool) -> None:
    y_true, weight = batch.y_true, batch.sample_weight
    state = evidence.scorecard._state
    if batch.groups is None:
        state.update(y_true, batch.y_proba, weight, omit)
        return
    codes, keys = group_codes(batch.groups, omit=omit)
    if (codes < 0).any():  # rows without a key are left out
        y_true = np.where(codes < 0, np.nan, np.asarray(y_true, np.float64))
    state.update(y_true, batch.y_proba, weight, omit)
    of_group = scorecards.core_card(state.n_bins, state.q_lim, with_table=False)
    parts = of_group.by_group(y_true, batch.y_proba, weight, omit, codes, len(keys))
    for key, part in zip(keys, parts[:-1], strict=True):
        if part.n or part.n_omitted:
            evidence._add_group(_plain_key(key), streaming.Scorecard._from_state(part))


def _plain_key(key: Any) -> Any:
    return key if isinstance(key, (bool, int, float, str)) else str(key)


def _add_hsic(evidence: Evidence, batch: Batch, nan_policy: NanPolicy) -> None:
    if evidence.coverage_hsic is None:
        return
    if batch.sample_weight is not None:
        evidence._leave_out("coverage_hsic", NO_WEIGHTS)
        return
    try:
        evidence.coverage_hsic.update(batch.y_true, batch.intervals, nan_policy=nan_policy)
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
