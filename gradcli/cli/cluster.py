"""Workers in a Dask cluster, used through Dask's interface like that of concurrent.futures.

Dask reassigns the tasks of a killed worker; a task that kills several workers fails.
"""

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from ..errors import GradcliError
from ..limits import Limits
from .work import Answered, all_answered

PATIENCE = 10  # seconds until a scheduler must answer
AHEAD = 2  # shares per thread of the cluster: one is computed while the next is sent


class Cluster:
    """The workers of the scheduler at an address."""

    def __init__(self, address: str):
        self.address = address

    def __enter__(self) -> "Sequence[Place]":
        try:
            from distributed import Client
        except ImportError:
            hint = "install it with: pip install 'gradcli[dask]'"
            raise GradcliError("option", "Dask is not installed", hint=hint) from None
        try:
            self._client = Client(self.address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            message = f"there is no scheduler at {self.address}"
            raise GradcliError("option", message, hint=str(error) or None) from None
        threads = sum(self._client.nthreads().values())
        executor = self._client.get_executor(pure=False)
        return [Place(executor) for _ in range(AHEAD * max(1, threads))]

    def __exit__(self, *_: object) -> None:
        self._client.close()


class Place:
    """One slot for a share of lines, on any worker."""

    def __init__(self, executor: Any):
        self._executor = executor

    def submit(self, lines: Sequence[str], limits: Limits) -> "Future[list[Answered]]":
        """Submit lines to be answered."""
        return self._executor.submit(all_answered, lines, limits)

    def lost(self, error: BaseException) -> None:
        """Return None, because it is not known which line ended the workers. Raises GradcliError if
        the error has another cause.
        """
        if type(error).__name__ != "KilledWorker":
            message = f"the cluster gives no answers: {type(error).__name__}: {error}"
            hint = "its workers need this version of gradcli, and the scheduler has to stay"
            raise GradcliError("option", message, hint=hint) from None
