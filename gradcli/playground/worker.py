"""A worker process that answers questions, and is killed at the deadline."""

from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import Lock
from typing import Any

SPAWNED = get_context("spawn")  # does not copy threads of the server


class TooLong(Exception):
    """No answer came within the deadline."""


class Worker:
    """Answers one question at a time; a killed process is replaced for the next question."""

    def __init__(self, seconds: float):
        self.seconds, self._lock = seconds, Lock()
        self._process: Any = None
        self._end: Connection | None = None

    def start(self) -> None:
        """Start the process, which imports what answers need before the first question."""
        with self._lock:
            self._alive()

    def answer(self, question: str) -> str:
        """The answer. Raises TooLong if the deadline is exceeded or the process died."""
        with self._lock:
            end = self._alive()
            try:
                end.send(question)
                if end.poll(self.seconds):
                    return end.recv()
            except (EOFError, OSError):
                pass
            self._kill()
        raise TooLong

    def stop(self) -> None:
        """Kill the process."""
        with self._lock:
            self._kill()

    def _alive(self) -> Connection:
        if self._end is None or not self._process.is_alive():
            self._end, other = SPAWNED.Pipe()
            self._process = SPAWNED.Process(target=_answers, args=(other,), daemon=True)
            self._process.start()
            other.close()
        return self._end

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._process = self._end = None


def _answers(end: Connection) -> None:
    from .answering import answer

    while True:
        try:
            question = end.recv()
        except (EOFError, KeyboardInterrupt):
            return
        end.send(answer(question))
