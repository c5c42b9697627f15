"""The processor's floating-point modes that other libraries may set, and how to set one."""

from __future__ import annotations

from contextlib import contextmanager

from calibrant import _core

testing = _core._testing
STANDARD = 0x1F80
MODES = {"flush to zero": 0x9FC0, "round down": 0x3F80, "round up": 0x5F80, "truncate": 0x7F80}


@contextmanager
def mode(mxcsr):
    saved = testing.get_mxcsr()
    testing.set_mxcsr(mxcsr)
    try:
        yield
    finally:
        testing.set_mxcsr(saved)
