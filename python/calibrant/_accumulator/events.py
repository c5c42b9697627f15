"""The one ``update`` of all accumulators of labels and probabilities."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from numpy.typing import ArrayLike

from calibrant._accumulator.base import Accumulator, State as AnyState
from calibrant._input.labels import event_rows
from calibrant._input.validation import MultiClass, NanPolicy, check_nan_policy

__all__ = ["EventAccumulator"]


class State(AnyState, Protocol):
    """What an accumulator of events keeps its rows in."""

    @property
    def n_omitted(self) -> int: ...
    @property
    def update(self) -> Any: ...


StateT = TypeVar("StateT", bound=State)


class EventAccumulator(Accumulator[StateT]):
    """Base of the accumulators of labels and probabilities: one ``update`` for all."""

    __slots__ = ()

    def update(
        self,
        y_true: ArrayLike,
        y_proba: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: object | None = None,
        labels: ArrayLike | None = None,
        multi_class: MultiClass = "auto",
        nan_policy: NanPolicy = "raise",
    ) -> None:
        """Add a batch of rows.

        The arguments are those of the function of which this is the accumulator. If a row is
        rejected, or the call is interrupted, nothing of the batch is added.

        Parameters
        ----------
        y_true : array of shape (n,)
            Class codes, 0 to k - 1.
        y_proba : array of shape (n,) or (n, k), values in [0, 1]
        sample_weight : array of shape (n,), finite and not negative, optional
        pos_label, labels, multi_class, nan_policy
            As for `calibrant.risk_profile`.
        """
        omit = check_nan_policy(nan_policy)
        codes, y_proba = event_rows(
            y_true, y_proba, labels=labels, pos_label=pos_label, multi_class=multi_class
        )
        self._add(codes, y_proba, sample_weight, omit)

    def _add(self, y_true: Any, y_proba: Any, sample_weight: Any, omit: bool) -> None:
        self._state.update(y_true, y_proba, sample_weight, omit)

    @property
    def n_omitted(self) -> int:
        """The number of rows dropped because a value was missing."""
        return self._state.n_omitted
