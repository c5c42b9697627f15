"""What is in force, and how to change it."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import calibrant
from calibrant._core import _testing
from calibrant.config import config

pytestmark = pytest.mark.build

ISAS = ["baseline", "avx2", "avx512"]


def import_with_isa(value: str) -> subprocess.CompletedProcess[str]:
    script = "from calibrant.config import config; c = config(); print(c['isa'], c['isa_source'])"
    return subprocess.run(
        [sys.executable, "-c", script],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "CALIBRANT_ISA": value},
    )


@pytest.fixture
def isa_restored():
    before = config()["isa"]
    yield
    _testing.set_isa(before)


def test_threads_can_be_set():
    default = calibrant.get_num_threads()
    calibrant.set_num_threads(np.int64(3))
    try:
        assert calibrant.get_num_threads() == 3
        assert config()["num_threads_source"] == "set_num_threads"
    finally:
        calibrant.set_num_threads(0)
    assert calibrant.get_num_threads() == default


@pytest.mark.parametrize("n", [-1, 1025, 2**40])
def test_a_wrong_number_of_threads(n):
    default = calibrant.get_num_threads()
    with pytest.raises(ValueError, match=f"must be from 1 to 1024, or 0 for the default, got {n}$"):
        calibrant.set_num_threads(n)
    assert calibrant.get_num_threads() == default


@pytest.mark.parametrize("n", [2.0, "2", None])
def test_threads_must_be_whole(n):
    with pytest.raises(TypeError, match="integer"):
        calibrant.set_num_threads(n)


def test_available_isas_start_with_the_baseline():
    found = config()
    assert found["available_isas"] == tuple(ISAS[: len(found["available_isas"])])
    assert found["isa"] in found["available_isas"]


@pytest.mark.parametrize("isa", ISAS)
def test_isa_from_the_environment(isa):
    finished = import_with_isa(isa)
    if isa in config()["available_isas"]:
        assert finished.stdout == f"{isa} CALIBRANT_ISA\n"
    else:
        assert (
            "ImportError: environment variable CALIBRANT_ISA: instruction set must be one of"
            in finished.stderr
        )
        assert (
            f"got '{isa}', which this processor or this build does not support" in finished.stderr
        )


@pytest.mark.parametrize("value", ["AVX2", "sse2", "avx2 ", "fast"])
def test_an_unknown_isa_stops_the_import(value):
    finished = import_with_isa(value)
    assert finished.returncode == 1
    assert "ImportError: environment variable CALIBRANT_ISA" in finished.stderr
    assert "'baseline'" in finished.stderr
    assert f"got '{value}'" in finished.stderr


def test_without_a_wish_the_best_isa_is_chosen():
    assert import_with_isa("").stdout == f"{config()['available_isas'][-1]} CPU\n"


@pytest.mark.usefixtures("isa_restored")
def test_set_isa():
    for isa in config()["available_isas"]:
        _testing.set_isa(isa)
        assert (config()["isa"], config()["isa_source"]) == (isa, "set_isa")


@pytest.mark.usefixtures("isa_restored")
def test_set_isa_rejects_what_is_not_there():
    before = config()["isa"]
    with pytest.raises(ValueError, match=r"instruction set must be one of 'baseline'.*got 'neon'"):
        _testing.set_isa("neon")
    assert config()["isa"] == before


def test_show_config(capsys):
    calibrant.show_config()
    shown = capsys.readouterr().out
    for key in (
        "version",
        "numpy",
        "compiler",
        "cpp_standard",
        "isa",
        "isa_source",
        "num_threads_source",
    ):
        assert str(config()[key]) in shown
    assert len(shown.splitlines()) == 6


def test_config_names_the_standard():
    assert config()["cpp_standard"] == "C++20"
