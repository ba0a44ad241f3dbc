"""Index notation against NumPy, for every example in the table; and lines as people write them."""

import itertools
import re
from collections import Counter

import numpy as np
import pytest
from console import gradcli as run
from support import Case, Checks, case, examples, explained, one_hot_jacobian, one_in, swept
from test_calls import calls_and_variations

import gradcli
from gradcli.errors import GradcliError
from gradcli.explanation.analysis import Analysis
from gradcli.explanation.data import Data
from gradcli.explanation.formulas import by_index
from gradcli.explanation.formulas.formula_writer import FormulaWriter
from gradcli.graphs import OPS, walk
from gradcli.language.posing import pose
from gradcli.notation import tree
from gradcli.notation.indices import places
from gradcli.notation.indices.collect import Simplifier
from gradcli.notation.indices.element import place_to_show, short, written_out
from gradcli.notation.indices.expressions import (
    Element,
    Evaluation,
    Function,
    Number,
    Product,
    Relation,
    Sum,
    Unknown,
)  # fmt: skip
from gradcli.notation.indices.index import Indices
from gradcli.notation.indices.lower import Lowering

EXAMPLES = examples()
checks = Checks()

# Families whose elements are all short expressions of elements; operators of the others may stay
# opaque, f(x)[i,j].
FULLY = {
    "activations", "arithmetic", "attention", "classification", "comparisons", "contractions",
    "convolution", "diagonals", "embeddings", "floats", "gamma", "indexing", "joining", "leaves",
    "losses", "matrix", "networks", "normalisation", "ordering", "padding", "pairs", "pointwise",
    "products", "regression", "resampling", "rounding", "shaping", "special", "splitting",
    "windows",
}  # fmt: skip


def numbers_of(e, at, shape, value) -> np.ndarray:
    out = np.zeros(shape)
    for place in np.ndindex(*shape):
        env = {k: v for k, v in zip(at, place) if isinstance(k, str)}
        with np.errstate(all="ignore"):
            out[place] = Evaluation(value)(e, env)
    return out


def lowered(node, names, values=None):
    lower = Lowering({n: name.text for n, name in names.items()}, values)
    at = tuple(0 if n == 1 else lower.fresh(n) for n in node.shape)
    return lower, lower(node, at), at


@pytest.mark.parametrize("example", swept(8))
def test_example(example):
    checks.run(case(example))


@checks
def every_element_is_numpys(c):
    for node, names in [(c.p.out, c.inputs), *((g, c.names) for g in c.grads.values())]:
        names = {n: name for n, name in names.items() if n is not node or n.op.name == "input"}
        for values in (None, c.value):
            lower, e, at = lowered(node, names, values)
            for shown in (e, Simplifier(lower.sizes)(e), Simplifier(lower.sizes, False)(e)):
                found = numbers_of(shown, at, node.shape, c.value)
                np.testing.assert_allclose(found, c.value(node), rtol=1e-9, atol=1e-11)


SMALL = [e for e in calls_and_variations() if sum(v.size for v in e.values.values()) <= 24]


@pytest.mark.parametrize("example", one_in(64, SMALL, sweep=4))
def test_calls(example):
    try:
        c = case(example)
        c.value(c.p.out)
    except GradcliError:
        return  # there is no such call
    every_element_is_numpys(c)


def test_only_a_constant_is_the_same_number_everywhere():
    """`value=2` of addcmul is not the value of its elements."""
    given = [("x", [1.0, 2.0, 3.0]), ("m", [True, False, True])]
    given += [(name, [1.0, 5.0]) for name in "abc"]
    values = [word for name, value in given for word in ("-v", f"{name}={value}")]
    out = run("explain", "(x[m] * addcmul(a, b, c, value=2)).sum()", *values, "-w", "x").out
    assert "x.grad[i] = Σ_j δ[i,p[j]] addcmul(a[j], b[j], c[j], value=2)" in out


def test_what_lowers_fully_and_is_the_output():
    opaque = Counter()
    for example in EXAMPLES:
        c = case(example)
        for node, names in [(c.p.out, c.inputs), *((g, c.names) for g in c.grads.values())]:
            lower, e, at = lowered(node, names)
            opaque.update(n.op.name for n in lower.opaque)
            if lower.opaque:
                opaque[example.op.name] += 1
            if node is c.p.out and node not in names:
                found = numbers_of(e, at, node.shape, c.value)
                np.testing.assert_allclose(found, c.value(node), rtol=1e-9, atol=1e-11)
    told = {example.op.name for example in EXAMPLES}
    assert [name for name in opaque if OPS[name].module in FULLY] == []
    assert len(told - set(opaque)) >= 259


@checks
def jacobian_is_that_of_one_hot_seeds(c):
    letters = Indices(c.p.out, c.seed, c.names)
    for x, grad in c.grads.items():
        found = letters.jacobian_expression(grad)
        if found is None:
            assert opaque_in_seed(c, grad)
            continue
        e, at, _ = found
        shape = (*c.p.out.shape, *x.shape)
        got = numbers_of(e, (*letters.out_places, *at), shape, c.value)
        np.testing.assert_allclose(got, one_hot_jacobian(c, grad, shape), rtol=1e-9, atol=1e-11)


def opaque_in_seed(c, grad) -> bool:
    lower, *_ = lowered(grad, c.names)
    return any(c.seed in walk([n]) for n in lower.opaque)


@checks
def written_out_elements_are_the_gradient(c):
    for grad in c.grads.values():
        for place in itertools.islice(np.ndindex(*grad.shape), 4):
            written = written_out(grad, place, c.names, c.value)
            expected = c.value(grad)[place]
            np.testing.assert_allclose(written.total, expected, rtol=1e-9, atol=1e-11)
        assert place_to_show(grad, c.names, c.value) in list(np.ndindex(*grad.shape))


@checks
def no_letter_is_one_of_the_program(c):
    """Letters that a lowering makes up, as _1, are never shown."""
    written = FormulaWriter(Analysis(c.p)).indices
    lines = [written.output()]
    for x, grad in c.grads.items():
        lines += [written.gradient(x, grad), written.jacobian(x, grad)]
    for line in filter(None, lines):
        assert not re.search(r"(?<!\w)_\d|Σ__", f"{line} {line.plain}"), str(line)


# ---- as people write it --------------------------------------------------------------------------

LINES = [
    ("a * a", "a=2x3", "out[i,j] = a[i,j] ** 2", "a", "a.grad[i,j] = 2 g[i,j] a[i,j]",
     "2*g[i,j]*a[i,j]", "2 δ[i,k] δ[j,l] a[i,j]"),
    ("x @ a", "x=2x3,a=3x4", "out[i,j] = Σ_k x[i,k] a[k,j]", "x", "x.grad[i,k] = Σ_j g[i,j] a[k,j]",
     "Σ_j g[i,j]*a[k,j]", "δ[i,k] a[l,j]"),
    ("x @ a", "x=2x3,a=3x4", "out[i,j] = Σ_k x[i,k] a[k,j]", "a", "a.grad[k,j] = Σ_i x[i,k] g[i,j]",
     "Σ_i x[i,k]*g[i,j]", "δ[j,l] x[i,k]"),
    ("softmax(x, dim=0)", "x=3", "out[i] = exp(x[i]) / (Σ_j exp(x[j]))", "x",
     "x.grad[i] = out[i] (g[i] - Σ_j g[j] out[j])", "out[i]*(g[i] - Σ_j g[j]*out[j])",
     "out[j] (δ[i,j] - out[i])"),
    ("softmax(x, dim=-1)", "x=2x3", None, "x",
     "x.grad[i,j] = out[i,j] (g[i,j] - Σ_k g[i,k] out[i,k])", None,
     "δ[i,k] out[i,l] (δ[j,l] - out[i,j])"),
    ("x.sum(0)", "x=2x3", "out[i] = Σ_j x[j,i]", "x", "x.grad[i,j] = g[j]", "g[j]", "δ[i,k]"),
    ("x.T", "x=2x3", "out[i,j] = x[j,i]", "x", "x.grad[i,j] = g[j,i]", "g[j,i]", "δ[i,l] δ[j,k]"),
    ("x.mean(1)", "x=2x3", "out[i] = (Σ_j x[i,j]) / x.shape[1]", "x",
     "x.grad[i,j] = g[i] / x.shape[1]", "g[i]/x.shape[1]", "δ[i,j] / x.shape[1]"),
    ("A @ x", "A=2x3,x=3", "out[i] = Σ_j A[i,j] x[j]", "A", "A.grad[i,j] = g[i] x[j]", "g[i]*x[j]",
     "δ[i,j] x[k]"),
    ("A @ x", "A=2x3,x=3", "out[i] = Σ_j A[i,j] x[j]", "x", "x.grad[j] = Σ_i A[i,j] g[i]",
     "Σ_i A[i,j]*g[i]", "A[i,j]"),
    ("relu(x)", "x=3", "out[i] = relu(x[i])", "x", "x.grad[i] = [out[i] > 0] g[i]",
     "(out[i] > 0)*g[i]", "[out[i] > 0] δ[i,j]"),
    ("x[1:]", "x=4", "out[i] = x[i+1]", "x", "x.grad[i] = [i ≥ 1] g[i-1]", "(i >= 1)*g[i-1]",
     "δ[i,j-1]"),
    ("x.cumprod(0)", "x=4", "out[i] = x.cumprod(dim=0)[i]", "x",
     "x.grad[i] = (Σ_j [i ≤ j] g[j] out[j]) / x[i]", "(Σ_j (i <= j)*g[j]*out[j])/x[i]",
     "[j ≤ i] out[i] / x[j]"),
    ("x.logcumsumexp(0)", "x=4", "out[i] = log(Σ_j [j ≤ i] exp(x[j]))", "x",
     "x.grad[j] = Σ_i [j ≤ i] exp(x[j] - out[i]) g[i]", "Σ_i (j <= i)*exp(x[j] - out[i])*g[i]",
     "[j ≤ i] exp(x[j] - out[i])"),
    ("index_fill(x, 0, tensor([1]), 2.5)", "x=3", "out[i] = 2.5 δ[i,1] + [i ≠ 1] x[i]", "x",
     "x.grad[i] = [i ≠ 1] g[i]", "(i != 1)*g[i]", "[i ≠ 1] δ[i,j]"),
    ("x[::2]", "x=4", "out[i] = x[2i]", "x", "x.grad[i] = Σ_j δ[i,2j] g[j]", "Σ_j δ[i,2*j]*g[j]",
     "δ[j,2i]"),
    ("trace(x)", "x=3x3", "out = Σ_i x[i,i]", "x", "x.grad[i,j] = δ[i,j] g", "δ[i,j]*g", "δ[i,j]"),
    ("outer(a, b)", "a=2,b=3", "out[i,j] = a[i] b[j]", "b", "b.grad[j] = Σ_i g[i,j] a[i]",
     "Σ_i g[i,j]*a[i]", "δ[j,k] a[i]"),
    ("einsum('ij,jk->ik', a, b)", "a=2x3,b=3x4", "out[i,j] = Σ_k a[i,k] b[k,j]", "a",
     "a.grad[i,k] = Σ_j g[i,j] b[k,j]", "Σ_j g[i,j]*b[k,j]", "δ[i,k] b[l,j]"),
    ("mse_loss(a, b)", "a=2x3,b=2x3", "out = (Σ_ij (a[i,j] - b[i,j]) ** 2) / a.numel()", "a",
     "a.grad[i,j] = 2 g (a[i,j] - b[i,j]) / a.numel()", "2*g*(a[i,j] - b[i,j])/a.numel()",
     "2 (a[i,j] - b[i,j]) / a.numel()"),
    ("x.cumsum(0)", "x=4", "out[i] = Σ_j [j ≤ i] x[j]", "x", "x.grad[j] = Σ_i [j ≤ i] g[i]",
     "Σ_i (j <= i)*g[i]", "[j ≤ i]"),
    ("x.flatten()", "x=2x3", "out[i] = x[i//3,i%3]", "x", "x.grad[i,j] = g[3i+j]", "g[3*i+j]",
     "δ[i,3j+k]"),
    ("cat([a, b])", "a=2,b=3", "out[i] = [i < 2] a[i] + [i ≥ 2] b[i-2]", "b", "b.grad[i] = g[i+2]",
     "g[i+2]", "δ[i,j+2]"),
    ("inv(x)", "x=2x2", "out[i,j] = inv(x)[i,j]", "x",
     "x.grad[i,j] = -(Σ_kl out[l,i] g[l,k] out[j,k])", None, "-out[i,k] out[l,j]"),
    ("solve(A.T, b)", "A=3x3,b=3", "out[i] = Σ_j inv(A)[j,i] b[j]", "b",
     "b.grad[j] = Σ_i inv(A)[j,i] g[i]", None, "inv(A)[j,i]"),
    ("x[[0, 0, 2]]", "x=3", "out[i] = x[[0, 0, 2][i]]", "x",
     "x.grad[i] = Σ_j δ[i,[0, 0, 2][j]] g[j]", None, "δ[j,[0, 0, 2][i]]"),
    ("masked_scatter(x, m > 0, v)", "x=4,m=4,v=4", None, "v",
     "v.grad[i] = Σ_j δ[i,Σ_k [k ≤ j] [m[k] > 0] - 1] [m[j] > 0] g[j]", None,
     "δ[j,Σ_k [k ≤ i] [m[k] > 0] - 1] [m[i] > 0]"),
    ("conv2d(x, w)", "x=1x4x4,w=1x1x2x2", "out[0,i,j] = Σ_kl x[0,i+k,j+l] w[0,0,k,l]", "w",
     "w.grad[0,0,k,l] = Σ_ij g[0,i,j] x[0,i+k,j+l]", None, "x[0,i+k,j+l]"),
]  # fmt: skip


def posed(text, shapes, **more):
    from gradcli.language.arguments.option_texts import read_shapes

    return Case(pose(text, shapes=read_shapes([shapes]) if shapes else None, **more), False)


@pytest.mark.parametrize(
    ("text", "shapes", "forward", "name", "line", "plain", "jacobian"), LINES, ids=lambda v: str(v)
)
def test_lines(text, shapes, forward, name, line, plain, jacobian):
    c = posed(text, shapes)
    x, grad = c.of(name)
    known = FormulaWriter(Analysis(c.p)).indices.known
    if forward is not None:
        assert str(Indices(c.p.out, None, c.names, known=known).output()) == forward
    indices = Indices(c.p.out, c.seed, c.names, known=known)
    found = indices.gradient(x, grad)
    assert str(found) == line
    assert plain is None or found.plain == plain
    assert tree.text(indices.jacobian(x, grad).right) == jacobian


NORMS = [
    ("layer_norm(x, (3,))", (3, 3), "x[i,l] - (Σ_m x[i,m]) / x.shape[1]"),
    ("batch_norm(x, None, None, training=True)", (3, 3), "x[l,j] - (Σ_m x[m,j]) / x.shape[0]"),
    ("instance_norm(x)", (3, 3, 3), "x[i,j,m] - (Σ_n x[i,j,n]) / x.shape[2]"),
    ("group_norm(x, 2)", (2, 4), "x[i,2·(j//2)+k] - (Σ_l x[i,2·(j//2)+l]) / 2"),
    (
        "group_norm(x, 2)",
        (2, 6, 5),
        "x[i,3·(j//3)+l//5,l%5] - (Σ_m x[i,3·(j//3)+m//5,m%5]) / 15",
    ),
]


@pytest.mark.parametrize(("text", "shape", "centred"), NORMS, ids=str)
def test_normalisations_say_each_size_in_one_way(text, shape, centred):
    p = pose(text, shapes={"x": shape})
    line = str(by_index.gradient(FormulaWriter(Analysis(p)), p.inputs["x"]))
    assert line.startswith(f"x.grad[{','.join('ijk'[: len(shape)])}] = ")
    assert "sqrt((Σ_" in line
    assert centred in line
    number, named = (bool(re.search(over, line)) for over in (r"/ \(?\d", r"/ \(?[a-z ]*x.shape"))
    assert number is not named


def test_a_count_is_no_size_of_something_else():
    """The mean over x[:2] divides by 2, whatever has as many elements at these sizes."""
    p = pose("x[:2].mean() * y.sum()", shapes={"x": (5,), "y": (2,)})
    found = by_index.gradient(FormulaWriter(Analysis(p)), p.inputs["y"])
    assert str(found) == "y.grad[j] = (Σ_i x[i]) / 2"


def test_a_square_of_differences_has_no_sign():
    p = pose("tanh(cdist(x, x)).sum()", shapes={"x": (4, 3)})
    found = str(by_index.gradient(FormulaWriter(Analysis(p)), p.inputs["x"]))
    assert found.startswith("x.grad[i,k] = 2 (x[i,k] (Σ_j (1 - tanh(sqrt(Σ_l (x[i,l] - x[j,l])")
    assert "-(" not in found


def test_names_are_not_letters():
    c = posed("i @ j", "i=2x3,j=3x4")
    x, grad = c.of("i")
    line = str(Indices(c.p.out, c.seed, c.names).gradient(x, grad))
    assert line == "i.grad[k,m] = Σ_l g[k,l] j[m,l]"


def test_labels_pick():
    c = Case(pose("cross_entropy(x, y)", values={"x": "[[1., 2, 3], [0, 1, 0]]", "y": "[0, 2]"}))
    x, grad = c.of("x")
    found = Indices(c.p.out, c.seed, c.names, c.value).gradient(x, grad)
    assert "δ[j,y[i]]" in str(found)


def test_tokens_carry_roles():
    c = posed("x @ a", "x=2x3,a=3x4")
    x, grad = c.of("x")
    found = Indices(c.p.out, c.seed, c.names).gradient(x, grad)
    assert {t.role for side in (found.left, found.right) for t in tree.tokens(side)} >= {
        "seed",
        "input:x",
        "input:a",
    }


@pytest.mark.parametrize("count", [90, 400])
def test_what_nobody_would_read_is_refused(count):
    chain = "; ".join(["h = tanh(x)", *["h = tanh(h)"] * count])
    doubling = "; ".join(["h = x", *["h = h * h + h"] * count])
    for text in (chain, doubling):
        p = pose(text, shapes={"x": (2,)})
        c = Case(p, False)
        names = {n: k for n, k in c.names.items() if n.op.name == "input" or n is p.out}
        x, grad = c.of("x")
        assert Indices(p.out, None, names).output() is None
        assert Indices(p.out, c.seed, names).gradient(x, grad) is None
        assert Indices(p.out, c.seed, names).jacobian(x, grad) is None
        assert written_out(grad, (0,), names, c.value).symbols is None


# ---- one element ---------------------------------------------------------------------------------

ELEMENTS = [
    (
        "a * a",
        {"a": "[[1,2,3],[4,5,6]]"},
        "a",
        "a",
        "[0,1]",
        "g[0,1]·a[0,1] + g[0,1]·a[0,1] = 2·2 + 2·2 = 8",
    ),
    (
        "x @ a",
        {},
        "[[1,2,3,4],[5,6,7,8]]",
        "x",
        "[0,0]",
        "1·a[0,0] + 2·a[0,1] + 3·a[0,2] + 4·a[0,3]",
    ),
    (
        "x @ a",
        {"x": "ones(2,3)", "a": "ones(3,4)"},
        "[[1,2,3,4],[5,6,7,8]]",
        "x",
        "[0,0]",
        "1·1 + 2·1 + 3·1 + 4·1 = 10",
    ),
    ("exp(x)", {"x": "[2., 3]"}, "[2,3]", "x", "[0]", "g[0]·out[0] = 2·7.3891 = 14.778"),
    ("x - y", {"x": "[1., 2]", "y": "[1., 2]"}, "[3,4]", "y", "[0]", "-g[0] = -3"),
    ("x.mean()", {"x": "[1., 2, 3]"}, None, "x", "[0]", "g / 3 = 1 / 3 = 0.33333"),
    (  # the minus is that of the whole product, not of the first term in its brackets
        "-((a + b) * c)",
        {"a": "[2.]", "b": "[3.]", "c": "[5.]"},
        "[7]",
        "c",
        "[0]",
        "-g[0]·(a[0] + b[0]) = -7·5 = -35",
    ),
    ("a * b", {"a": "[1., 2]", "b": "[-3., -2]"}, "[2,3]", "a", "[0]", "g[0]·b[0] = 2·(-3) = -6"),
    (  # of many terms none that is 0
        "(relu(a) @ W).sum()",
        {"a": "[[-1.],[2],[-1],[3],[-2]]", "W": "[[5.]]"},
        None,
        "W",
        "[0,0]",
        "g·relu(a[1,0]) + g·relu(a[3,0]) = 1·2 + 1·3 = 5",
    ),
]


@pytest.mark.parametrize(("text", "values", "seed", "name", "place", "line"), ELEMENTS)
def test_elements(text, values, seed, name, place, line):
    c = Case(pose(text, values=values, grad=seed), random_seed=False)
    _, grad = c.of(name)
    where = place_to_show(grad, c.names, c.value)
    written = written_out(grad, where, c.names, c.value)
    parts = [tree.text(t) for t in (written.symbols, written.numbers) if t is not None]
    parts += [] if written.total is None else [short(written.total)]
    assert f"[{','.join(map(str, where))}]" == place
    assert " = ".join(parts) == line


def test_elements_of_the_inverse_of_a_singular_matrix_are_unknown():
    c = Case(pose("linalg.qr(x).R", values={"x": "zeros(2,3)"}, grad="ones(2,3)"))
    _, grad = c.of("x")
    assert place_to_show(grad, c.names, c.value) == (0, 0)
    total = written_out(grad, (0, 0), c.names, c.value).total
    assert total is not None
    assert np.isnan(total)  # as PyTorch's gradient is there


def test_places_that_a_mask_picks_are_numbers():
    options = ("-s", "x=3x2", "-s", "y=2", "-v", "m=[True,False,True]", "-w", "y")
    shown = run("explain", "x[m].T @ y", *options, "--element", "y[1]").out
    assert "y.grad[1] = x[2,0]·g[0] + x[2,1]·g[1]" in shown


def test_many_terms_are_elided():
    values = {"x": "ones(2,20)", "a": "arange(400).reshape(20,20)/2"}
    c = Case(pose("(x @ a).sum()", values=values))
    _, grad = c.of("x")
    text = tree.text(written_out(grad, (0, 0), c.names, c.value).numbers)
    assert "… (20 terms)" in text
    assert text.count("·") == 4


def test_long_sums_keep_their_total():
    values = {"x": "ones(2,3)", "a": "ones(3,9000)"}
    c = Case(pose("x @ a", values=values, grad="ones(2,9000)"), random_seed=False)
    _, grad = c.of("x")
    assert written_out(grad, (0, 0), c.names, c.value) == (None, None, 9000.0)


def test_an_element_whose_symbols_are_too_long_keeps_its_total():
    values = {"x": "cos(arange(24.)).reshape(4,6)", "W": "sin(arange(48.)).reshape(6,8)"}
    values |= {"b": "ones(8)", "V": "cos(arange(24.)).reshape(8,3)"}
    text, seed = "layer_norm(x @ W + b, [8]) @ V", "ones(4,3)"
    c = Case(pose(text, values=values, grad=seed), random_seed=False)
    symbols, numbers, total = written_out(c.of("W")[1], (0, 0), c.names, c.value)
    assert (symbols, numbers) == (None, None)
    assert total == pytest.approx(5.318393396233538)  # PyTorch


def test_a_term_below_zero_has_one_sign():
    """The variance of [0.4, -0.8, 1] by its second: 2 / 2 of -0.8, less its part of the mean."""
    options = ("-v", "x=[0.4,-0.8,1]", "--show", "gradient,backward", "--element", "x[1]")
    for program in ("x.var()", "(x * tanh(x)).sum()", "((x - x.mean()) ** 2).mean()"):
        shown = run("explain", program, *options).out
        assert "- -" not in shown
        assert "+ -" not in shown
    shown = run("explain", "x.var()", *options).out
    assert "x.grad[1] = -0.8 - 0.4 / 3 + 0.8 / 3 - 1 / 3 = -1" in shown


def test_what_is_sent_twice_has_one_sign():
    """d(x exp(-x))/dx = exp(-x) - x exp(-x); exp(-1) = 0.36788, and the two are its negatives."""
    shown = run("explain", "x * exp(-x)", "-v", "x=1.5", "--show", "backward").out
    assert "the two add up (0.22313 - 0.3347)" in shown


def test_short_numbers():
    shown = [short(v) for v in (2.0, -0.0, 0.5, 7.38905609893065, 1e-5, 1234.5, float("nan"))]
    assert shown == ["2", "0", "0.5", "7.3891", "1e-05", "1234.5", "nan"]


# ---- counts --------------------------------------------------------------------------------------

COUNTS = [  # program, shapes, an input, its gradient: by hand
    ("(x @ W).mean()", {"x": (3, 4), "W": (4, 2)}, "W", "(Σ_i x[i,k])/(x.shape[0]*W.shape[1])"),
    ("(x @ W).mean(1)", {"x": (3, 4), "W": (4, 2)}, "x", "g[i]*(Σ_j W[k,j])/W.shape[1]"),
    ("kl_div(x, y, reduction='batchmean')", {"x": (3, 4), "y": (3, 4)}, "x", "-y[i,j]/x.shape[0]"),
    ("(x[:3] @ W).mean()", {"x": (5, 2), "W": (2, 3)}, "W", "(Σ_i x[i,k])/(3*W.shape[1])"),
    ("(x @ W).mean()", {"x": (3, 4), "W": (4, 3)}, "W", "(Σ_i x[i,k])/(x.shape[0]*W.shape[1])"),
    ("(X @ w).mean()", {"X": (3, 3), "w": (3,)}, "w", "(Σ_i X[i,j])/X.shape[0]"),
    (
        "((X @ W - Y) ** 2).mean()",
        {"X": (4, 4), "W": (4, 4), "Y": (4, 4)},
        "Y",
        "2*(Y[i,j] - Σ_k X[i,k]*W[k,j])/Y.numel()",
    ),
    ("logdet(X) / X.shape[0]", {"X": (2, 2)}, "X", "inv(X)[j,i]/X.shape[0]"),
    (
        "logdet(eye(X.shape[1]) + X.T @ X)",
        {"X": (2, 3)},
        "X",
        "2*(Σ_k X[i,k]*inv(eye(X.shape[1]) + X.T @ X)[k,j])",
    ),
    ("x / sqrt(x.shape[0])", {"x": (2,)}, "x", "g[i]/sqrt(x.numel())"),
    ("(x[arange(x.shape[0])] * y).sum()", {"x": (3,), "y": (3,)}, "x", "y[i]"),
    ("x[[2, 0]] * y", {"x": (3,), "y": (2,)}, "y", "g[i]*x[[2, 0][i]]"),
    ("x[[2, 1]] * y", {"x": (3,), "y": (2,)}, "y", "g[i]*x[[2, 1][i]]"),
    ("x[arange(2, 0, -1)] * y", {"x": (3,), "y": (2,)}, "y", "g[i]*x[2-i]"),
]


@pytest.mark.parametrize(("program", "shapes", "name", "expected"), COUNTS)
def test_counts_are_read_off_names(program, shapes, name, expected):
    """Those that two dimensions have by accident too; what the program has as numbers stays."""
    found = gradcli.explain(program, shapes=shapes, wrt=[name]).grad[name]["index"]
    assert found == expected


def test_all_lines_by_index_hold_for_any_shape():
    """The output's and the Jacobian's too, and where there are values."""
    x = {"x": np.array([1.0, 2, 4, 7, 8])}
    by_index = "2*(x[i] - (Σ_j x[j])/x.numel())/(x.numel() - 1)"
    assert gradcli.explain("x.var()", values=x).grad["x"]["index"] == by_index
    shapes = {"X": (3, 4), "W": (4, 4), "Y": (3, 4)}
    found = gradcli.explain("mse_loss(X @ W, Y)", shapes=shapes, wrt="Y")
    assert found.output["index"] == "(Σ_ij (Σ_k X[i,k]*W[k,j] - Y[i,j])**2)/Y.numel()"
    assert found.jacobian["Y"]["index"].endswith("/Y.numel()")
    found = gradcli.explain("cross_entropy(x, t)", shapes={"x": (2, 3)}, values={"t": [0, 2]})
    assert found.jacobian["x"]["index"].endswith("/t.numel()")


SHORTER = [  # program, shapes, input; its gradient and its Jacobian: by hand
    ("norm(A @ x - b) ** 2", {"A": (2, 3), "x": (3,), "b": (2,)}, "x", [
        "2*(Σ_i A[i,j]*(Σ_k A[i,k]*x[k] - b[i]))",
        "2*(Σ_j A[j,i]*(Σ_k A[j,k]*x[k] - b[j]))",
    ]),
    ("log(det(X) ** 2)", {"X": (2, 2)}, "X", ["2*inv(X)[j,i]"] * 2),
    ("(x ** 3 / x).sum()", {"x": (3,)}, "x", ["2*x[i]"] * 2),
]  # fmt: skip


@pytest.mark.parametrize(("program", "shapes", "x", "expected"), SHORTER, ids=str)
def test_what_is_above_and_below_a_line_goes(program, shapes, x, expected):
    found = gradcli.explain(program, shapes=shapes, wrt=[x])
    assert [found.grad[x]["index"], found.jacobian[x]["index"]] == expected


def test_numbers_are_not_cancelled():
    """1 / 0 - 0 / 0 is nan, as in PyTorch, whatever the line by index says."""
    found = gradcli.explain("x * (1 / x)", values={"x": [0.0]}, grad="ones_like(out)")
    assert np.isnan(found.jacobian["x"]["matrix"]).all()
    assert found.jacobian["x"]["index"] == "0"


def test_index_notation_of_a_second_derivative():
    """d²(x log x)/dx² = 1/x."""
    found = run("hessian", "(x * log(x)).sum()", "-s", "x=3", "-f", "json").json
    assert found["hessian"]["x"]["index"] == "δ[i,j]/x[i]"


def test_labels_are_counted_by_name():
    found = gradcli.explain("cross_entropy(x, t)", shapes={"x": (2, 3)}, values={"t": [0, 2]})
    softmax = "exp(x[i,j])/(Σ_k exp(x[i,k]))"
    assert found.grad["x"]["index"] == f"({softmax} - δ[t[i],j])/t.numel()"


# ---- written over --------------------------------------------------------------------------------

OVER = [  # program, shapes, labels, an input, its gradient: by hand
    ("x.scatter(0, t, y)", {"x": (4,), "y": (2,)}, [0, 2], "x", "(Σ_j δ[i,t[j]] <= 0)*g[i]"),
    ("x.scatter(0, t, y)", {"x": (4,), "y": (2,)}, [0, 2], "y", "g[t[j]]"),
    ("x.scatter(1, t, y)", {"x": (2, 3), "y": (2, 1)}, [[0], [2]], "x", "(j != t[i,0])*g[i,j]"),
    ("x.scatter(0, t, y)", {"x": (4,), "y": ()}, 1, "y", "g[t]"),  # t[] has no place
    ("x.put(t, y)", {"x": (2, 3), "y": (2,)}, [0, 4], "x", "(Σ_k δ[3*i+j,t[k]] <= 0)*g[i,j]"),
]


@pytest.mark.parametrize(("program", "shapes", "t", "name", "expected"), OVER)
def test_what_is_written_over(program, shapes, t, name, expected):
    found = gradcli.explain(program, shapes=shapes, values={"t": t}, wrt=[name])
    assert found.grad[name]["index"] == expected


@pytest.mark.parametrize(("y", "added"), [((), "y"), ((1,), "y[0]"), ((2,), "y[0]")])
@pytest.mark.parametrize("program", ["scatter_add(0, t, y)", "scatter_reduce(0, t, y, 'sum')"])
def test_a_scalar_index_adds_to_one_place(program, y, added):
    found = gradcli.explain(f"x.{program}", shapes={"x": (3,), "y": y}, values={"t": 1})
    assert found.output["elements"] == ["x[0]", f"x[1] + {added}", "x[2]"]


def test_of_two_that_are_written_to_one_place_the_last_is_seen():
    found = gradcli.explain("x.put(t, y)", shapes={"x": (4,), "y": (2,)}, values={"t": [1, 1]})
    assert "Σ" not in found.grad["x"]["index"]


def test_a_jacobian_without_index_notation_says_why():
    text = gradcli.explain("matrix_exp(X)", shapes={"X": (2, 2)}).to(full=True)
    said = " ".join(text.split())
    assert "By index it has no formula: g goes into matrix_exp, which has none." in said


def nested(x, y):
    """The sum over i of x[i] times the sum over j of exp(x[j] y[i]), and then of 2."""
    inner = Function(OPS["exp"], (Product((Element(x, ("j",)), Element(y, ("i",)))),))
    of_inner = Product((Element(x, ("i",)), Sum("j", 20, inner), Sum("k", 3, Number(2))))
    return Sum("i", 20, of_inner)


def test_terms_of_a_long_sum_are_computed_at_once():
    x, y = (OPS["input"](name=name, shape=(20,)) for name in "xy")
    values = {x: np.linspace(-1, 1, 20), y: np.linspace(0.5, 2, 20) ** 2}
    found = Evaluation(values.get, budget=20 + 2 * 400)(nested(x, y), {})
    expected = 6 * values[x] @ np.exp(np.outer(values[y], values[x])).sum(axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_a_sum_of_too_many_elements_is_unknown():
    x, y = (OPS["input"](name=name, shape=(20,)) for name in "xy")
    values = {x: np.ones(20), y: np.ones(20)}
    with pytest.raises(Unknown):
        Evaluation(values.get, budget=20 + 2 * 400 - 1)(nested(x, y), {})


def test_conditions_keep_terms_of_a_long_sum_apart():
    x = OPS["input"](name="x", shape=(20,))
    body = Product((Relation("<=", "i", 2), Element(x, ("i",))))
    values = {x: np.array([1.0, 2, 3] + [np.nan] * 17)}
    assert Evaluation(values.get)(Sum("i", 20, body), {}) == 6


def test_a_whole_part_of_a_place_is_a_number():
    # (160 + j) // 8 % 4, where j goes from 0 to 7, is 20 % 4
    assert places.part(places.Linear((("j", 1),), 160), 8, 4, {"j": 8}) == 0


WITHOUT_WORDS = {"ctc_slopes", "grid_sampled"}  # docs/formulas.md says so
INTERNAL = {name for name in OPS if OPS[name].torch is None and not OPS[name].spelling}
OF_FUNCTIONS = [p for p in swept(12, others=16, firsts=6) if p.values[0].op.name not in INTERNAL]


@pytest.mark.parametrize("example", OF_FUNCTIONS)
def test_no_line_has_a_name_that_nobody_knows(example):
    data = Data(explained(example))
    for x in data.p.wrt:
        grad = None if data.a.gradient(x) is None else data.grad(x)
        for line in () if grad is None else (grad["index"], *np.ravel(grad["elements"])):
            called = set(re.findall(r"[A-Za-z_]\w*(?=\()", str(line)))
            assert called & INTERNAL <= WITHOUT_WORDS, line


def test_what_is_opaque_does_not_depend_on_the_order():
    x = OPS["input"](name="x", shape=(2, 3))
    index = OPS["argmax"](x, dim=1, keepdim=True)
    largest = OPS["max_values"](x, dim=1, keepdim=False)  # x.gather(1, index), without dimension 1
    for nodes in ((index, largest), (largest, index)):
        lower = Lowering({x: "x"})
        i = lower.fresh(2)
        assert {n: lower(n, (i, 0)[: n.ndim]) for n in nodes}[largest] == Element(largest, (i,))


def test_a_mask_that_is_an_index_is_its_condition():
    draw = np.random.default_rng(0)
    a = Analysis(pose("x[x>0].sum()", values={"x": draw.normal(size=(5, 6))}))
    (x,) = a.problem.wrt
    assert Data(a).grad(x)["index"] == "x[i,j] > 0"


EMPTY = [
    ("x[1:0].sum()", "0"),
    ("x[:, 2:1].sum()", "0"),
    ("x[[]].sum()", "0"),
    ("x[1:0].T @ x[1:0]", "0"),
    ("cat([x[1:0], x])", "g[i,j]"),
    ("x[1:0].mean() * 0 + x", "g[i,j]"),
]


@pytest.mark.parametrize(("text", "element"), EMPTY)
def test_what_picks_nothing_sends_nothing(text, element):
    """As PyTorch's gradient, which is 0 but for what other terms send."""
    found = gradcli.explain(text, shapes={"x": (3, 3)})
    assert found.grad["x"]["index"] == element
