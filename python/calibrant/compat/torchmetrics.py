"""The verbs of torchmetrics over any accumulator of calibrant. torchmetrics is not needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Self

__all__ = ["Metric"]


def __dir__() -> list[str]:
    return __all__


class Metric:
    """An accumulator with ``update``, ``compute``, ``reset`` and ``merge_state``.

    Predictions come first, as in torchmetrics. Tensors on the CPU are read in place.

    Parameters
    ----------
    factory : callable
        Makes an empty accumulator: a class of `calibrant.streaming`, or a function.
    value : callable, optional
        What `compute` makes of the accumulator's result; by default the result itself.

    Examples
    --------
    >>> from calibrant.streaming import Scores
    >>> metric = Metric(Scores, value=lambda result: result.brier)
    >>> metric.update(preds=[0.75, 0.5], target=[1, 0])
    >>> metric.compute()
    0.15625
    >>> other = Metric(Scores, value=lambda result: result.brier)
    >>> other([0.5], [1])
    0.25
    >>> metric.merge_state(other).compute()
    0.1875
    """

    def __init__(
        self, factory: Callable[[], Any], *, value: Callable[[Any], Any] | None = None
    ) -> None:
        self._factory, self._value = factory, value
        self._accumulator = factory()

    @property
    def accumulator(self) -> Any:
        """What the rows are kept in."""
        return self._accumulator

    def update(self, preds: Any, target: Any, **options: Any) -> None:
        """Add a batch; options, such as sample_weight, go to the accumulator."""
        self._accumulator.update(target, preds, **options)

    def compute(self) -> Any:
        """Return the value of all rows so far."""
        return self._read(self._accumulator)

    def _read(self, accumulator: Any) -> Any:
        result = accumulator.result()
        return result if self._value is None else self._value(result)

    def forward(self, preds: Any, target: Any, **options: Any) -> Any:
        """Add a batch and return its own value."""
        batch = self._factory()
        batch.update(target, preds, **options)
        self._accumulator.merge(batch)
        return self._read(batch)

    __call__ = forward

    def reset(self) -> None:
        """Forget all rows."""
        self._accumulator = self._factory()

    def merge_state(self, incoming: Metric | dict[str, Any] | Iterable[Metric]) -> Self:
        """Add the rows of another metric, of its ``state_dict()``, or of several metrics.

        All are added or none.
        """
        if isinstance(incoming, Metric):
            incoming = [incoming]
        # Aside, and then in one step, so that rows that another thread adds meanwhile stay.
        added = self._factory()
        if isinstance(incoming, dict):
            added.merge(self._restored(incoming))
        else:
            for metric in incoming:
                added.merge(metric._accumulator)
        self._accumulator.merge(added)
        return self

    def state_dict(self) -> dict[str, bytes]:
        """Return the state, to store or send."""
        return {"state": self._accumulator.to_bytes()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take the place of the metric whose state this is."""
        self._accumulator = self._restored(state_dict)

    def _restored(self, state_dict: dict[str, Any]) -> Any:
        if "state" not in state_dict:
            raise KeyError(f"a state dict has the key 'state', got {sorted(state_dict)}")
        return type(self._accumulator).from_bytes(state_dict["state"])

    def __repr__(self) -> str:
        return f"Metric({self._accumulator!r})"
