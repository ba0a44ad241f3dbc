"""Options of the test run, and what its tests share."""

import pytest


def pytest_addoption(parser):
    parser.addoption(
        "--rewrite-golden",
        action="store_true",
        help="write tests/golden/*.txt anew; look at what changed before it is committed",
    )


@pytest.fixture
def double_precision():
    """PyTorch's own tensors are float64, as gradcli's are."""
    import torch

    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)
