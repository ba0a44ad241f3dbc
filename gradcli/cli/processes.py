"""Worker processes on this machine, each in a separate pool.

A worker that is killed does not affect the others, and since it records the line that it is working
on, only that line is lost.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.util import Finalize
from threading import Thread
from typing import Any

from ..limits import Limits
from ..process import collect_seldom, one_thread
from .work import Answered, answered

START = "spawn"  # works on every system; a fork of a process with threads may deadlock
QUIET = "ignore"  # also in Python's helper processes, one of which warns about leftovers of Ctrl-C
AT, STOP = 0, 1  # indices of the shared values

_shared: Any = [0, 0]


class Processes:
    """`count` workers, which end with the `with` block."""

    def __init__(self, count: int):
        self.slots = [Process() for _ in range(count)]

    def __enter__(self) -> "Sequence[Process]":
        return self.slots

    def __exit__(self, kind: object, *_: object) -> None:
        for slot in self.slots:
            slot.kill() if kind else slot.end()
        for slot in self.slots:
            slot.join()


class Process:
    """One worker process."""

    def __init__(self) -> None:
        self._manager: Any = None
        self._start()

    def _start(self) -> None:
        if QUIET not in sys.warnoptions:
            sys.warnoptions.append(QUIET)
        context = get_context(START)
        self._shared = context.RawArray("l", 2)
        self._pool = ProcessPoolExecutor(1, context, _begin, (self._shared,))

    def submit(self, lines: Sequence[str], limits: Limits) -> "Future[list[Answered]]":
        """Submit lines to be answered."""
        self._shared[AT] = 0
        return self.run(_work, lines, limits)

    def run(self, function: Callable[..., Any], *args: Any) -> "Future[Any]":
        """Submit a function call."""
        with _interrupts_wait():  # the started process inherits that Ctrl-C is ignored
            try:
                return self._pool.submit(function, *args)
            except BrokenExecutor:  # it was killed while idle
                self._start()
                return self._pool.submit(function, *args)

    def lost(self, error: BaseException) -> int:
        """The index of the line that the worker was working on; starts a new worker."""
        at = self._shared[AT]
        self.renew()
        return at

    def renew(self) -> None:
        """Kill the worker, and start a new one."""
        self.kill()
        self._start()

    def kill(self) -> None:
        """Kill the worker."""
        alive = [*(self._pool._processes or {}).values()]  # from Python 3.14 on: kill_workers()
        self.end()
        for worker in alive:
            worker.kill()

    def end(self) -> None:
        """Let the worker end after its current line."""
        self._shared[STOP] = 1
        self._manager = self._pool._executor_manager_thread
        self._pool.shutdown(wait=False, cancel_futures=True)

    def join(self) -> None:
        """Wait until the worker has ended. The thread of its pool then closes a pipe, to which an
        interpreter that exits at that moment would write.
        """
        if self._manager is not None:
            self._manager.join()


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Block interrupts, also in processes started meanwhile, if the system supports that."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(shared: Any) -> None:
    """Initialise a worker."""
    global _shared
    _shared = shared
    one_thread()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):  # the parent has blocked interrupts
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    collect_seldom()
    Finalize(None, os._exit, (0,), exitpriority=0)  # memory is not freed object by object at exit
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Exit when the parent is killed, which sends no message."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(lines: Sequence[str], limits: Limits) -> list[Answered]:
    result = []
    for at, line in enumerate(lines):
        if _shared[STOP]:
            break
        _shared[AT] = at
        result.append(answered(line, limits))
    return result
