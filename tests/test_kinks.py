"""Ties, bounds, zeros, infinities, nan, empty tensors: exactly what PyTorch answers there."""

import importlib
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is the oracle of these tests")

from measured_kinks import frameworks, measured, versions
from support import compare, generator

from gradcli.explanation.in_pytorch.stored_kinks import known
from gradcli.language.posing import pose

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.usefixtures("double_precision"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

SUBJECTS = sorted(p.stem for p in (Path(__file__).parent / "kinks").glob("*.py"))
CASES = [
    pytest.param(*case, id=f"{subject}: {case[0][:60]}")
    for subject in SUBJECTS
    for case in importlib.import_module(f"kinks.{subject}").CASES
]


def test_there_are_enough_of_them():
    assert len(CASES) >= 400


@pytest.mark.parametrize(("text", "values", "seed"), CASES)
def test_kinks(text, values, seed):
    values = {name: np.array(value) for name, value in values.items()}
    if seed is None or isinstance(seed, str):  # any, in the shape of the output
        seed = generator(text, "seed").normal(size=pose(text, values=values).out.shape)
    compare(text, values, np.array(seed, float))


def test_what_is_told_of_kinks_is_what_pytorch_and_jax_answer():
    pytest.importorskip("jax", reason="JAX is the oracle of this test")
    told = [kink for found in known().values() for kink in found]
    assert told == measured(), "scripts/docs --measure repairs it"
    assert versions() == {name: frameworks.version(name).split()[1] for name in ("torch", "jax")}
