"""The accumulator of ranks; public as `calibrant.streaming.Ranks`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant import _core
from calibrant._accumulator.base import Accumulator
from calibrant._input.draws import arranged, checked_index, checked_seed
from calibrant._input.validation import NanPolicy, check_nan_policy
from calibrant._runtime.public_module import public_in
from calibrant.ranks._calibration import RankCalibration, RankKind, from_counts

__all__ = ["Ranks"]


@public_in("calibrant.streaming")
class Ranks(Accumulator[_core.Ranks]):
    """Accumulator of `calibrant.rank_calibration`: how often each rank was found.

    It keeps n_dims x (n_draws + 1) integers, for any number of pairs. Ranks among different
    numbers of draws are not comparable and not merged.

    Parameters
    ----------
    n_draws : int
        The number of draws of every pair.
    n_dims : int
        The number of ranks of every pair.
    seed : int, 0 <= seed < 2^64
        Of the ties, as for `calibrant.sbc_ranks`.

    Examples
    --------
    >>> left, right = Ranks(4), Ranks(4)
    >>> left.update([[1, 2, 3, 4], [1, 2, 2, 3]], [2.5, 2])
    >>> right.update([[5, 6, 7, 8]], [9], first_pair=2)
    >>> left.merge(right).counts
    array([[0, 0, 1, 1, 1]])
    >>> left.update_ranks([0, 3])
    >>> left
    streaming.Ranks(n=5, n_draws=4, n_dims=1, seed=0)
    """

    __slots__ = ()
    _State = _core.Ranks

    def __init__(self, n_draws: int, n_dims: int = 1, *, seed: int = 0) -> None:
        self._state = _core.Ranks(
            checked_index(n_draws, "n_draws"), checked_index(n_dims, "n_dims"), checked_seed(seed)
        )

    def update(
        self,
        draws: ArrayLike,
        truth: ArrayLike,
        *,
        axis: int = 1,
        first_pair: int | None = None,
        nan_policy: NanPolicy = "raise",
    ) -> None:
        """Add a batch of pairs, ranked as by `calibrant.sbc_ranks`.

        If a pair is rejected, or the call is interrupted, nothing of the batch is added.

        Parameters
        ----------
        draws, truth, axis, nan_policy
            As for `calibrant.sbc_ranks`.
        first_pair : int, optional
            The index of the first pair in the whole of the data, by which ties are broken. By
            default the number of pairs seen so far, omitted ones included: batches that follow
            each other then give what one pass does. Where workers share the data, each tells
            where its part begins, for the merged counts to be those of one pass. (Without, they
            are as uniform, but workers break the ties of their i-th pairs alike.)
        """
        first = None if first_pair is None else checked_index(first_pair)
        omit = check_nan_policy(nan_policy)
        self._state.update(arranged(draws, axis, truth=truth), truth, first, omit)

    def update_ranks(self, ranks: ArrayLike) -> None:
        """Add pairs whose ranks are known, as from `calibrant.energy_ranks`.

        Parameters
        ----------
        ranks : array of whole numbers from 0 to n_draws, shape (n,) or (n, n_dims)
        """
        self._state.update_ranks(ranks)

    def result(
        self,
        *,
        prob: float = 0.95,
        n_bins: int | None = None,
        kind: RankKind = "marginal",
        names: Sequence[str] | None = None,
    ) -> RankCalibration:
        """Return what the ranks so far say of the calibration.

        The arguments are those of `calibrant.rank_calibration`.

        Raises
        ------
        ValueError
            If there is no pair.
        """
        if self.n == 0:
            raise ValueError("there are no ranks: update with at least one pair")
        return from_counts(self.counts, prob=prob, n_bins=n_bins, kind=kind, names=names)

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each rank from 0 to n_draws was found: a row for each dimension."""
        return self._state.counts()

    @property
    def n_draws(self) -> int:
        """The number of draws of every pair."""
        return self._state.n_draws

    @property
    def n_dims(self) -> int:
        """The number of ranks of every pair."""
        return self._state.n_dims

    @property
    def n_omitted(self) -> int:
        """The number of pairs dropped because a value was missing."""
        return self._state.n_omitted

    def _parameters(self) -> dict[str, object]:
        state = self._state
        return {"n_draws": state.n_draws, "n_dims": state.n_dims, "seed": state.seed}
