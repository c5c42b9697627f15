"""The accumulator of Spiegelhalter's test; public in `calibrant.streaming`."""

from __future__ import annotations

from calibrant import _core, cumulative
from calibrant._accumulator import EventAccumulator
from calibrant._runtime.public_module import public_in

__all__ = ["Spiegelhalter"]


@public_in("calibrant.streaming")
class Spiegelhalter(EventAccumulator[_core.Spiegelhalter]):
    """Accumulator of `calibrant.spiegelhalter_test`, in constant memory.

    Examples
    --------
    >>> left, right = Spiegelhalter(), Spiegelhalter()
    >>> left.update([0, 1], [0.25, 0.75])
    >>> right.update([1, 0], [0.5, 0.125])
    >>> left.merge(right).result()
    TestResult(statistic=-0.872357, pvalue=0.383014, log_pvalue=-0.959684, n=4)
    """

    __slots__ = ()
    _State = _core.Spiegelhalter

    def __init__(self) -> None:
        self._state = _core.Spiegelhalter()

    def result(self, *, alternative: cumulative.Alternative = "two-sided") -> cumulative.TestResult:
        """Return the test of the rows so far.

        Raises
        ------
        ValueError
            If there is no row, or none with a positive weight.
        """
        return cumulative.TestResult._of(self._now(), alternative)
