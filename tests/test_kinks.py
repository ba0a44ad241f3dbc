"""Ties, bounds, zeros, infinities, nan, empty tensors: exactly what PyTorch answers there.

kinks.json has PyTorch's outputs and gradients. `python tests/test_kinks.py`, with PyTorch, writes
it.
"""

import importlib
import json
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import Answer, answer, assert_equal, generator, refusal, torch_answer

from gradcli.explanation.in_pytorch.stored_kinks import known
from gradcli.language.posing import pose

HERE = Path(__file__).parent
SUBJECTS = sorted(p.stem for p in (HERE / "kinks").glob("*.py"))
CASES = [
    (text, {name: np.array(value) for name, value in values.items()}, seed)
    for subject in SUBJECTS
    for text, values, seed in importlib.import_module(f"kinks.{subject}").CASES
]
NUMBERED = [pytest.param(k, id=f"{k}: {case[0][:60]}") for k, case in enumerate(CASES)]


@cache
def stored() -> list[Answer | None]:
    """PyTorch's output and gradients for each case; None where it has no derivative."""
    lines = (HERE / "kinks.json").read_text("utf-8").splitlines()
    return [as_answer(json.loads(line)) for line in lines]


def as_json(found: Answer | None) -> Any:
    """An answer as it is stored: arrays as their shape and their numbers."""
    if found is None:
        return None
    arrays = {"": found.out, **found.grads}
    return {n: a if a is None else [a.shape, a.ravel().tolist()] for n, a in arrays.items()}


def as_answer(kept: Any) -> Answer | None:
    """The answer that `as_json` stored."""
    if kept is None:
        return None
    arrays = {n: a and np.array(a[1], float).reshape(a[0]) for n, a in kept.items()}
    return Answer(arrays.pop(""), arrays)


def seed_of(case: Any) -> np.ndarray:
    """The seed of a case; if it has none, numbers in the shape of the output."""
    text, values, seed = case
    if seed is None or isinstance(seed, str):
        seed = generator(text, "seed").normal(size=pose(text, values=values).out.shape)
    return np.array(seed, float)


def pytorch_answer(case: Any) -> Answer | None:
    """PyTorch's; None if it has no derivative."""
    text, values, _ = case
    return refusal(lambda: torch_answer(text, values, seed_of(case), set()))[0]


def test_there_are_enough_of_them():
    assert len(CASES) >= 400


@pytest.mark.parametrize("number", NUMBERED)
def test_kinks(number):
    case, theirs = CASES[number], stored()[number]
    text, values, _ = case
    ours, _ = refusal(lambda: answer(pose(text, values=values), seed_of(case)))
    assert (ours is None) == (theirs is None)
    if theirs is not None:
        assert_equal(ours.out, theirs.out)
        for name, grad in theirs.grads.items():
            assert_equal(ours.grads[name], grad)


ORACLE = [
    pytest.mark.oracle,
    pytest.mark.usefixtures("double_precision"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


def oracle(test):
    """Marks a test that runs PyTorch."""
    for mark in ORACLE:
        test = mark(test)
    return test


@oracle
@pytest.mark.parametrize("number", NUMBERED)
def test_pytorch_answers_what_is_stored(number):
    live, kept = pytorch_answer(CASES[number]), stored()[number]
    assert (live is None) == (kept is None)
    if live is not None:
        assert live.grads.keys() == kept.grads.keys()
        for array, other in zip((live.out, *live.grads.values()), (kept.out, *kept.grads.values())):
            assert_equal(array, other)


@oracle
def test_what_is_told_of_kinks_is_what_pytorch_and_jax_answer():
    pytest.importorskip("jax", reason="JAX is the oracle of this test")
    from measured_kinks import frameworks, measured, versions

    told = [kink for found in known().values() for kink in found]
    assert told == measured(), "scripts/docs --measure repairs it"
    assert versions() == {name: frameworks.version(name).split()[1] for name in ("torch", "jax")}


if __name__ == "__main__":
    import torch

    warnings.simplefilter("ignore")
    torch.set_default_dtype(torch.float64)
    lines = (json.dumps(as_json(pytorch_answer(case)), separators=(",", ":")) for case in CASES)
    (HERE / "kinks.json").write_text("".join(f"{line}\n" for line in lines), "utf-8")
