"""Options of the test run, and what its tests share."""

import os

import pytest

# One thread for each of pytest's processes: more only wait for one another.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")


def pytest_addoption(parser):
    parser.addoption(
        "--rewrite-golden",
        action="store_true",
        help="write tests/golden/*.txt anew; look at what changed before it is committed",
    )


@pytest.fixture
def double_precision():
    """PyTorch, whose own tensors are float64, as gradcli's are."""
    torch = pytest.importorskip("torch")
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield torch
    torch.set_default_dtype(before)
