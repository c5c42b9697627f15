"""Write the pages of docs/examples: each script of examples/ with what it prints and draws.

    python docs/examples/pages.py [NAME...]

A script is cut into cells by lines that begin with "# %%", as notebooks are; the rest of the line
is a heading, comments below it are text. Of scripts without cells the output alone is shown.
tests/project/test_examples.py runs them all and compares. Needs pip install ".[sklearn,plot]".
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
SCRIPTS = sorted((HERE.parents[1] / "examples").glob("*.py"))
# Those that take long do less here; their pictures are of the whole, and made by hand.
ARGUMENTS = {
    "learnpp_experiments": ["--repeats", "1"],
    "nelson_figure1": ["--seeds", "3"],
    "nelson_figures_3_to_7": ["--seeds", "2"],
}
TITLES = {
    "compare_models": "Which model is better, and for whom?",
    "learnpp_experiments": "Learn++: does confidence approach the posterior?",
    "merge_workers": "Merging workers",
    "nelson_figure1": "Few samples, many dimensions",
    "nelson_figures_3_to_7": "Model against source",
    "quickstart": "Quickstart",
    "sbi_toy": "Calibrated is not sharp",
    "watch_a_service": "Watching a service",
}
CELL = re.compile(r"^# %% (.+)\n", re.MULTILINE)
COMMENT = re.compile(r"\A(?:# ?.*\n)+")
BETWEEN = "\x1e\n"  # printed where a cell begins


def run(script: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run it in the folder, with its output cut where its cells are."""
    separated = CELL.sub(r"print(chr(0x1E))\n", script.read_text("utf-8"))
    copy = folder / script.name
    copy.write_text(separated, encoding="utf-8")
    command = [sys.executable, "-W", "error", copy, *ARGUMENTS.get(script.stem, [])]
    environment = os.environ | {"MPLBACKEND": "agg", "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env=environment
    )


def page_of(script: Path, output: str) -> str:
    """The page of a script that printed this."""
    source = script.read_text(encoding="utf-8")
    about = ast.get_docstring(ast.parse(source)) or ""
    arguments = " ".join(["", *ARGUMENTS.get(script.stem, [])])
    link = f"[examples/{script.name}](../../examples/{script.name})"
    head = f"# {TITLES[script.stem]}\n\n{about}\n"
    how = f"Output of `python examples/{script.name}{arguments}`: {link}.\n"
    note = "<!-- written by docs/examples/pages.py -->\n"
    shown = cells(source, output) if CELL.search(source) else fenced("text", output)
    return f"{head}\n{how}\n{note}\n{shown}{pictures(script)}"


def cells(source: str, output: str) -> str:
    head, *parts = CELL.split(source)
    printed = output.split(BETWEEN)
    after_docstring = ast.parse(source).body[0].end_lineno
    first = "".join(head.splitlines(keepends=True)[after_docstring:])
    shown = fenced("python", first) + fenced("text", printed[0])
    for title, code, said in zip(parts[::2], parts[1::2], printed[1:], strict=True):
        text = COMMENT.search(code)
        words = "" if text is None else re.sub(r"^# ?", "", text[0], flags=re.MULTILINE) + "\n"
        code = code if text is None else code[text.end() :]
        shown += f"## {title}\n\n{words}{fenced('python', code)}{fenced('text', said)}"
    return shown


def fenced(language: str, text: str) -> str:
    lines = "\n".join(line.rstrip() for line in text.strip("\n").splitlines())
    return f"```{language}\n{lines}\n```\n\n" if lines else ""


def pictures(script: Path) -> str:
    picture = HERE.parent / "images" / f"{script.stem}.png"
    return f"![What it draws](../images/{picture.name})\n" if picture.exists() else ""


def main() -> None:
    for script in SCRIPTS:
        if sys.argv[1:] and script.stem not in sys.argv[1:]:
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            done = run(script, folder)
            if done.returncode != 0:
                sys.exit(done.stderr)
            if script.stem not in ARGUMENTS:
                for picture in folder.glob("*.png"):
                    shutil.copy(picture, HERE.parent / "images")
        HERE.joinpath(f"{script.stem}.md").write_text(page_of(script, done.stdout), "utf-8")


if __name__ == "__main__":
    main()
