"""What is said of a number in a call of a function of PyTorch that accepts tensors only."""

import re
from functools import partial

import pytest
from support import examples, run_torch

from gradcli.errors import if_applicable
from gradcli.explanation.in_pytorch.numbers_for_tensors import (
    keepdim_without_dim,
    numbers_for_tensors,
)
from gradcli.language.posing import pose

# Whether PyTorch raises an error because an argument is a number.
NUMBERS = [
    ("maximum(x, 2)", True),
    ("x.atan2(-1)", True),
    ("F.mse_loss(x, 0.5)", True),
    ("torch.hypot(3, x)", True),
    ("torch.sqrt(2) * x", True),
    ("sqrt(2) * x", False),  # of math
    ("np.maximum(x, 2)", False),
    ("torch.maximum(x, torch.tensor(2.))", False),
    ("x + 2", False),
    ("torch.mul(x, 2)", False),
    ("x.pow(2)", False),
    ("torch.fmod(x, 2)", False),
    ("torch.copysign(x, 2)", False),
    ("torch.lerp(x, x, 0.5)", False),
    ("torch.lerp(x, 1, 0.5)", True),
    ("torch.where(x > 0, x, 2)", False),
    ("torch.clamp(x, 0)", False),
    ("torch.stack([x[0], 2.])", True),
    ("torch.stack([x[0], torch.tensor(2.)])", False),
]


@pytest.mark.parametrize(("expr", "raises"), NUMBERS)
def test_a_number_that_pytorch_refuses_is_spoken_of(expr, raises):
    notes = [text for code, text in numbers_for_tensors(pose(expr, shapes={"x": (3,)}))]
    assert ["raises an error in PyTorch" in text for text in notes] == [True] * raises


@pytest.mark.oracle
@pytest.mark.parametrize(("expr", "raises"), NUMBERS)
def test_which_numbers_pytorch_refuses(expr, raises):
    torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")
    if expr.startswith(("np", "sqrt")):
        return
    x = {"x": torch.ones(3)}
    if raises:
        with pytest.raises((TypeError, AttributeError)):
            run_torch(expr, x)
    else:
        run_torch(expr, x)


@pytest.mark.oracle
def test_no_number_that_pytorch_takes_is_spoken_of():
    torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")
    for example, name in ((e, n) for e in examples() if e.op.torch for n in e.values):
        text = re.sub(rf"\b{name}\b(?!=)", "0.5", example.text)
        values = {n: v for n, v in example.values.items() if n != name}
        problem = if_applicable(partial(pose, text, values=values))
        if problem is not None and numbers_for_tensors(problem):
            with pytest.raises((TypeError, AttributeError)):
                run_torch(text, {n: torch.tensor(v) for n, v in values.items()})


# ---- keepdim -------------------------------------------------------------------------------------

KEEPDIM = [  # whether PyTorch raises an error for keepdim=True without dim
    *((name, True) for name in ("sum", "mean", "prod", "max", "min", "median")),
    *((name, False) for name in ("std", "var", "amax", "amin", "norm", "nansum", "nanmean")),
]


@pytest.mark.parametrize(("name", "raises"), KEEPDIM)
def test_keepdim_without_dim_is_spoken_of(name, raises):
    for text in (f"x.{name}(keepdim=True)", f"torch.{name}(x, keepdim=True)"):
        notes = keepdim_without_dim(pose(text, shapes={"x": (2, 3)}))
        assert bool(notes) == raises
    for text in (f"x.{name}()", f"x.{name}(1, keepdim=True)", f"np.{name}(x, keepdims=True)"):
        problem = if_applicable(partial(pose, text, shapes={"x": (2, 3)}))
        assert problem is None or not keepdim_without_dim(problem)


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "raises"), KEEPDIM)
def test_of_which_functions_pytorch_requires_dim(name, raises):
    torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")
    called = partial(getattr(torch, name), torch.ones(2, 3), keepdim=True)
    if raises:
        with pytest.raises(TypeError):
            called()
    else:
        called()
