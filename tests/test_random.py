"""backends/random.py against numbers seen from torch 2.13, and against torch itself if present."""

import numpy as np
import pytest

from gradcli.backends.random import Generator
from gradcli.errors import GradcliError

# Seen from torch: torch.manual_seed(0), then these calls one after another, dtype=torch.float64.
RAND_3 = [0.9700530018065531, 0.707819864399788, 0.45938294312745087]
THEN_RANDN_3 = [1.2644587093281903, -0.6874263917320185, 0.1603812602788958]
THEN_RANDN_17 = [
    -0.8664416019125772,
    0.23871805816817063,
    0.7335283685272841,
    -1.3218818291421377,
    1.3148113651971234,
    -1.4874956356507338,
    -0.7135753396468577,
    0.519998663178938,
    -0.9528856397032842,
    0.6748575435940039,
    1.0468653769814655,
    0.15429517864658948,
    -0.7498915228391941,
    -0.7233897004977882,
    0.08636989238234997,
    -1.746404903728242,
    1.041012457033509,
]
THEN_RANDN_1 = [-0.6064511869240653]  # the number that randn(3) left over
THEN_RAND = 0.2721837106053647


def test_numbers_seen_from_torch():
    generator = Generator(0)
    assert generator.rand((3,)).tolist() == RAND_3
    np.testing.assert_allclose(generator.randn((3,)), THEN_RANDN_3, rtol=1e-15)
    np.testing.assert_allclose(generator.randn((17,)), THEN_RANDN_17, rtol=1e-15)
    np.testing.assert_allclose(generator.randn((1,)), THEN_RANDN_1, rtol=1e-15)
    assert generator.rand(()).tolist() == THEN_RAND


def test_shapes():
    generator = Generator(0)
    for shape in ((), (0,), (2, 0, 3), (2, 3), (4, 4), (3, 7)):
        for draw in (generator.rand, generator.randn):
            assert draw(shape).shape == shape
            assert draw(shape).dtype == np.float64


@pytest.mark.parametrize("seed", [-1, 2**63, 1.0, True, "0", None])
def test_no_seed(seed):
    with pytest.raises(GradcliError) as caught:
        Generator(seed)
    assert caught.value.code == "option"
    assert caught.value.hint


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="torch is the oracle of these tests")


@pytest.mark.oracle
class TestAgainstTorch:
    """The oracle itself; only here, for torch is no dependency."""

    @pytest.mark.parametrize("seed", [0, 1, 42, 2**32 + 5, 2**63 - 1])
    @pytest.mark.parametrize("call", ["rand", "randn"])
    def test_one_call(self, torch, seed, call):
        for size in [*range(41), 100, 1000]:
            torch.manual_seed(seed)
            theirs = getattr(torch, call)(size, dtype=torch.float64).numpy()
            ours = getattr(Generator(seed), call)((size,))
            np.testing.assert_allclose(ours, theirs, rtol=0 if call == "rand" else 1e-15)

    @pytest.mark.parametrize("seed", [0, 1, 42])
    @pytest.mark.parametrize("size", [0, 1, 2, 15, 16, 17, 31, 32, 33, 100])
    def test_calls_one_after_another(self, torch, seed, size):
        torch.manual_seed(seed)
        generator = Generator(seed)
        for shape in ((3,), (size,), (), (size,), (0,), (5,), (2, 3, 4), (1,)):
            for call, rtol in (("randn", 1e-15), ("rand", 0)):
                theirs = getattr(torch, call)(shape, dtype=torch.float64).numpy()
                np.testing.assert_allclose(getattr(generator, call)(shape), theirs, rtol=rtol)
