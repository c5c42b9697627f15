"""Checkpoints on disk: whole or not at all, whatever happens while they are written."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from bad_input_rows import ACCUMULATORS, filled
from calibrant import streaming
from calibrant._core import _testing
from calibrant._runtime import atomic_file
from calibrant.streaming import Scores

posix = pytest.mark.skipif(os.name != "posix", reason="permissions and links of POSIX")
KINDS = [name for name in ACCUMULATORS if hasattr(filled(name), "save")]


@pytest.fixture
def old():
    return filled("streaming.Scores")


@pytest.fixture
def new(old):
    return old.copy().merge(old)


@pytest.fixture
def checkpoint(tmp_path, old):
    path = tmp_path / "job.state"
    old.save(path)
    return path


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("kind", [str, Path])
def test_saved_and_loaded(name, kind, tmp_path):
    total, path = filled(name), kind(tmp_path / "some.state")
    for _ in range(2):  # the second time over the first
        total.save(path)
        for back in (type(total).load(path), streaming.load(path)):
            assert type(back) is type(total)
            assert back.to_bytes() == total.to_bytes()
    assert [each.name for each in tmp_path.iterdir()] == ["some.state"]


def test_bytes_are_on_the_disk_before_they_take_the_place_of_the_file(checkpoint, new, monkeypatch):
    steps = []
    fsync, replace = os.fsync, Path.replace

    def synced(handle):
        is_folder = stat.S_ISDIR(os.fstat(handle).st_mode)
        steps.append("sync the folder" if is_folder else f"sync {os.fstat(handle).st_size} bytes")
        fsync(handle)

    def renamed(self, target):
        assert self.read_bytes() == new.to_bytes()
        assert self.parent == target.parent  # on the same disk
        steps.append("rename")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", renamed)
    new.save(checkpoint)
    folder = ["sync the folder"] if os.name == "posix" else []
    assert steps == [f"sync {len(new.to_bytes())} bytes", "rename", *folder]
    assert Scores.load(checkpoint) == new


def fail_with(number):
    def fail(*_args, **_options):
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize(
    ("owner", "name", "number"),
    [(os, "open", errno.EACCES), (os, "fsync", errno.ENOSPC), (Path, "replace", errno.EPERM)],
)
def test_a_save_that_fails_leaves_the_old_file(
    checkpoint, old, new, monkeypatch, owner, name, number
):
    with monkeypatch.context() as patched:
        patched.setattr(owner, name, fail_with(number))
        with pytest.raises(OSError, match="cannot be written") as raised:
            new.save(checkpoint)
    assert (raised.value.errno, raised.value.filename) == (number, str(checkpoint))
    assert Scores.load(checkpoint) == old
    assert list(checkpoint.parent.iterdir()) == [checkpoint]


def test_ctrl_c_during_a_save_leaves_the_old_file(checkpoint, old, new, monkeypatch):
    def interrupt(_handle):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        new.save(checkpoint)
    assert Scores.load(checkpoint) == old
    assert list(checkpoint.parent.iterdir()) == [checkpoint]


@posix
def test_a_disk_that_is_full(checkpoint, old, new):
    """A limit on the size of files, which the system keeps, in place of a small disk."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    previous = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
        with pytest.raises(OSError, match="cannot be written: File too large"):
            new.save(checkpoint)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, previous)
    assert Scores.load(checkpoint) == old
    assert list(checkpoint.parent.iterdir()) == [checkpoint]


@posix
def test_a_process_that_is_killed_while_it_saves_leaves_a_whole_file(tmp_path):
    path = tmp_path / "job.state"
    script = f"""
        import sys
        from bad_input_rows import filled
        total = filled("streaming.Scorecard")
        total.save({str(path)!r})
        print("begun", flush=True)
        while True:
            total.merge(filled("streaming.Scorecard")).save({str(path)!r})
    """
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path]),
    }
    for moment in range(5):
        with subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, env=environment
        ) as process:
            process.stdout.readline()
            time.sleep(0.01 * moment)
            process.kill()
        total = streaming.Scorecard.load(path)
        assert total.n > 0
        assert total.n % filled("streaming.Scorecard").n == 0


@posix
def test_permissions_of_a_new_file_are_those_of_the_umask_and_of_an_old_one_its_own(
    tmp_path, old, new
):
    path = tmp_path / "job.state"
    before = os.umask(0o027)
    try:
        old.save(path)
        assert mode_of(path) == 0o640
        for mode in (0o600, 0o664):
            path.chmod(mode)
            new.save(path)
            assert mode_of(path) == mode
    finally:
        os.umask(before)


@posix
def test_the_umask_is_not_touched(tmp_path, new, monkeypatch):
    """It is that of the process: other threads may be making files."""
    monkeypatch.setattr(os, "umask", lambda _: pytest.fail("the umask was changed"))
    new.save(tmp_path / "job.state")


@posix
def test_of_a_link_what_it_points_to_is_replaced(checkpoint, new, tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    link = folder / "latest"
    link.symlink_to("../job.state")
    new.save(link)
    assert link.is_symlink()
    assert Scores.load(checkpoint) == Scores.load(link) == new
    ahead = folder / "next"
    ahead.symlink_to("../next.state")
    new.save(ahead)
    assert Scores.load(tmp_path / "next.state") == new


@posix
def test_what_is_no_file_is_left_as_it_is(tmp_path, new):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="cannot be written: it is no file but a device, a pipe"):
        new.save(pipe)
    assert pipe.is_fifo()
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(IsADirectoryError, match="cannot be written"):
        new.save(folder)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["folder", "pipe"]


def test_a_folder_that_may_not_be_read(checkpoint, new, monkeypatch):
    """The new name cannot be synced then, but it is there."""
    monkeypatch.setattr(atomic_file.os, "O_RDONLY", -1)  # refused by the system
    new.save(checkpoint)
    assert Scores.load(checkpoint) == new


def test_names_as_long_as_the_system_takes(tmp_path, new):
    path = tmp_path / ("ü" * 120)
    new.save(path)
    assert Scores.load(path) == new


def test_many_threads_save_to_one_name(checkpoint, new):
    totals = [new.copy() for _ in range(4)]
    for i, total in enumerate(totals):
        for _ in range(i):
            total.merge(new)
    states = {total.to_bytes() for total in totals}
    found = []

    def save(total):
        for _ in range(20):
            total.save(checkpoint)
            found.append(checkpoint.read_bytes())

    threads = [threading.Thread(target=save, args=(total,)) for total in totals]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 80
    assert set(found) <= states
    assert list(checkpoint.parent.iterdir()) == [checkpoint]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda _: b"", "not a"),
        (lambda _: b"y,p\n1,0.5\n", "not a"),
        (lambda state: state[:-1], "truncated"),
        (lambda state: state[:40] + b"!" + state[41:], "checksum mismatch"),
        (lambda state: state[:4] + b"\2" + state[5:], "state format 2 is not 1"),
        (lambda _: streaming.Scorecard().to_bytes(), "state of a .* expected, found Scorecard"),
    ],
)
def test_what_is_refused_is_refused_with_the_name_of_the_file(checkpoint, damage, message):
    checkpoint.write_bytes(damage(checkpoint.read_bytes()))
    with pytest.raises(ValueError, match=message) as raised:
        Scores.load(checkpoint)
    assert str(raised.value).startswith(f"{checkpoint}: ")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda _: b"", "not a state saved by calibrant"),
        (lambda state: state[:7], "state is truncated: 7 bytes"),
        (lambda state: state[:6] + b"\x63" + state[7:], "checksum mismatch"),
        (
            lambda state: _testing.seal(99, 1, state[20:-4]),
            "state of kind 99, which this calibrant",
        ),
        (lambda state: _testing.seal(4, 9, state[20:-4]), "state version 9 is newer than 1"),
    ],
)
def test_what_is_of_no_class(checkpoint, damage, message):
    checkpoint.write_bytes(damage(checkpoint.read_bytes()))
    with pytest.raises(ValueError, match=message):
        streaming.load(checkpoint)
