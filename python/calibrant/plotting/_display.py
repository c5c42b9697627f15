"""What all displays share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from calibrant._input.validation import checked_text
from calibrant._result import printable
from calibrant.plotting._style import Palette, checked_axes, new_axes, palette_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from numpy.typing import ArrayLike

__all__ = ["Display", "PredictionDisplay"]

R = TypeVar("R")

#: Characters of the longest label of a legend that has room for two columns.
TWO_COLUMNS = 30


class Display(Generic[R]):
    """A result, drawn.

    Parameters
    ----------
    result
        What is to be drawn.

    Attributes
    ----------
    ax_, figure_
        The axes and their figure, once `plot` was called.
    """

    size: ClassVar[tuple[float, float]] = (5.0, 4.2)
    ax_: Axes
    figure_: Figure | SubFigure
    #: Draws into the axes, with a palette, the name and the options of the display.
    _draw: Callable[..., None]

    def __init__(self, result: R) -> None:
        self.result = result

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **options: Any) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where; by default a new figure.
        name : str, optional
            What the legend calls the model; several can be drawn into the same axes.
        **options
            Those of the display.

        Returns
        -------
        The display itself.
        """
        if name is not None:
            checked_text(name, "name")
        ax = new_axes(self.size) if ax is None else checked_axes(ax)
        self.ax_, self.figure_ = ax, ax.figure
        self._draw(ax, palette_of(ax), name, **options)
        return self

    def _frame(self, ax: Axes, palette: Palette, **labels: Any) -> None:
        """Axes labels, grid and the number of rows."""
        ax.set(**labels)
        ax.grid(visible=True, color=palette.grid, linewidth=0.8)
        ax.set_axisbelow(True)

    def _count(self, ax: Axes, palette: Palette, text: str) -> None:
        ax.set_title(
            printable(text), loc="right", fontsize="small", color=palette.muted, parse_math=False
        )

    def _legend(self, ax: Axes, palette: Palette, *, below: float = 40.0, **options: Any) -> None:
        """Below the axes, where it covers no data, if the layout of the figure makes room.

        So many points below: under the labels of the axis.
        """
        labels = ax.get_legend_handles_labels()[1]
        if labels:
            if ax.figure.get_layout_engine() is None:
                options["loc"] = "best"
            else:
                options |= _below(ax, below)
                options["ncols"] = 2 if max(map(len, labels)) <= TWO_COLUMNS else 1
            legend = ax.legend(frameon=False, fontsize="small", labelcolor=palette.text, **options)
            legend.get_title().set(fontsize="small", color=palette.muted)
            for text in legend.get_texts():
                text.set(text=printable(text.get_text()), parse_math=False)  # the user's names


def _below(ax: Axes, points: float) -> dict[str, Any]:
    from matplotlib.transforms import ScaledTranslation

    down = ScaledTranslation(0.0, -points / 72.0, ax.figure.dpi_scale_trans)
    return {
        "loc": "upper left", "bbox_to_anchor": (0.0, 0.0), "borderaxespad": 0.0,
        "bbox_transform": ax.transAxes + down,
    }  # fmt: skip


class PredictionDisplay(Display[R]):
    """A display that can also be made from predictions, or from an estimator."""

    _compute: ClassVar[Callable[..., Any]]

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_proba: ArrayLike,
        *,
        ax: Axes | None = None,
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """Compute the result of predictions, and draw it.

        Parameters
        ----------
        y_true, y_proba
            As for the function that computes the result.
        ax, name
            As for `plot`.
        **options
            Of that function.
        """
        return cls(cls._compute(y_true, y_proba, **options)).plot(ax=ax, name=name)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        ax: Axes | None = None,
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """Compute the result of a fitted classifier's predictions, and draw it.

        Parameters
        ----------
        estimator
            With ``predict_proba`` and ``classes_``.
        X, y
            What to predict from, and what happened.
        ax, name, **options
            As for `from_predictions`; the name is by default that of the estimator's class.
        """
        if not hasattr(estimator, "predict_proba"):
            raise TypeError(f"estimator must have predict_proba, got {estimator!r}")
        y_proba = estimator.predict_proba(X)
        if len(estimator.classes_) == 2:
            y_proba = y_proba[:, 1]
        name = type(estimator).__name__ if name is None else name
        options.setdefault("labels", estimator.classes_)
        return cls.from_predictions(y, y_proba, ax=ax, name=name, **options)
