"""The bytes of a text file, looked at while pyarrow reads them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["TextStream", "check_depth", "check_quotes"]

#: Levels of lists and objects inside each other; pyarrow calls itself for each, without a limit.
MOST_DEPTH = 256
_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*"?', re.DOTALL)


class TextStream:
    """A file to be read by pyarrow; compression is undone.

    Parameters
    ----------
    opened : pyarrow.NativeFile
    look : callable
        Gets each block of bytes before pyarrow does; what it raises ends the reading.
    """

    closed = False

    def __init__(self, opened: Any, look: Callable[[bytes], None]) -> None:
        self._opened = opened
        self._look = look

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        block: bytes = self._opened.read(size)
        self._look(block)
        return block

    def close(self) -> None:
        """Close the file."""
        self.closed = True
        self._opened.close()

    def readable(self) -> bool:
        """Return True, as files do."""
        return True

    def seekable(self) -> bool:
        """Return False."""
        return False


def check_depth(name: str) -> Callable[[bytes], None]:
    """Return what looks at the blocks of JSON lines, and rejects a line that is nested too deep."""
    rest = b""
    row = 0

    def look(block: bytes) -> None:
        nonlocal rest, row
        text = rest + block
        end = text.rfind(b"\n") + 1 if block else len(text)
        for start, stop, line in _crowded_lines(text):
            if _depth(text[start:stop]) > MOST_DEPTH:
                raise ValueError(
                    f"{name}: row {row + line} has lists or objects nested more than {MOST_DEPTH} "
                    "deep; write one object a line"
                )
        row += text.count(b"\n", 0, end)
        rest = text[end:]

    return look


def _crowded_lines(text: bytes) -> list[tuple[int, int, int]]:
    """Where the lines are that open more lists and objects than may be inside each other."""
    if text.count(b"[") + text.count(b"{") <= MOST_DEPTH:
        return []
    codes = np.frombuffer(text, np.uint8)
    starts = np.concatenate(([0], np.flatnonzero(codes == ord("\n")) + 1))
    starts = starts[starts < len(codes)]
    opened = np.add.reduceat((codes == ord("[")) | (codes == ord("{")), starts, dtype=np.int64)
    ends = np.append(starts[1:], len(codes))
    return [(int(starts[i]), int(ends[i]), int(i)) for i in np.flatnonzero(opened > MOST_DEPTH)]


def _depth(line: bytes) -> int:
    codes = np.frombuffer(_STRINGS.sub(b"", line), np.uint8)
    opens = (codes == ord("[")) | (codes == ord("{"))
    closes = (codes == ord("]")) | (codes == ord("}"))
    return int(np.cumsum(opens.astype(np.int64) - closes).max(initial=0))


def check_quotes(name: str, opened: Any, separator: str, rows: int) -> None:
    """Reject a CSV file of which quotes have swallowed lines.

    Called where there are fewer rows than lines. Values may have line ends inside of quotes, but a
    quote that is opened and never closed makes all lines after it one value, and so does one that
    is closed somewhere inside another value.
    """
    found = first = 0
    with io.TextIOWrapper(opened, encoding="utf-8", errors="replace", newline="") as text:
        reader = csv.reader(text, delimiter=separator, strict=True)
        try:
            for values in reader:
                found += bool(values)
                first = reader.line_num
        except csv.Error as error:
            raise ValueError(
                f"{name}: a quote in the row that begins at line {first + 1} is not closed where "
                f"its value ends ({error}); close it, or double it where it belongs to the text"
            ) from error
    if found > rows:
        raise ValueError(
            f"{name}: has {found} rows, of which pyarrow reads {rows}: line ends inside of quotes "
            "are in the way; take them out, or save the table as Parquet"
        )
