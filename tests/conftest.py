"""Options of the test run, and what its tests share."""

import gc
import os

import pytest

from gradcli.limits import DEFAULTS

# What tests compare is searched for to its end, however busy the machine is.
DEFAULTS["seconds"] = 600

# One thread for each of pytest's processes: more only wait for one another.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")


def pytest_addoption(parser):
    parser.addoption(
        "--rewrite-golden",
        action="store_true",
        help="write tests/golden/*.txt anew; look at what changed before it is committed",
    )


def pytest_collection_finish():
    """Search for cycles seldom, and never among the tests, of which there are some 40,000."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)


@pytest.fixture
def double_precision():
    """PyTorch, whose own tensors are float64, as gradcli's are."""
    torch = pytest.importorskip("torch")
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield torch
    torch.set_default_dtype(before)
