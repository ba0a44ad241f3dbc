"""Arguments of a wrong kind, to every operator: an answer or a GradcliError, and nothing else."""

import ast
from collections.abc import Iterator
from contextlib import suppress

import numpy as np
import pytest
from support import one_in

import gradcli
from gradcli.errors import GradcliError
from gradcli.language.arguments.option_texts import read_shapes
from gradcli.operators import all_operators

KINDS = ("'a'", "(1, 2)", "None", "nan", "True", "x")
MANY = [op for op in all_operators().values() if op.examples]


def with_one_of_a_wrong_kind(op, text) -> Iterator[str]:
    """The example with one argument after the other replaced by each kind."""
    tree = ast.parse(text, mode="eval")
    call = next((e for e in ast.walk(tree) if isinstance(e, ast.Call)), None)
    if call is None:
        return
    named = {k.arg for k in call.keywords}
    for kind in KINDS:
        wrong = ast.parse(kind, mode="eval").body
        for place, right in enumerate(call.args):
            call.args[place] = wrong
            yield ast.unparse(tree)
            call.args[place] = right
        for name in op.attributes:
            if name not in named:
                call.keywords.append(ast.keyword(arg=name, value=wrong))
                yield ast.unparse(tree)
                call.keywords.pop()


def ask(text, shapes):
    names = {e.id for e in ast.walk(ast.parse(text)) if isinstance(e, ast.Name)}
    values = {n: np.full(s, 0.5) for n, s in ({"x": (2, 3)} | shapes).items() if n in names}
    found: object = {}
    with suppress(GradcliError):
        found = gradcli.grad(text, values=values, grad="ones_like(out)")
    grads = found if isinstance(found, dict) else dict.fromkeys(values, found)
    assert all(g is None or np.shape(g) == np.shape(values[n]) for n, g in grads.items())


@pytest.mark.parametrize("op", one_in(3, MANY))
def test_no_operator_fails_in_another_way(op):
    text, shapes = op.examples[0]
    for wrong in with_one_of_a_wrong_kind(op, text):
        ask(wrong, read_shapes([shapes]))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("pow(x, 'a')", "b of pow.. must be a tensor or a number, got the text 'a'"),
        ("pow(x, (1, 2))", "b of pow.. must be a tensor or a number"),
        ("bucketize(x, [0.0, 1.0]) * x", "the boundaries of bucketize.. must be a vector"),
        ("bucketize(x, 1.0) * x", "the boundaries of bucketize.. must be a vector"),
        ("celu(x, 'a')", "alpha of celu.. must be a number, got 'a'"),
        ("pdist(x, None)", "p of pdist.. must be a number, got None"),
        ("x.diagonal(nan)", "offset of diagonal.. must be an integer"),
        ("x * full(3, 1.0)", "a size must be an integer"),
        ("x * full((2, 2), None)", "full.. does not take these arguments"),
        ("x * sort(None).indices", "sort.. does not take these arguments"),
        ("x.ones(2)", "no method ones"),
        ("x.eye()", "no method eye"),
        ("relu(x, op=1)", "relu.. has no argument op"),
        ("x.sum(args=1)", "sum.. has no argument args"),
        ("x.relu(span=1)", "relu.. has no argument span"),
        ("torch.relu(self=x)", "relu.. has no argument self"),
        ("torch.pow(self=x, exponent=2)", "pow.. has no argument self"),
        ("x * (x.int() @ x.long())", "cannot combine int32 and int64"),
        ("x * (x.int().T @ tensor([[1, 2], [3, 4]]))", "cannot combine int32 and int64"),
        ("cross_entropy(x, x.long())", "cross_entropy.. takes floating-point numbers"),
        ("cross_entropy(x, x > 1)", "cross_entropy.. does not accept a mask"),
        ("x * max_pool1d(x.long(), 1)", "max_pool1d.. takes floating-point numbers"),
        ("x * lp_pool1d(x.long(), inf, 1)", "lp_pool1d.. takes floating-point numbers"),
        ("x * matrix_power(x > 0, 2)", "matrix_power.. does not accept a mask"),
        ("einsum(x, [0, 52])", "must be from 0 to 51, got 52"),
        ("x.prod((0, 1))", "prod.. reduces one dimension, or all of them"),
        ("F.layer_norm(x, 2)", r"normalized_shape of layer_norm.. is written \(2,\)"),
        ("F.rms_norm(x, 2)", r"normalized_shape of rms_norm.. is written \(2,\)"),
        ("x.select_scatter(x[0], 0, 9)", "index 9 is out of range"),
        ("F.glu(x[:, :1])", "glu.. needs an even size along dimension -1, got 1"),
        ("x.split(self=2)", "split.. got an unexpected keyword argument 'self'"),
    ],
)
def test_it_is_said_what_is_wrong(text, words):
    with pytest.raises(GradcliError, match=words):
        gradcli.grad(text, values={"x": [[1.0, 2.0], [3.0, 4.0]]}, grad="ones_like(out)")


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("pinv(x, y)", {"x": (3, 2), "y": (4,)}),
        ("normalize(x, 0)", {"x": (2, 3)}),
        ("adaptive_avg_pool3d(x, 0)", {"x": (2, 3, 4, 5)}),
        ("x * full((2, 3), nan)", {"x": (2, 3)}),
        ("poisson_nll_loss(1000, x)", {"x": (2, 3)}),
        ("ldexp(x, 1000)", {"x": (2, 3)}),
        ("x.scatter(1, tensor([[0, 0], [2, 1]]), 0)", {"x": (2, 3)}),
    ],
)
def test_what_it_has_an_answer_for_is_explained_to_the_end(text, shapes):
    assert "Gradient of x" in gradcli.explain(text, shapes=shapes).to(full=True)
