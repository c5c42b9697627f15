"""The examples run in an empty folder, and their pages in docs/examples show what they print."""

import importlib.util
import math
import re
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "docs" / "examples"
spec = importlib.util.spec_from_file_location("pages", PAGES / "pages.py")
assert spec is not None
assert spec.loader is not None
pages = importlib.util.module_from_spec(spec)
spec.loader.exec_module(pages)

NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?")
# SHA-256 of sums of NumPy's exp, whose last bit differs between processors.
DIGEST = re.compile(r"\b[0-9a-f]{12}\b")
# What is learned depends on the version of scikit-learn: the words are compared, not the numbers.
LEARNING = {"learnpp_experiments"}


@pytest.mark.parametrize("script", pages.SCRIPTS, ids=lambda path: path.name)
def test_example_runs_and_its_page_is_current(script: Path, tmp_path: Path) -> None:
    done = pages.run(script, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    shown = words_and_numbers((PAGES / f"{script.stem}.md").read_text(encoding="utf-8"))
    words, numbers = words_and_numbers(pages.page_of(script, done.stdout))
    remedy = f"run: python docs/examples/pages.py {script.stem}"
    assert shown[0] == words, remedy
    assert len(shown[1]) == len(numbers), remedy
    if script.stem not in LEARNING:
        assert all(map(close, shown[1], numbers)), remedy


def words_and_numbers(page: str) -> tuple[list[str], list[float]]:
    page = DIGEST.sub("digest", page)
    return NUMBER.sub("#", page).split(), [float(number) for number in NUMBER.findall(page)]


def close(a: float, b: float) -> bool:
    """The same digits, but for one in the last place of three."""
    return math.isclose(a, b, rel_tol=0.02, abs_tol=0.0015)


def test_every_example_has_a_page_and_no_page_lacks_one() -> None:
    listed = {page.stem for page in PAGES.glob("*.md")} - {"index"}
    assert listed == {script.stem for script in pages.SCRIPTS} == set(pages.TITLES)
