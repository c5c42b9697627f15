"""Confidence of voting ensembles, and Learn++, which learns one data set after another.

`LearnPlusPlus` needs scikit-learn: ``pip install ".[sklearn]"``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant import _core
from calibrant._input.validation import checked_choice, checked_count, checked_flag, checked_number
from calibrant._result import Result, for_json

if TYPE_CHECKING:
    from calibrant.ensemble._learn_plus_plus import LearnPlusPlus as LearnPlusPlus

__all__ = ["EnsembleVotes", "ensemble_confidence", "ensemble_votes"]  # and LearnPlusPlus


def __dir__() -> list[str]:
    return __all__


Combine = Literal["softmax", "share"]


def __getattr__(name: str) -> Any:
    if name != "LearnPlusPlus":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from calibrant.ensemble._learn_plus_plus import LearnPlusPlus
    except ImportError as error:
        message = 'LearnPlusPlus needs scikit-learn: pip install ".[sklearn]"'
        raise ImportError(message) from error
    return LearnPlusPlus


def ensemble_confidence(
    votes: ArrayLike,
    weights: ArrayLike,
    n_classes: int,
    *,
    temperature: float = 1.0,
    combine: Combine = "softmax",
    path: bool = False,
) -> NDArray[np.float64]:
    r"""Probabilities of classes from the weighted votes of an ensemble's members.

    With :math:`F_j = \sum_{t:\, h_t = j} w_t` the weight of the votes for class j, it is
    :math:`C_j = e^{F_j/\tau} / \sum_l e^{F_l/\tau}`, or the share :math:`F_j / \sum_l F_l`.
    In Muhlbaier et al. (2005), :math:`w_t = \ln(1/\beta_t)` with :math:`\beta = \epsilon /
    (1 - \epsilon)` and a temperature :math:`\tau = 1`: :math:`e^{F_j}` is then the product of
    the odds of the members that vote for j, as if these were independent.

    Parameters
    ----------
    votes : array of shape (n, T), integers
        The class that member t names for row i, from 0 to n_classes - 1, or -1 if it abstains.
        Integers of any size are read in place, in any order of memory.
    weights : array of shape (T,)
        Of the members. Infinite ones (a member that never erred) count as one weight that grows
        without bound: the class with the most of their votes has all the confidence; of several
        such, the finite weights decide.
    n_classes : int
        From 1 to 2^20.
    temperature : float
        In [1e-150, 1e150]; above 1 it makes the confidence less extreme. Of the softmax only.
    combine : {"softmax", "share"}
        Shares need weights that are not negative.
    path : bool
        Return the confidence after each of the first 1, ..., T members.

    Returns
    -------
    array of shape (n, n_classes), or (n, T, n_classes) with `path`
        Rows sum to 1, up to rounding. Without votes of any weight, 1 / n_classes. The bits depend
        on no order of rows, members or classes, and on no number of threads.

    Examples
    --------
    Three members err in 1 of 10, 5 and 4 cases, so that their odds are 9, 4 and 3. The first two
    name class 0, the third class 1; class 2 has no vote. The odds are 36 : 3 : 1.

    >>> import numpy as np
    >>> weights = np.log([9, 4, 3])
    >>> ensemble_confidence([[0, 0, 1]], weights, 3).round(15)
    array([[0.9  , 0.075, 0.025]])
    >>> ensemble_confidence([[0, 0, 1]], weights, 3, path=True).round(4)
    array([[[0.8182, 0.0909, 0.0909],
            [0.9474, 0.0263, 0.0263],
            [0.9   , 0.075 , 0.025 ]]])
    >>> ensemble_confidence([[0, 0, 1]], [1, 1, 1], 3, combine="share").round(4)
    array([[0.6667, 0.3333, 0.    ]])
    """
    return _core.ensemble_confidence(
        votes,
        weights,
        checked_count(n_classes, "n_classes", most=2**20),
        checked_number(temperature, "temperature"),
        checked_choice(combine, "combine", ("softmax", "share")),
        checked_flag(path, "path"),
    )


@dataclass(frozen=True, repr=False, eq=False)
class EnsembleVotes(Result):
    """What the members of an ensemble said of each row.

    Attributes
    ----------
    votes : array of shape (n, T)
        Positions in `classes`.
    weights : array of shape (T,)
        Of the members.
    classes : array of shape (n_classes,)
    """

    votes: NDArray[np.int32]
    weights: NDArray[np.float64]
    classes: NDArray[Any]

    def __repr__(self) -> str:
        n, members = self.votes.shape
        return f"EnsembleVotes(n={n}, members={members}, classes={self.classes.tolist()})"

    def to_dict(self) -> dict[str, Any]:
        """Return the arrays as lists, ready for JSON."""
        weights = [for_json(weight) for weight in self.weights.tolist()]
        classes = self.classes.tolist()
        return {"votes": self.votes.tolist(), "weights": weights, "classes": classes}

    def confidence(
        self, *, temperature: float = 1.0, combine: Combine = "softmax", path: bool = False
    ) -> NDArray[np.float64]:
        """Return `ensemble_confidence` of these votes."""
        return ensemble_confidence(
            self.votes,
            self.weights,
            len(self.classes),
            temperature=temperature,
            combine=combine,
            path=path,
        )


def ensemble_votes(estimator: Any, X: Any) -> EnsembleVotes:
    """Let the members of a fitted ensemble vote.

    Parameters
    ----------
    estimator
        A fitted AdaBoostClassifier, BaggingClassifier, RandomForestClassifier or
        ExtraTreesClassifier of scikit-learn, a `LearnPlusPlus`, or anything that has their
        ``estimators_`` and ``classes_``.
    X : array of shape (n, n_features)

    Returns
    -------
    EnsembleVotes
        The weights are those by which the ensemble votes itself: ``estimator_weights_`` where it
        has them, else 1. Forests and bags have no weights, and their own ``predict`` takes means
        of probabilities instead of votes; ``combine="share"`` suits them.

    Examples
    --------
    >>> from sklearn.ensemble import AdaBoostClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], ["a", "a", "b", "a", "b"]
    >>> model = AdaBoostClassifier(n_estimators=3, random_state=0).fit(X, y)
    >>> found = ensemble_votes(model, [[0.5], [2.5]])
    >>> found.votes
    array([[0, 0, 1],
           [1, 0, 1]], dtype=int32)
    >>> found.confidence().round(3)
    array([[0.884, 0.116],
           [0.323, 0.677]])
    """
    members, classes = _members_of(estimator)
    weights = np.ones(len(members))
    own_weights = getattr(estimator, "estimator_weights_", None)
    if own_weights is not None:  # those left over after an early stop of AdaBoost are 0
        weights = np.asarray(own_weights, dtype=np.float64)[: len(members)]
    X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    subspaces = getattr(estimator, "estimators_features_", None)
    votes = np.empty((X.shape[0], len(members)), np.int32, order="F")
    for t, member in enumerate(members):
        seen = X if subspaces is None else X[:, subspaces[t]]
        named = np.asarray(member.predict(seen))
        # Boosting hands labels on to its members, the others hand on their codes.
        votes[:, t] = named if own_weights is None else _positions(named, classes)
    return EnsembleVotes(votes, weights, classes)


def _members_of(estimator: Any) -> tuple[list[Any], NDArray[Any]]:
    members = getattr(estimator, "estimators_", None)
    classes = getattr(estimator, "classes_", None)
    kind = type(estimator).__name__
    if members is None or classes is None:
        raise TypeError(f"estimator must be a fitted ensemble of classifiers, got {kind}")
    one_target = not isinstance(classes, list)
    if not one_target or not all(hasattr(member, "classes_") for member in members):
        raise TypeError(f"estimator must have members that vote for one class a row, got {kind}")
    return list(members), np.asarray(classes)


def _positions(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Where labels are among the sorted classes."""
    return np.searchsorted(classes, labels)
