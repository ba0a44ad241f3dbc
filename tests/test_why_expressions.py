"""Why elements of a gradient are nan, infinite, zero or absent.

data/why_expressions.jsonl: an expression a line, with the kind of each such element as PyTorch has
it, the operations that may be named for it, and whether an equal expression is known that is finite
there. The first 64 are those that the project was given.
"""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from console import gradcli
from support import run_torch

from gradcli.errors import GradcliError
from gradcli.explanation.blocks import Document
from gradcli.explanation.why import Why, why_expression
from gradcli.request import Request

DATA = Path(__file__).parent / "data" / "why_expressions.jsonl"
CASES = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
KINDS = {"nan": np.isnan, "inf": np.isinf, "zero": lambda v: v == 0}
RANGES = ((0.01, 2.0), (-2.0, 2.0), (0.05, 0.95))
CLOSE = 1e-9


def posed(expr, values, grad=None, wrt=None):
    seeds = [] if grad is None else [grad]
    return Request(expr, values=values, seeds=seeds, wrt=wrt).analysis()


def why(case) -> Why:
    return why_expression(posed(case["expr"], case["values"], case["grad"], case["wrt"]))


def answer(expr: str, **values) -> dict:
    return why_expression(posed(expr, values)).data()


def test_every_element_has_its_kind_and_operation():
    wrong = []
    for case in CASES:
        found = {e.name: (e.kind, e.operation) for e in why(case).elements}
        kinds = {name: kind for name, (kind, _) in found.items()}
        expected = {name: kind for name, (kind, _) in case["elements"].items()}
        named = all(found[n][1] in ops for n, (_, ops) in case["elements"].items() if n in found)
        if kinds != expected or not named:
            wrong.append((case["expr"], found))
    assert not wrong


REWRITTEN = [  # by hand: equal where both are finite
    ("where(x > 0, sqrt(x), 0).sum()", [0.0, 4.0], [0.0, 0.25]),
    ("log(1 + exp(x)).sum()", [1000.0, 0.0], [1.0, 0.5]),
    ("sqrt(x**2).sum()", [0.0, -3.0], None),
    ("(expm1(x)/x).sum()", [0.0], [0.5]),
    ("exp(cumsum(log(x), 0)).sum()", [2.0, 0.0, 4.0], [1.0, 10.0, 0.0]),
    ("clamp(log(x), min=-100).sum()", [0.0, 2.0], [0.0, 0.5]),
    ("exp(-exp(x)).sum()", [1000.0, 0.0], [0.0, -np.exp(-1)]),
    ("(exp(x) * exp(-x)).sum()", [1000.0], [0.0]),  # 0 by underflow masks nothing
    ("log(prod(x))", [1e-200, 1e-200], [1e200, 1e200]),
    ("y = sqrt(x); y[~isnan(y)].sum()", [-1.0, 4.0], [0.0, 0.25]),
]


@pytest.mark.parametrize(("expr", "x", "grad"), REWRITTEN)
def test_rewritten_expressions_have_the_derivative(expr, x, grad):
    text = answer(expr, x=x)["rewritten"]
    assert text is not None
    a = posed(text, {"x": x})
    value = a.grad_value(a.problem.wrt[0])
    assert np.all(np.isfinite(value))
    if grad is not None:
        np.testing.assert_allclose(value, grad, rtol=1e-12)


@pytest.mark.parametrize(
    ("expr", "values"),
    [
        ("sqrt(x).sum()", {"x": [0.0, 4.0]}),  # the derivative is infinite
        ("asin(x).sum()", {"x": [1.0]}),
        ("(1/x).sum()", {"x": [0.0]}),
        ("sqrt(clamp(x, min=0)).sum()", {"x": [0.0]}),
        ("(prod(x)/x).sum()", {"x": [0.0, 2.0]}),  # the limit is not what a mask would give
        ("(x/(x*x)).sum()", {"x": [0.0]}),
        ("xlogy(x, x).sum()", {"x": [0.0]}),
        ("relu(x).sum()", {"x": [-1.0]}),
        ("(sign(x) * sqrt(abs(x))).sum()", {"x": [0.0]}),
        ("exp(x).sum()", {"x": [1000.0]}),
    ],
)
def test_what_has_no_cure_is_offered_none(expr, values):
    assert answer(expr, **values)["rewritten"] is None


def test_reasons_have_the_numbers_of_the_case():
    (element,) = answer("where(x > 0, sqrt(x), 0).sum()", x=[0.0, 4.0])["elements"]
    assert element["name"] == "x[0]"
    assert element["reason"] == (
        "where sends 0 to the branch not taken; sqrt's rule sends g / (2 * sqrt(x)): 0/0 is nan"
    )


REASONS = [
    ("x.sort().values[:1].sum()", [3.0, 1.0], "no index of x.sort().values[:1] selects it"),
    ("(x * log(x)).sum()", [0.0], "mul's rule sends g * log(x): 1·-inf is -inf; log adds nan"),
    ("x.masked_fill(x > 2, 0).sum()", [3.0, 1.0], "masked_fill puts another value there"),
    ("x.std(unbiased=False)", [3.0], "std sends 0 there for any gradient"),
    ("x.max()", [1.0, 5.0], "max selects another element"),
    ("maximum(x, tensor([1.0, 9.0])).sum()", [2.0, 3.0], "maximum selects the other operand there"),
    ("mse_loss(x, tensor([1.0, 9.0]))", [1.0, 3.0], "mse_loss has slope 0 where its operands"),
    ("softmax(x, 0)[1]", [900.0, 0.0], "softmax is saturated there"),
    ("hinge_embedding_loss(x, tensor([1, -1]))", [0.5, 3.0], "hinge_embedding_loss's margin is"),
    ("linalg.eigh(x)[1][0, 0]", [[1.0]], "linalg_eigh sends 0"),
    ("isclose(x, 0 * x).double().sum()", [3.0], "isclose(x, 0 * x) is True or False"),
]


@pytest.mark.parametrize(("expr", "x", "reason"), REASONS)
def test_reasons_are_those_of_the_operation(expr, x, reason):
    element = answer(expr, x=x)["elements"][0]
    assert element["reason"].startswith(reason)


def test_where_nothing_has_a_gradient():
    w = why_expression(posed("(sigmoid(x) > 0.5).float().mean()", {"x": [1.0]}))
    (element,) = w.elements
    assert (element.name, element.kind, element.operation) == ("x", "none", "gt")
    assert any(section.name == "instead" for section in w.document().sections)


@pytest.mark.parametrize("expr", ["x.argmax()", "i = argmax(x); i", "i = x.argmax()"])
def test_integers_are_no_output_and_have_a_reason(expr):
    (element,) = json.loads(gradcli("why", expr, "-v", "x=[1,2]", "-f", "json").out)["elements"]
    assert (element["kind"], element["operation"]) == ("none", "argmax")


def test_a_seed_that_pytorch_asks_for_is_ones():
    w = why_expression(posed("sqrt(x)", {"x": [0.0, 4.0]}))
    assert [(e.name, e.kind) for e in w.elements] == [("x[0]", "inf")]
    assert w.document().sections[-1].name == "seed"


def test_documents():
    for case in CASES[::20]:
        assert isinstance(why(case).document(), Document)


# ---- PyTorch -------------------------------------------------------------------------------------


def torch_gradients(text, values, grad, wrt):
    """Value and gradients by PyTorch; None for a gradient that is absent."""
    import torch

    tensors = {}
    for name, value in values.items():
        floats = name in wrt or np.asarray(value).dtype.kind == "f"
        tensors[name] = torch.tensor(value, dtype=torch.float64 if floats else None)
        tensors[name].requires_grad_(name in wrt)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = run_torch(text, tensors)
    if not out.requires_grad:
        return out.numpy(), [None for _ in wrt]
    seed = None if grad is None else torch.ones_like(out)
    if isinstance(grad, list):
        seed = torch.tensor(grad, dtype=torch.float64)
    found = torch.autograd.grad(out, [tensors[n] for n in wrt], seed, allow_unused=True)
    return out.detach().numpy(), [None if g is None else g.numpy() for g in found]


def kinds_of(name, grad):
    if grad is None:
        return {name: "none"}
    places = ((p, v) for p, v in np.ndenumerate(grad))
    return {
        f"{name}[{','.join(map(str, p))}]" if p else name: kind
        for p, v in places
        for kind, test in KINDS.items()
        if test(v)
    }


@pytest.mark.oracle
@pytest.mark.usefixtures("double_precision")
def test_kinds_are_those_of_pytorch():
    pytest.importorskip("torch")
    for case in CASES:
        _, grads = torch_gradients(case["expr"], case["values"], case["grad"], case["wrt"])
        kinds = {k: v for n, g in zip(case["wrt"], grads) for k, v in kinds_of(n, g).items()}
        assert kinds == {k: v for k, (v, _) in case["elements"].items()}, case["expr"]


@pytest.mark.oracle
@pytest.mark.usefixtures("double_precision")
def test_rewritten_expressions_are_equal_in_pytorch():
    """Finite at the values, and the same value and gradient where the original has them."""
    pytest.importorskip("torch")
    rng = np.random.default_rng(5)
    cured, extra = 0, []
    for case in CASES:
        text = why(case).rewritten
        if text is None:
            continue
        cured += case["fixable"]
        if not case["fixable"]:
            extra.append(case["expr"])
        out, grads = torch_gradients(text, case["values"], case["grad"], case["wrt"])
        assert np.all(np.isfinite(out)), text
        assert all(g is None or np.all(np.isfinite(g)) for g in grads), text
        for low, high in RANGES:
            moved = {n: rng.uniform(low, high, np.shape(case["values"][n])) for n in case["wrt"]}
            values = case["values"] | {n: v.tolist() for n, v in moved.items()}
            assert_same(case, text, values)
    assert cured >= 0.97 * sum(case["fixable"] for case in CASES)
    assert not extra


def assert_same(case, text, values):
    """The rewriting has value and gradient of the original, where these are not lost in rounding
    (exp underflows beside 1e-3 at random values).
    """
    out, grads = torch_gradients(case["expr"], values, case["grad"], case["wrt"])
    given = [out, *(np.zeros(()) if g is None else g for g in grads)]
    if not all(np.all(np.isfinite(a)) for a in given) or "0.001" in case["expr"]:
        return
    other, others = torch_gradients(text, values, case["grad"], case["wrt"])
    for a, b in zip(given, [other, *(np.zeros(()) if g is None else g for g in others)]):
        np.testing.assert_allclose(b, a, rtol=CLOSE, atol=CLOSE, err_msg=text)


def test_what_is_cut_off_needs_no_values():
    (element,) = answer("x.detach() * y")["elements"]
    assert (element["name"], element["kind"], element["operation"]) == ("x", "none", "detach")
    with pytest.raises(GradcliError, match="without a value"):
        answer("x * y")
