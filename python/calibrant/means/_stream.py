"""The accumulator of `calibrant.risk_profile`; public in `calibrant.streaming`."""

from __future__ import annotations

from collections.abc import Sequence

from calibrant import _core, means
from calibrant._accumulator import EventAccumulator
from calibrant._runtime.public_module import public_in
from calibrant.means._sums import core_profile

__all__ = ["RiskProfile"]


@public_in("calibrant.streaming")
class RiskProfile(EventAccumulator[_core.RiskProfile]):
    """Accumulator of `calibrant.risk_profile`, in constant memory.

    Parameters
    ----------
    powers : sequence of float, optional
        Further powers to take the mean with, besides 1, 0 and -2/3.
    q_lim : float, 0 <= q_lim < 0.5
        Clip the probabilities of what happened to [q_lim, 1 - q_lim].

    Examples
    --------
    >>> left, right = RiskProfile(), RiskProfile()
    >>> left.update([1, 1], [0.8, 0.8])
    >>> right.update([0], [0.9])
    >>> left.merge(right).result()
    RiskProfile(decisiveness=0.566667, accuracy=0.4, robustness=0.282843, n=3)
    >>> RiskProfile.from_bytes(left.to_bytes()) == left
    True
    """

    __slots__ = ()
    _State = _core.RiskProfile

    def __init__(self, *, powers: Sequence[float] = (), q_lim: float = 0.0) -> None:
        self._state = core_profile(powers, q_lim, first=means.NAMED_POWERS)

    def result(self) -> means.RiskProfile:
        """Return the means of the rows so far.

        Raises
        ------
        ValueError
            If there is no row, or none with a positive weight.
        """
        return means.RiskProfile._of(self._now())

    @classmethod
    def _check(cls, state: _core.RiskProfile) -> None:
        if tuple(state.powers[:3]) != means.NAMED_POWERS:
            raise ValueError(
                f"state of a RiskProfile must begin with the powers {means.NAMED_POWERS}, "
                f"found {tuple(state.powers[:3])}"
            )

    def _parameters(self) -> dict[str, object]:
        return {"powers": tuple(self._state.powers[3:]), "q_lim": self._state.q_lim}
