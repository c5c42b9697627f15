"""Learn++: an ensemble that learns one data set after another. Needs scikit-learn."""

from __future__ import annotations

import math
import numbers
import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from calibrant.ensemble import ensemble_confidence

__all__ = ["LearnPlusPlus", "LearnPlusPlusWarning"]

# The update makes the error of its own decision 1/2. A member that changes no decision leaves it
# there, and so may the error of a member be 1/2: rounding must not decide such cases.
_ROUNDING = 1e-9
_LARGEST_SEED = np.iinfo(np.int32).max


class LearnPlusPlusWarning(UserWarning):
    """A data set gave fewer members than were asked for."""


class _Member:
    """A classifier with the labels it knows: it is fitted to their codes, as some demand."""

    def __init__(self, classifier: Any, X: Any, labels: NDArray[Any]) -> None:
        self.classes_, codes = np.unique(labels, return_inverse=True)
        constant = len(self.classes_) == 1
        self.classifier = DummyClassifier(strategy="most_frequent") if constant else classifier
        self.classifier.fit(X, codes)

    def predict(self, X: Any) -> NDArray[Any]:
        labels: NDArray[Any] = self.classes_[np.asarray(self.classifier.predict(X), dtype=np.intp)]
        return labels


class LearnPlusPlus(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # no types
    r"""Learn++ of Muhlbaier, Topalis and Polikar (2005), a boosted ensemble that learns in steps.

    Each data set adds members. A member is fitted to a part of the rows, drawn by their weights
    :math:`D`; with its error :math:`\epsilon = \sum_{h(x_i) \ne y_i} D_i` it gets the vote
    :math:`\ln((1 - \epsilon)/\epsilon)`. Then all members vote, and with the error E of their
    decision the weights of the rows that it gets right are multiplied by E / (1 - E).

    What the paper leaves open:

    - :math:`\epsilon` = 0 would give an infinite vote, and E = 0 end all weights: both are raised
      to `least_error`, and ``n_floored_`` counts how often.
    - E > 1/2 would turn the weights round, and E = 1/2 leave them as they are for good, though
      the paper has E / (1 - E) < 1: `on_weak_ensemble` says what happens instead, and
      ``n_resets_`` counts how often it did. A member that changes no decision makes E = 1/2.
    - A member with :math:`\epsilon` > 1/2 is drawn anew, perhaps for ever: after `max_redraws`
      the data set is done, with a `LearnPlusPlusWarning`; if there is no member at all, with a
      ValueError.

    Parameters
    ----------
    estimator : classifier, optional
        What members are clones of; by default a DecisionTreeClassifier of depth 3. Weighted
        errors above 1/2 are rejected, so with many classes it must not be too weak: a stump never
        does for four.
    n_estimators : int
        Members that each data set adds.
    sample_fraction : float
        Rows drawn for a member, of those in the data set.
    replace : bool
        Whether a row can be drawn twice. Without, rows are drawn one by one.
    least_error : float
        In (0, 1/2).
    on_weak_ensemble : {"reset", "keep"}
        With E >= 1/2, make all weights equal again, or leave them as they are.
    max_redraws : int
        In a row, for one member.
    combine, temperature
        As for `ensemble_confidence`: the plain softmax of many members is over-confident.
    random_state : int, RandomState or None

    Attributes
    ----------
    classes_ : array
        Sorted; grows with `partial_fit`.
    estimators_ : list
        The members. Each has a ``predict`` that gives labels, and its own ``classes_``.
    estimator_weights_ : array of shape (T,)
        ln(1 / beta).
    estimator_errors_ : array of shape (T,)
        Of the members on the rows of their data set, as weighted at the time: as they were seen, so
        that 0 stays 0 where the vote is that of `least_error`.
    composite_errors_ : array of shape (T,)
        E after each member.
    n_redraws_ : array of shape (T,)
        Draws that were discarded before each member.
    n_floored_, n_resets_, n_datasets_ : int
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = np.where(X[:, 0] > 0, "right", "left")
    >>> model = LearnPlusPlus(n_estimators=5, random_state=0).fit(X, y)
    >>> X = np.concatenate([X, rng.normal(size=(300, 2)) + [0, 6]])
    >>> y = np.concatenate([y, np.full(300, "top")])     # a class it has not seen
    >>> model = model.set_params(n_estimators=10).partial_fit(X, y)
    >>> model.predict([[-2, 0], [2, 0], [0, 6]])         # the new members outvote the old
    array(['left', 'right', 'top'], dtype='<U5')
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 30,
        sample_fraction: float = 2 / 3,
        replace: bool = True,
        least_error: float = 1e-3,
        on_weak_ensemble: str = "reset",
        max_redraws: int = 100,
        combine: str = "softmax",
        temperature: float = 1.0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.sample_fraction = sample_fraction
        self.replace = replace
        self.least_error = least_error
        self.on_weak_ensemble = on_weak_ensemble
        self.max_redraws = max_redraws
        self.combine = combine
        self.temperature = temperature
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Forget everything, and learn one data set.

        Parameters
        ----------
        X : array of shape (n, n_features)
        y : array of shape (n,)
        """
        return self._learn(X, y, classes=None, first=True)

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn one more data set; the members stay and new ones come to them.

        Parameters
        ----------
        X : array of shape (n, n_features)
        y : array of shape (n,)
            May hold classes that were not seen before.
        classes : array, optional
            Classes to be known from now on, whether y holds them or not.
        """
        return self._learn(X, y, classes=classes, first=not hasattr(self, "estimators_"))

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the confidence of the ensemble, of shape (n, n_classes)."""
        return self._confidence(X, path=False)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class with the largest confidence, the first of several."""
        proba = self.predict_proba(X)
        labels: NDArray[Any] = self.classes_[proba.argmax(axis=1)]
        return labels

    def confidence_path(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the confidence after each member, of shape (n, T, n_classes)."""
        return self._confidence(X, path=True)

    def _confidence(self, X: Any, *, path: bool) -> NDArray[np.float64]:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr")
        return ensemble_confidence(
            self._votes(X),
            self.estimator_weights_,
            len(self.classes_),
            temperature=self.temperature,
            combine=self.combine,  # type: ignore[arg-type]  # checked there
            path=path,
        )

    def _votes(self, X: Any) -> NDArray[np.int32]:
        votes = np.empty((X.shape[0], len(self.estimators_)), np.int32, order="F")
        for t, member in enumerate(self.estimators_):
            votes[:, t] = np.searchsorted(self.classes_, member.predict(X))
        return votes

    def _learn(self, X: Any, y: Any, *, classes: Any, first: bool) -> Self:
        X, y = validate_data(self, X, y, reset=first, accept_sparse="csr")
        check_classification_targets(y)
        self._check_parameters()
        if first:
            self._random_state = check_random_state(self.random_state)
        lesson = _Lesson(self, X, y, _all_classes(self, y, classes, first), first)
        lesson.learn()
        for name, value in lesson.results().items():
            setattr(self, name, value)
        return self

    def _check_parameters(self) -> None:
        for name, least in (("n_estimators", 1), ("max_redraws", 0)):
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) or value < least:
                raise ValueError(f"{name} must be an integer from {least} on, got {value!r}")
        if not 0 < self.sample_fraction <= 1:
            raise ValueError(f"sample_fraction must lie in (0, 1], got {self.sample_fraction!r}")
        if not 0 < self.least_error < 0.5:
            raise ValueError(f"least_error must lie in (0, 0.5), got {self.least_error!r}")
        if self.on_weak_ensemble not in ("reset", "keep"):
            found = repr(self.on_weak_ensemble)
            raise ValueError(f"on_weak_ensemble must be 'reset' or 'keep', got {found}")
        ensemble_confidence([[0]], [1], 1, temperature=self.temperature, combine=self.combine)  # type: ignore[arg-type]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class _Lesson:
    """One data set being learned; the model changes only when all is done."""

    def __init__(self, model: LearnPlusPlus, X: Any, y: Any, classes: Any, first: bool) -> None:
        self.model, self.X, self.labels, self.classes = model, X, y, classes
        self.codes = np.searchsorted(classes, y)
        self.rng = model._random_state
        self.members: list[_Member] = [] if first else list(model.estimators_)
        self.votes = [self._votes_of(member) for member in self.members]
        self.vote_weights: list[float] = [] if first else model.estimator_weights_.tolist()
        self.errors: list[float] = [] if first else model.estimator_errors_.tolist()
        self.composite_errors: list[float] = [] if first else model.composite_errors_.tolist()
        self.redraws: list[int] = [] if first else model.n_redraws_.tolist()
        self.n_floored = 0 if first else model.n_floored_
        self.n_resets = 0 if first else model.n_resets_
        self.n_datasets = 1 if first else model.n_datasets_ + 1
        self.row_weights = self._equal_weights()

    def learn(self) -> None:
        """Add members, as many as there should be or can be had."""
        if self.members:
            self._reweigh()
        for added in range(self.model.n_estimators):
            if not self._add_member():
                self._give_up(added)
                return
            self.composite_errors.append(self._reweigh())

    def results(self) -> dict[str, Any]:
        """What becomes of it, by the names of the model's attributes."""
        return {
            "classes_": self.classes,
            "estimators_": self.members,
            "estimator_weights_": np.array(self.vote_weights),
            "estimator_errors_": np.array(self.errors),
            "composite_errors_": np.array(self.composite_errors),
            "n_redraws_": np.array(self.redraws, dtype=np.int64),
            "n_floored_": self.n_floored,
            "n_resets_": self.n_resets,
            "n_datasets_": self.n_datasets,
        }

    def _equal_weights(self) -> NDArray[np.float64]:
        return np.full(len(self.labels), 1 / len(self.labels))

    def _votes_of(self, member: _Member) -> NDArray[np.intp]:
        return np.searchsorted(self.classes, member.predict(self.X))

    def _add_member(self) -> bool:
        """Draw until the error is at most 1/2; say whether that came about."""
        for redraws in range(self.model.max_redraws + 1):
            member = self._draw()
            votes = self._votes_of(member)
            error = float(self.row_weights[votes != self.codes].sum())
            if error <= 0.5 + _ROUNDING:
                floored = self._floored(error)
                self.members.append(member)
                self.votes.append(votes)
                self.vote_weights.append(math.log((1 - floored) / floored))
                self.errors.append(error)
                self.redraws.append(redraws)
                return True
        return False

    def _draw(self) -> _Member:
        n = len(self.labels)
        size = max(1, round(self.model.sample_fraction * n))
        rows = self.rng.choice(n, size, replace=self.model.replace, p=self.row_weights)
        base = self.model.estimator
        classifier = DecisionTreeClassifier(max_depth=3) if base is None else clone(base)
        seeds = {
            name: self.rng.randint(_LARGEST_SEED)
            for name in sorted(classifier.get_params())
            if name == "random_state" or name.endswith("__random_state")
        }
        return _Member(classifier.set_params(**seeds), self.X[rows], self.labels[rows])

    def _reweigh(self) -> float:
        """Make the rows that the ensemble gets right count less; return its error."""
        shares = ensemble_confidence(
            np.column_stack(self.votes), self.vote_weights, len(self.classes), combine="share"
        )
        right = shares.argmax(axis=1) == self.codes
        error = float(self.row_weights[~right].sum())
        if error >= 0.5 - _ROUNDING:
            self.n_resets += 1
            if self.model.on_weak_ensemble == "reset":
                self.row_weights = self._equal_weights()
            return error
        floored = self._floored(error)
        weights = np.where(right, self.row_weights * (floored / (1 - floored)), self.row_weights)
        weights = np.maximum(weights, np.finfo(float).tiny)  # a row can always be drawn
        self.row_weights = weights / weights.sum()
        return error

    def _floored(self, error: float) -> float:
        least: float = self.model.least_error
        self.n_floored += error < least
        return min(max(error, least), 0.5)

    def _give_up(self, added: int) -> None:
        message = (
            f"data set {self.n_datasets} gave {added} of {self.model.n_estimators} members: "
            f"{self.model.max_redraws + 1} draws in a row had a weighted error above 1/2; "
            f"a stronger estimator may help"
        )
        if not self.members:
            raise ValueError(message)
        warnings.warn(message, LearnPlusPlusWarning, stacklevel=5)


def _all_classes(model: LearnPlusPlus, y: Any, classes: Any, first: bool) -> NDArray[Any]:
    parts = [np.unique(y)]
    parts += [] if classes is None else [np.asarray(classes)]
    parts += [] if first else [model.classes_]
    if len({part.dtype.kind in "OUS" for part in parts}) > 1:
        raise ValueError("y and classes must hold names, or numbers, as they did before")
    return np.unique(np.concatenate(parts))
