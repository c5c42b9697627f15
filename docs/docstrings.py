"""Docstrings are written as numpydoc has it; here they become the Markdown that MkDocs reads."""

from __future__ import annotations

import re

import griffe

BLOCK = re.compile(r"^( *)\.\. math:: *(.*\n(?:\1 +\S.*\n?)*)", re.MULTILINE)
WARNING = re.compile(r"^( *)\.\. warning:: *(.*\n(?:\1 +\S.*\n?)*)", re.MULTILINE)
INLINE = re.compile(r":math:`([^`]+)`")
CITED = re.compile(r"\[(\d)\]_")
SOURCE = re.compile(r"^( *)\.\. \[(\d)\] ", re.MULTILINE)
PARAMETERS = re.compile(
    r"(?<=^Parameters\n-{10}\n).*?(?=^\w[\w ]*\n-+\n|\Z)", re.DOTALL | re.MULTILINE
)
SEVERAL = re.compile(
    r"^(\*{0,2}\w+(?:, \*{0,2}\w+)+)( :.*)?\n((?: +\S.*\n|\n(?= ))+)", re.MULTILINE
)


class MarkdownDocstrings(griffe.Extension):
    """Formulas between dollars; sources as a list; each parameter by itself."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    text = BLOCK.sub(lambda found: f"\n{found[1]}$${one_line(found[2])}$$\n\n", f"{text}\n")
    text = WARNING.sub(lambda found: f"{found[1]}!!! warning\n\n    {one_line(found[2])}\n\n", text)
    text = PARAMETERS.sub(lambda found: SEVERAL.sub(one_by_one, found[0]), text)
    text = INLINE.sub(r"$\1$", text)
    text = CITED.sub(r"[\1]", text)
    return SOURCE.sub(r"\n\1[\2] ", text).rstrip()


def one_by_one(found: re.Match[str]) -> str:
    """So that each has its own type and default, and not those of the first."""
    return "".join(f"{name}{found[2] or ''}\n{found[3]}" for name in found[1].split(", "))


def one_line(text: str) -> str:
    return " ".join(text.split())
