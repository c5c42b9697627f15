"""The accumulators of `calibrant.samples`; public in `calibrant.streaming`."""

from __future__ import annotations

from typing import Any, TypeVar

from numpy.typing import ArrayLike

from calibrant import _core
from calibrant._accumulator.base import Accumulator
from calibrant._input.validation import checked_count
from calibrant._runtime.public_module import public_in
from calibrant.samples._frechet import SampleMoments
from calibrant.samples._vendi import VendiProfile, eigenvalues_of, not_noise, profile_of

__all__ = ["Moments", "Vendi"]

StateT = TypeVar("StateT", _core.Moments, _core.Vendi)


class _Features(Accumulator[StateT]):
    """An accumulator of rows of a fixed number of features."""

    __slots__ = ()

    def __init__(self, n_features: int) -> None:
        width = checked_count(n_features, "n_features", most=_core.most_features)
        self._state = self._State(width)

    def update(self, features: ArrayLike) -> None:
        """Add a batch of rows.

        If a row is rejected, or the call is interrupted, nothing of the batch is added.

        Parameters
        ----------
        features : array of shape (n, n_features), or (n,) if there is one; finite
        """
        self._state.update(features)

    def _parameters(self) -> dict[str, Any]:
        return {"n_features": self._state.n_features}


@public_in("calibrant.streaming")
class Moments(_Features[_core.Moments]):
    """Accumulator of mean and covariance, for `calibrant.frechet_distance`.

    All sums are exact: the covariance is right to the last digits however large the mean is
    beside it, and the same to the last bit for any batches and merges. The price is a time of
    about 1 ns and a memory of about 100 bytes for each of the d (d + 1) / 2 products of features.

    Parameters
    ----------
    n_features : int
        At most 16384.

    Examples
    --------
    >>> left, right = Moments(2), Moments(2)
    >>> left.update([[0.0, 0.0], [2.0, 0.0]])
    >>> right.update([[1.0, 3.0]])
    >>> moments = left.merge(right).result()
    >>> moments.covariance
    array([[1., 0.],
           [0., 3.]])
    >>> from calibrant import frechet_distance
    >>> round(frechet_distance(moments, [[1.0, 1.0], [3.0, 1.0], [2.0, 4.0]]), 12)
    2.0
    """

    __slots__ = ()
    _State = _core.Moments

    def result(self) -> SampleMoments:
        """Return the moments of the rows so far.

        Raises
        ------
        ValueError
            If there are less than 2 rows.
        """
        if self.n < 2:
            raise ValueError(f"a covariance needs at least 2 rows, got {self.n}")
        return SampleMoments(*self._state.moments())


@public_in("calibrant.streaming")
class Vendi(_Features[_core.Vendi]):
    """Accumulator of `calibrant.vendi_profile`, with cosine similarities.

    It keeps the sums of products of features, exactly, whose eigenvalues are those of the n x n
    matrix of similarities.

    Parameters
    ----------
    n_features : int
        At most 16384.

    Examples
    --------
    >>> left, right = Vendi(2), Vendi(2)
    >>> left.update([[1.0, 0.0], [0.0, 1.0]])
    >>> right.update([[1.0, 1.0]])
    >>> round(left.merge(right).result().at(1), 6)
    1.889882
    """

    __slots__ = ()
    _State = _core.Vendi

    def result(self) -> VendiProfile:
        """Return the scores of the rows so far.

        Raises
        ------
        ValueError
            If there is no row.
        """
        if self.n == 0:
            raise ValueError("a Vendi score needs at least 1 row, got 0")
        second_moment, n = self._state.second_moment()
        values = not_noise(eigenvalues_of(second_moment), self._state.n_features)
        return profile_of(values / values.sum(), n)
