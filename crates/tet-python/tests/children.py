"""Processes that tests start: none outlives its test, and Ctrl-C interrupts each.

A process ignores SIGINT if the one that starts it does, as a shell makes the jobs in its background do.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

SPAWN = multiprocessing.get_context("spawn")
# Seconds after which a child ends whose parent was killed.
LIFE_MAX = 300


def interruptible() -> None:
    """SIGINT raises KeyboardInterrupt in this process, and it ends in the end."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.alarm(LIFE_MAX)


def _worked(work: Callable[..., None], *args: Any) -> None:
    interruptible()
    work(*args)


@contextmanager
def working(work: Callable[..., None], *args: Any) -> Iterator[multiprocessing.process.BaseProcess]:
    """A process of Python that does the work, and is killed at the end of the block if it goes on."""
    child = SPAWN.Process(target=_worked, args=(work, *args))
    child.start()
    try:
        yield child
    finally:
        child.kill()
        child.join()


def interrupt(child: multiprocessing.process.BaseProcess, ready: Any, wait: float, bound: float) -> None:
    """Interrupts a child this many seconds after it says that it reads: it says that it stopped, within the bound."""
    assert ready.get(timeout=60) == "reads"
    time.sleep(wait)
    began = time.monotonic()
    assert child.pid is not None
    os.kill(child.pid, signal.SIGINT)
    assert ready.get(timeout=30) == "stopped"
    assert time.monotonic() - began < bound


@contextmanager
def running(code: str, *args: object) -> Iterator[subprocess.Popen[str]]:
    """A process that runs a program, as a user starts it, and is killed at the end of the block if it goes on."""
    begin = f"import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\nsignal.alarm({LIFE_MAX})\n"
    command = [sys.executable, "-c", begin + textwrap.dedent(code), *map(str, args)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        try:
            yield child
        finally:
            child.kill()
