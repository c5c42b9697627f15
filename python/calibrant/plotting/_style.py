"""The house style: colours by role, light and dark, and what a new figure looks like."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from calibrant._input.validation import checked_choice

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PALETTES", "Palette", "new_axes", "palette_of", "pyplot", "style"]

Theme = Literal["light", "dark"]


@dataclass(frozen=True)
class Palette:
    """Colours by role, no two of them equal.

    Attributes
    ----------
    background, text, muted, grid, neutral, band : str
        Of the page, of text, of text that steps back, of grid lines, and of what is drawn to
        compare with: diagonals, and bands of chance, which are drawn translucent.
    first, second, third, fourth, fifth, sixth : str
        Of data: the model's own numbers have the first, what they are compared with the second.
    """

    background: str
    text: str
    muted: str
    grid: str
    neutral: str
    band: str
    first: str
    second: str
    third: str
    fourth: str
    fifth: str
    sixth: str

    @property
    def series(self) -> tuple[str, ...]:
        """The colours of data, in order."""
        return (self.first, self.second, self.third, self.fourth, self.fifth, self.sixth)

    def to_dict(self) -> dict[str, str]:
        """Return the colours by role."""
        return asdict(self)


#: By the name of the theme.
PALETTES: dict[str, Palette] = {
    "light": Palette(
        background="#ffffff", text="#1d2129", muted="#5b6472", grid="#e4e7ec", neutral="#8b93a1",
        band="#7f8896", first="#0072b2", second="#d55e00", third="#009e73", fourth="#cc79a7",
        fifth="#56b4e9", sixth="#e69f00",
    ),
    "dark": Palette(
        background="#14171c", text="#e7eaef", muted="#a3abb8", grid="#2b3039", neutral="#7c8594",
        band="#c3cede", first="#56b4e9", second="#f08a3c", third="#2cc295", fourth="#e29cc4",
        fifth="#7d9cf0", sixth="#f0c24a",
    ),
}  # fmt: skip

MISSING = 'plots need matplotlib: pip install ".[plot]"'

#: Of a figure that is made here, whatever its colours.
_SHAPE: dict[str, Any] = {
    "axes.labelsize": 10,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 9,
    "figure.dpi": 110,
    "font.size": 10,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
}


def pyplot() -> Any:
    """Return matplotlib.pyplot, or say what to install."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError(MISSING) from error
    return plt


def _colours(palette: Palette) -> dict[str, Any]:
    return {
        "axes.edgecolor": palette.muted,
        "axes.facecolor": palette.background,
        "axes.labelcolor": palette.text,
        "axes.titlecolor": palette.muted,
        "figure.facecolor": palette.background,
        "grid.color": palette.grid,
        "savefig.facecolor": palette.background,
        "text.color": palette.text,
        "xtick.color": palette.muted,
        "ytick.color": palette.muted,
    }


@contextmanager
def style(theme: Theme = "light") -> Iterator[Palette]:
    """Make figures in the house style, with the colours of a theme.

    Parameters
    ----------
    theme : {"light", "dark"}

    Examples
    --------
    >>> from calibrant import mean_spectrum
    >>> with style("dark"):
    ...     display = mean_spectrum([0.8, 0.8, 0.1]).plot()
    >>> display.ax_.get_ylabel()
    'generalized mean of q'
    """
    checked_choice(theme, "theme", tuple(PALETTES))
    with _settings({**_SHAPE, **_colours(PALETTES[theme])}):
        yield PALETTES[theme]


@contextmanager
def _settings(values: dict[str, Any]) -> Iterator[None]:
    """Set some of matplotlib's settings for a while.

    Unlike ``rc_context``, it leaves all others alone: the first figure of a session loads the
    backend, and that of a notebook then switches ``interactive`` on, for good.
    """
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise ImportError(MISSING) from error
    settings: Any = mpl.rcParams
    before = {name: settings[name] for name in values}
    settings.update(values)
    try:
        yield
    finally:
        settings.update(before)


def new_axes(size: tuple[float, float]) -> Axes:
    """Return the axes of a new figure; its colours are those in force."""
    plt = pyplot()
    with _settings(_SHAPE):
        ax: Axes = plt.subplots(figsize=size, layout="constrained")[1]
        return ax


def checked_axes(ax: Any) -> Axes:
    """Return it if one can draw into it."""
    if not hasattr(ax, "get_facecolor"):
        raise TypeError(f"ax must be axes of matplotlib, got {ax!r}")
    axes: Axes = ax
    return axes


def palette_of(ax: Axes) -> Palette:
    """Return the palette that can be seen on these axes."""
    from matplotlib.colors import to_rgba

    red, green, blue, alpha = to_rgba(ax.get_facecolor())
    if alpha == 0.0:
        red, green, blue, _ = to_rgba(ax.figure.get_facecolor())
    return PALETTES["dark" if 0.3 * red + 0.59 * green + 0.11 * blue < 0.5 else "light"]
