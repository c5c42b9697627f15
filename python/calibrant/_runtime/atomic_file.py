"""Files that are there as a whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
from pathlib import Path

__all__ = ["check_not_read_only", "write_file"]


def check_not_read_only(target: Path) -> None:
    """Reject to take the place of a file that its owner has locked, as writing into it would."""
    if target.is_file() and not target.stat().st_mode & 0o222:
        raise PermissionError(errno.EACCES, "the file is read-only", str(target))


def checked_path(path: object) -> Path:
    """Return the name of a file."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path must be a str or os.PathLike, got {path!r}")
    return Path(path)


def write_file(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write under another name, then rename: a file is there as a whole or not at all.

    Of a link, what it points to is replaced. A file that was there keeps its permissions; one that
    is read-only is not replaced.
    """
    target = Path(os.path.realpath(checked_path(path)))
    temporary = target.with_name(f".{target.name[:50]}.{secrets.token_hex(8)}")
    try:
        if target.exists() and not (target.is_file() or target.is_dir()):
            raise OSError(errno.EINVAL, "it is no file but a device, a pipe or a socket")
        check_not_read_only(target)
        _write_new(temporary, content.encode() if isinstance(content, str) else content, target)
        temporary.replace(target)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise OSError(error.errno, f"cannot be written: {error.strerror}", str(path)) from error
        raise
    _sync_folder(target.parent)


def _write_new(path: Path, block: bytes, like: Path) -> None:
    """Write a file that is not there yet, to the disk, with the permissions of another if it is."""
    # The system applies the umask: to read it one would have to change it, for all threads.
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    with os.fdopen(handle, "wb") as file:
        if like.exists():
            path.chmod(like.stat().st_mode & 0o777)
        file.write(block)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Let the new name, too, survive a loss of power, where the system can do that."""
    if os.name != "posix":
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # it may be written to but not read; the rename stands
        return
    try:
        os.fsync(handle)
    except OSError:  # some network file systems have no such thing
        pass
    finally:
        os.close(handle)
