"""Calls of NumPy that take long and cannot be stopped, made so that signals are answered."""

from __future__ import annotations

import atexit
import contextvars
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["answering_signals"]

T = TypeVar("T")
#: Seconds between two looks for signals.
_LOOK = 0.05
#: Of each call under way, set when it is done.
_under_way: set[threading.Event] = set()


@atexit.register
def _wait() -> None:
    """Wait for those abandoned: OpenBLAS may hang if it is unloaded while a thread is in it.

    A script that Ctrl-C ends does not unload it: Python kills itself by the signal.
    """
    is_killed = getattr(sys, "last_type", None) is KeyboardInterrupt and not hasattr(sys, "ps1")
    for done in () if is_killed else tuple(_under_way):
        _wait_for(done)


def _wait_for(done: threading.Event) -> None:
    # Thread.join takes a thread for stopped when a handler raises in it, up to Python 3.12.
    while not done.wait(_LOOK):
        pass


def answering_signals(call: Callable[..., T], *arguments: Any, work: float) -> T:
    """Return what the call returns; in the main thread a signal is answered meanwhile.

    Python runs signal handlers in the main thread, between two of its steps, and LAPACK takes
    none. So the call is made in another thread, for which this one waits. If a handler raises, as
    that of Ctrl-C does, the call is abandoned: it goes on in its thread until it is done, with the
    processors and the memory it has, and what it returns is dropped. A process that ends meanwhile
    waits for it, unless it is Ctrl-C that ends it.

    `work` is the number of floating-point operations, about: short calls are made at once.
    """
    if work < 1e8 or threading.current_thread() is not threading.main_thread():
        return call(*arguments)
    context = contextvars.copy_context()  # it has the settings of numpy.errstate
    found: list[T] = []
    raised: list[BaseException] = []
    done = threading.Event()

    def run() -> None:
        _under_way.add(done)
        try:
            found.append(context.run(call, *arguments))
        except BaseException as error:  # raised where it was asked for
            raised.append(error)
        finally:
            _under_way.discard(done)
            done.set()

    thread = threading.Thread(target=run, name="calibrant: linear algebra", daemon=True)
    try:
        thread.start()
    except RuntimeError:  # there is no room for one
        return call(*arguments)
    _wait_for(done)
    if raised:
        raise raised[0]
    return found[0]
