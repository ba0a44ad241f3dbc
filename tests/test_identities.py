"""Formulas beside those of books: right for all identities, and hardly ever longer."""

from functools import cache

import numpy as np
import pytest
from corpus import ALL, SETTINGS, agrees, at, exact, formula_of, judge, value
from support import ROOT, one_in, run_formula

from gradcli.explanation.claims.verdict import judge as judged
from gradcli.language.posing import pose
from gradcli.notation.code.torch_code import expression
from gradcli.notation.tree import Name

GRADIENTS = [i for i in ALL if i.kind == "gradient"]
MATRICES = [i for i in ALL if i.kind != "gradient"]  # Jacobians and Hessians
LONGER = set((ROOT / "tests/identities/longer.txt").read_text().splitlines())  # than the book's
MOST_LONGER = 0.045  # of the identities


def name(identity):
    return f"{identity} [{identity.assume}]" if identity.assume else str(identity)


TRIED = one_in(30, ALL, name, sweep=5)
verdict_of = cache(judge)


def test_there_are_enough_identities():
    assert (len(GRADIENTS), len(MATRICES)) >= (300, 30)
    assert all(i.source and i.form for i in ALL)


@pytest.mark.parametrize("identity", TRIED)
def test_the_book_and_the_formula_are_right(identity):
    for k in SETTINGS:
        assert agrees(identity, identity.form, exact(identity, k), k), "the book"
    verdict = verdict_of(identity)
    assert verdict.right, verdict.text()
    assert verdict.longer == (_with_kind(identity) in LONGER), verdict.text()


def _with_kind(identity):
    return f"{identity.kind}: {name(identity)}"


def test_few_formulas_are_longer_than_the_books():
    assert LONGER.issubset(map(_with_kind, ALL))
    assert len(LONGER) <= MOST_LONGER * len(ALL)


@pytest.mark.parametrize("identity", one_in(16, [*GRADIENTS[::14], *MATRICES[::2]], name, sweep=2))
def test_formulas_do_not_depend_on_the_sizes(identity):
    labelled = any(kind.startswith("index") for _, _, kind in identity.inputs)
    if not labelled:
        assert verdict_of(identity).found == formula_of(identity, 1)


def is_for_all_numbers(identity):
    """Whether it holds for any floats; integers are labels."""
    kinds = {kind.partition("=")[0] for _, _, kind in identity.inputs}
    return not identity.assume and kinds <= {"", "real", "index"}


FOR_ALL_NUMBERS = [*filter(is_for_all_numbers, GRADIENTS)]


@pytest.mark.parametrize("identity", one_in(16, FOR_ALL_NUMBERS[::6], name))
def test_the_book_is_right_as_a_claim(identity):
    labels = {n: v for n, v in identity.values(0).items() if v.dtype.kind != "f"}
    problem = pose(identity.expr, shapes=identity.shapes(0), values=labels, wrt=[identity.wrt])
    *before, form = identity.form.split("; ")
    *_, verdict = judged(["; ".join([*before, f"{identity.wrt} = {form}"])], problem)
    assert verdict.ok


# ---- PyTorch -------------------------------------------------------------------------------------


@pytest.fixture
def torch(double_precision):
    return double_precision


def in_torch(torch, identity, k):
    """The derivative by autograd; that of a gradient or of several numbers as a matrix."""
    known = at(identity, k)
    problem = known.problem
    tensors = {n.attrs["name"]: torch.tensor(v) for n, v in problem.values.items()}
    x = tensors[identity.wrt]
    names = {i.node: Name(i.name) for i in problem.inputs.values()}
    scope = {"torch": torch, "F": torch.nn.functional, **tensors}
    text = expression(problem.out, names)
    if identity.kind != "gradient":
        find = getattr(torch.autograd.functional, identity.kind)
        found = find(lambda x: eval(text, scope | {identity.wrt: x}), x)
        return found.reshape(-1, x.numel()).numpy()
    out = eval(text, scope | {identity.wrt: x.requires_grad_()})
    (found,) = torch.autograd.grad(out, x, torch.tensor(known.seed))
    return found.numpy()


@pytest.mark.oracle
@pytest.mark.parametrize("identity", TRIED)
def test_autograd_agrees_with_the_book(identity, torch):
    for k in SETTINGS:
        book = value(identity.form, at(identity, k).names)
        np.testing.assert_allclose(in_torch(torch, identity, k), book, rtol=1e-7, atol=1e-9)


@pytest.mark.oracle
@pytest.mark.parametrize("identity", TRIED)
def test_formulas_are_python(identity, torch):
    """Under PyTorch's names, as they stand."""
    tensors = {n: torch.tensor(v.copy()) for n, v in at(identity, 0).names.items()}
    got = torch.as_tensor(run_formula(verdict_of(identity).found, tensors)).numpy()
    np.testing.assert_allclose(got, exact(identity, 0), rtol=1e-7, atol=1e-9)
