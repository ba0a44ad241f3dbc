"""How many threads NumPy's linear algebra has."""

import os

VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def one_thread() -> None:
    """Limit NumPy, which is not imported yet, to one thread, unless the environment sets a number.
    Threads busily wait for each other, which for matrices of a few hundred rows takes several times
    as long as the work; and the last digits would depend on how many there are.
    """
    for name in VARIABLES:
        os.environ.setdefault(name, "1")
