import subprocess
import sys
from pathlib import Path

import pytest

# Those that take long do less here.
ARGUMENTS = {
    "learnpp_experiments.py": ["--repeats", "1"],
    "nelson_figure1.py": ["--seeds", "3"],
    "nelson_figures_3_to_7.py": ["--seeds", "2"],
}
EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_example_runs_in_an_empty_folder(example, tmp_path):
    command = [sys.executable, "-W", "error", example, *ARGUMENTS.get(example.name, [])]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout
