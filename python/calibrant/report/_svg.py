"""Figures as SVG inside a page: coloured by the page's variables, no name used twice."""

from __future__ import annotations

import io
import re
import warnings
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from calibrant._result import printable
from calibrant.plotting import PALETTES, style

if TYPE_CHECKING:
    from calibrant.report._section import Figure

__all__ = ["colour_variables", "inline_svg"]

#: Of figures, in inches: what is readable on a telephone, where a page is about as wide.
WIDTH = 4.6
#: Roles of the palette by their colour, in which figures are drawn.
_ROLES = {colour: role for role, colour in PALETTES["light"].to_dict().items()}
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_FONT = re.compile(r"font-family:[^;]*;\s*")
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")


def colour_variables(theme: str) -> str:
    """Return the CSS variables that figures are coloured by."""
    return " ".join(f"--{role}: {colour};" for role, colour in PALETTES[theme].to_dict().items())


def inline_svg(figure: Figure) -> str:
    """Return the figure as an svg element, the same text for the same numbers."""
    root = ET.fromstring(_drawn(figure))
    for parent in list(root.iter()):
        parent.tag = parent.tag.rpartition("}")[2]
        for child in list(parent):
            if child.tag.rpartition("}")[2] in ("metadata", "style"):
                parent.remove(child)
        _rename(parent, f"{figure.name}-")
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.set("role", "img")
    root.set("aria-label", printable(figure.description))
    # No xmlns: the parser of HTML knows svg, and there is no other parser.
    return ET.tostring(root, encoding="unicode")


def _drawn(figure: Figure) -> str:
    import matplotlib as mpl
    from matplotlib.figure import Figure as Canvas

    text = io.StringIO()
    with mpl.rc_context():
        mpl.rcdefaults()  # whatever the user likes elsewhere
        with (
            style("light"),
            mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "calibrant"}),
            warnings.catch_warnings(),
        ):
            # The text is drawn by the browser, in fonts of its own.
            warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
            canvas = Canvas(
                figsize=figure.size or (WIDTH, figure.display.size[1]), layout="constrained"
            )
            canvas.patch.set_alpha(0.0)
            figure.display.plot(canvas.add_subplot(), **figure.options)
            canvas.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()


def _rename(element: ET.Element, prefix: str) -> None:
    """Colours by role, names with a prefix, fonts of the page, two decimals."""
    for key, value in list(element.attrib.items()):
        name = key.rpartition("}")[2]
        del element.attrib[key]
        if name == "id":
            value = prefix + value
        elif name == "href":
            value = "#" + prefix + value.removeprefix("#")
        elif name in ("d", "x", "y", "transform", "points"):
            value = _shortened(" ".join(value.split()))
        elif name in ("style", "clip-path"):
            value = _FONT.sub("", _REFERENCE.sub(rf"url(#{prefix}\1)", value))
            value = _COLOUR.sub(_variable, value)
        element.set(name, value)


def _variable(match: re.Match[str]) -> str:
    role = _ROLES.get(match[0])
    return match[0] if role is None else f"var(--{role})"


def _shortened(numbers: str) -> str:
    return _LONG_NUMBER.sub(lambda match: f"{float(match[0]):.2f}".rstrip("0").rstrip("."), numbers)
