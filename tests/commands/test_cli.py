"""The command line: how it starts, and what it says without its extra."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import calibrant
from calibrant.cli import main
from calibrant.config import show_config

ROOT = Path(__file__).parents[2]


def run(*args, program=("-m", "calibrant")):
    return subprocess.run(
        [sys.executable, *program, *args], capture_output=True, text=True, check=False
    )


def test_version():
    done = run("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"calibrant, version {calibrant.__version__}\n"


def test_the_console_script_is_the_same_as_the_module():
    (script,) = entry_points(group="console_scripts", name="calibrant")
    assert script.load() is main


def test_config_prints_what_show_config_prints(capsys, runtime_restored):  # noqa: ARG001
    calibrant.set_num_threads(0)  # as in a new process
    done = run("config")
    assert (done.returncode, done.stderr) == (0, "")
    show_config()
    assert done.stdout == capsys.readouterr().out


def test_an_unknown_command_is_named():
    done = run("assume")
    assert done.returncode == 2
    assert "No such command 'assume'" in done.stderr


def test_without_click_the_message_names_the_extra():
    without_click = (
        "import sys; sys.modules['click'] = None; from calibrant.cli import main; main()"
    )
    done = run(program=("-c", without_click))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == 'calibrant: the command line needs: pip install ".[cli]"\n'


def test_every_way_to_install_is_true_for_a_clone():
    """It is on no index yet: an extra is asked for by the folder, in all messages and pages."""
    folders = ("python", "docs", "examples", "bench")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.*")]
    extra = re.compile(r"calibrant\[[a-z]|pip3? install [\"']?calibrant")
    found = [
        f"{path.relative_to(ROOT)}: {line}"
        for path in (*files, *ROOT.glob("*.md"))
        if path.suffix in (".py", ".pyi", ".md", ".html", ".ipynb", ".txt")
        for line in path.read_text(encoding="utf-8").splitlines()
        if extra.search(line)
    ]
    assert found == []
