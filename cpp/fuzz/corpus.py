"""Small inputs of a fuzz target in one text file, a line of hexadecimal digits each.

corpus.py unpack seeds/fuzz_rows.txt FOLDER    one file an input, for libFuzzer
corpus.py pack FOLDER seeds/fuzz_rows.txt      back again, the shortest first
"""

import hashlib
import sys
from pathlib import Path


def unpack(text: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for line in text.read_text().split():
        content = bytes.fromhex(line)
        (folder / hashlib.sha1(content, usedforsecurity=False).hexdigest()).write_bytes(content)


def pack(folder: Path, text: Path) -> None:
    inputs = sorted((path.read_bytes() for path in folder.iterdir()), key=lambda b: (len(b), b))
    text.write_text("".join(f"{content.hex()}\n" for content in inputs if content))


if __name__ == "__main__":
    action, source, target = sys.argv[1:]
    {"unpack": unpack, "pack": pack}[action](Path(source), Path(target))
