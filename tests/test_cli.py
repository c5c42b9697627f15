"""The command line: how it starts, and what it says without its extra."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import calibrant
from calibrant.cli import main
from calibrant.config import show_config


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
    assert done.stderr == 'calibrant: the command line needs: pip install "calibrant[cli]"\n'
