"""Options of the test run, and what its tests share."""

import gc
import os
import shutil
import signal
import sys
from importlib.util import find_spec

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, settings

from gradcli.limits import DEFAULTS

# What tests compare is searched for to its end, however busy the machine is.
DEFAULTS["seconds"] = 600

# One thread for each of pytest's processes: more only wait for one another.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")


# What tests start is interrupted as in a terminal, where they run in the background too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says nothing on a busy machine.
settings.register_profile("gradcli", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gradcli")

# Cycles are never searched for: that takes a fifteenth of the time, and finds little.
gc.disable()

# JAX compiles what runs once: as little as it can.
os.environ.setdefault(
    "XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"
)


def pytest_addoption(parser):
    parser.addoption(
        "--rewrite-golden",
        action="store_true",
        help="write tests/golden/*.txt anew; look at what changed before it is committed",
    )


def pytest_collection_modifyitems(config, items):
    """What is left out; and tests of the same example follow one another, in one process, and share
    what they compute.
    """
    missing = set()
    if not any(map(find_spec, ("torch", "jax"))):
        missing.add("oracle")
    if not config.option.keyword and not config.option.markexpr:
        missing |= {"sweep", "exhaustive"}
    left_out = [item for item in items if missing.intersection(item.keywords)]
    config.hook.pytest_deselected(items=left_out)
    left_out, order = set(left_out), {}
    items[:] = sorted(
        (item for item in items if item not in left_out),
        key=lambda item: order.setdefault(_example(item), len(order)),
    )


CHROMIUM = "chromium", "chromium-browser", "google-chrome", "chrome"


@pytest.fixture(scope="module")
def browser():
    """Headless Chromium."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    path = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if path is None:
        pytest.skip("Chromium is not installed")
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


def _example(item):
    """What a test is about, which other tests compute too: an example of the table of operators, an
    identity, a part of the programs that raise.
    """
    known = getattr(item, "callspec", None)
    kinds = ("example", "identity", "part")
    return next((known.params[x] for x in kinds if known and x in known.params), None)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """Report set-up and clean-up only where they fail: to send the reports of all of them from one
    process to another takes longer than many a test.
    """
    for report in runtestprotocol(item, nextitem=nextitem, log=False):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


def pytest_collection_finish():
    """Never search for cycles among the tests, of which there are thousands."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def double_precision():
    """PyTorch, whose own tensors are float64, as gradcli's are."""
    torch = pytest.importorskip("torch")
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield torch
    torch.set_default_dtype(before)


@pytest.fixture(autouse=True)
def pytorch_as_it_begins():
    """PyTorch's switches after each test as they are at its import: programs that tests run set
    them.
    """
    yield
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "autograd"):
        torch.autograd.set_detect_anomaly(False)
        torch.set_grad_enabled(True)
