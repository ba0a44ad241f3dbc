"""Programs that `gradcli code` writes: run as they stand, for as many operators as there are words
for in each target.
"""

import ast
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
from console import gradcli as command
from support import Example, examples, first_examples, one_row_in, swept

import gradcli
from gradcli.errors import GradcliError
from gradcli.explanation.analysis import Analysis
from gradcli.explanation.programs import TARGETS, program
from gradcli.explanation.programs.line_breaks import broken
from gradcli.notation.code.array_code import EQUIVALENTS

EXAMPLES = examples()
FIRST = first_examples()
LARGE = np.ones((9, 9))
# Those whose words are not only those of others.
OWN = [e for e in FIRST if e.op.numpy or e.op.jax or e.op.name in EQUIVALENTS]
# Operators that NumPy and JAX have no words for.
UNSAID = {
    "adaptive_max_pool1d_indices", "adaptive_max_pool2d_indices", "adaptive_max_pool3d_indices",
    "as_strided_scatter", "ctc_losses", "cummax_indices", "cummin_indices", "diag_embed",
    "diagonal_scatter", "factor_so_far", "failed_minor", "matrix_rank", "max_pool1d_indices",
    "max_pool2d_indices", "max_pool3d_indices", "mode_indices", "nanmedian_indices", "put",
    "row_exchanges", "scatter", "scatter_reduce", "zero_pivot",
}  # fmt: skip
UNSAID_IN_JAX = UNSAID | {
    *("lu_p", "lu_l", "lu_u", "svd_left_all", "svd_right_all", "nextafter"),
    *("airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1"),
    *("modified_bessel_k0", "modified_bessel_k1"),
    *("scaled_modified_bessel_k0", "scaled_modified_bessel_k1"),
}


def run(text: str) -> dict:
    """What a program leaves behind."""
    scope = {"__name__": "__main__"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(text, "<program>", "exec"), scope)
    return scope


def attempt(example: Example, target: str) -> str:
    """Run the program of an example; the operator that its target has no words for, or nothing."""
    try:
        text = program(Analysis(example.problem), target)
    except GradcliError as error:
        return refused(error)
    run(text)
    return ""


def refused(error: GradcliError) -> str:
    """The operator that a refusal names."""
    found = re.search(r"has no function for (\w+)|do not notice (\w+)\(\)", error.message)
    return (found[1] or found[2]) if found and error.code == "unsupported" else error.message


@pytest.fixture(autouse=True)
def single_precision():
    """Programs that need double precision say so."""
    torch = sys.modules.get("torch")
    yield
    if torch is not None:
        torch.set_default_dtype(torch.float32)


# ---- every operator ------------------------------------------------------------------------------


@pytest.mark.parametrize("example", swept(12, others=3))
def test_numpy(example):
    assert attempt(example, "numpy") in {"", "detach", *UNSAID}


@pytest.mark.oracle
@pytest.mark.parametrize("example", EXAMPLES[::4], ids=str)
def test_torch(example):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    assert attempt(example, "torch") == ""


@pytest.mark.oracle
@pytest.mark.parametrize("example", FIRST[1::4], ids=str)
def test_torch_function(example):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    assert attempt(example, "torch-function") in ("", "detach")


@pytest.mark.oracle
@pytest.mark.parametrize("example", OWN[::8], ids=str)
def test_jax(example):
    """Others are run for the other target of JAX, in test_code_sizes.py."""
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    assert attempt(example, "jax") in {"", "detach", *UNSAID_IN_JAX}
    if OWN.index(example) % 40 == 0:
        jax.clear_caches()  # thousands of compiled functions take gigabytes


def test_what_is_listed_is_refused():
    tried = UNSAID | {"diagonal"}  # which sends a diagonal_scatter back
    found = {attempt(example, "numpy") for example in EXAMPLES if example.op.name in tried}
    assert found == UNSAID | {""}


# ---- as they stand, and for other sizes ----------------------------------------------------------

STANDING = [
    ("torch", "logdet(X)", {}),
    ("numpy", "h = relu(x @ W + b); out = h.sum(dim=1)", {}),
    ("jax", "softmax(x @ W, -1)", {}),
    ("torch-function", "x * sigmoid(x)", {}),
    ("custom-vjp", "((A @ x - b) ** 2).sum()", {}),
]


@pytest.mark.oracle
@pytest.mark.parametrize(("target", "expr", "given"), STANDING, ids=[s[0] for s in STANDING])
def test_runs_in_an_empty_file(target, expr, given, tmp_path):
    for name in ("torch", "jax"):
        pytest.importorskip(name)
    file = tmp_path / "program.py"
    assert command("code", expr, "--target", target, "-o", str(file)).status == 0
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


TRIANGLES = [
    ("linalg.cholesky(X).diagonal().log().sum()", {"X": (3, 3)}, {}),
    ("cholesky(X) @ b", {"X": (3, 3), "b": (3,)}, {}),
    ("cholesky(X)", {"X": (20, 20)}, {}),
    ("cholesky(X + c * eye(3)) @ b", {"X": (3, 3), "b": (3,)}, {}),
    ("eigvalsh(2 * X)", {"X": (3, 3)}, {}),
    ("cholesky(X).sum() * X[0, 1]", {"X": (2, 3, 3)}, {}),
    ("eigvalsh(X)", {}, {"X": [[2.0, 9.0], [1.0, 5.0]]}),
    ("cholesky(X)", {}, {"X": [[4.0, 2.0], [2.0, 5.0]]}),
]


@pytest.mark.oracle
@pytest.mark.parametrize("target", ["torch-function", "numpy", "custom-vjp"])
@pytest.mark.parametrize(("expr", "shapes", "values"), TRIANGLES)
def test_matrices_of_which_a_triangle_is_read_are_kept_symmetric(expr, shapes, values, target):
    for name in ("torch", "jax"):
        pytest.importorskip(name)
    text = gradcli.code(expr, target, shapes=shapes, values=values)
    assert ".mT) / 2" in text
    run(text)


@pytest.mark.oracle
def test_what_is_kept_symmetric_is_tested():
    pytest.importorskip("torch")
    text = gradcli.code("cholesky(X)", "torch-function", shapes={"X": (3, 3)})
    wrong = text.replace("0.5 * ", "0.6 * ")
    assert wrong != text
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        run(wrong)


SIZES = [
    ("x @ a", [(5, 2), (2, 7)]),
    ("softmax(x, -1)", [(4, 6)]),
    ("x.mean()", [(4, 6)]),
    ("x.sum(0)", [(4, 6)]),
    ("x[0, 1:]", [(4, 6)]),
    ("x - x.mean(1, keepdim=True)", [(4, 6)]),
    ("(x @ W).mean()", [(4, 6), (6, 3)]),
    ("relu(x @ W + b).sum(dim=1)", [(4, 6), (6, 3), (3,)]),
    ("x * rsqrt((x * x).mean(-1, keepdim=True) + 1e-6)", [(4, 6)]),
    ("cumsum(x, 1)", [(4, 6)]),
]


@pytest.mark.oracle
@pytest.mark.parametrize(("expr", "sizes"), SIZES)
def test_functions_hold_for_other_sizes(expr, sizes):
    torch = pytest.importorskip("torch")
    shapes = {"x": tuple(range(2, 2 + len(sizes[0])))}  # the other inputs have what fits
    text = gradcli.code(expr, "torch-function", shapes=shapes)
    made = run(text)
    (name,) = [line.split()[1].partition("(")[0] for line in text.splitlines() if "class" in line]
    given = [torch.randn(size, requires_grad=True, dtype=torch.float64) for size in sizes]
    assert torch.autograd.gradcheck(made[name].apply, given)

    made = run(gradcli.code(expr, "numpy", shapes=shapes))
    arrays = [t.detach().numpy() for t in given]
    out = made["f"](*arrays)
    seed = np.random.default_rng(1).normal(size=np.shape(out))
    found = made["f_grad"](*arrays, *([seed] if np.ndim(out) else []))
    theirs = torch.autograd.grad(
        made_by_torch(text, name)(*given), given, torch.tensor(seed if np.ndim(out) else 1.0)
    )
    for ours, other in zip(found if len(given) > 1 else [found], theirs):
        np.testing.assert_allclose(ours, other, rtol=1e-10, atol=1e-12)


def made_by_torch(text, name):
    """The forward of a torch.autograd.Function as PyTorch itself differentiates it."""

    class Context:
        def save_for_backward(self, *_):
            pass

    function = run(text)[name]
    return lambda *given: function.forward(Context(), *given)


@pytest.mark.parametrize(
    ("target", "right", "wrong"),
    [
        ("numpy", "return g @ a.T", "return 2 * g @ a.T"),
        ("torch", "x.grad, g @ a.T", "x.grad, g @ a.T + 1e-3"),
        ("jax", "x_grad, g @ a.T", "x_grad, 2 * g @ a.T"),
        ("torch-function", "x_grad = g @ a.T", "x_grad = -g @ a.T"),
        ("custom-vjp", "return g @ a.T", "return 2 * g @ a.T"),
    ],
)
@pytest.mark.oracle
def test_a_wrong_gradient_makes_a_program_fail(target, right, wrong):
    for name in ("torch", "jax"):
        pytest.importorskip(name)
    text = gradcli.code("x @ a", target)
    assert right in text
    with pytest.raises((AssertionError, RuntimeError)):
        run(text.replace(right, wrong))


NUMPY = [
    ("x.norm()", "np.linalg.norm(x)"),
    ("x.norm(dim=1)", "np.linalg.norm(x, axis=1)"),
    ("x.norm(dim=(0, 1))", "np.sqrt((x * x).sum(axis=(0, 1)))"),
    ("softplus(x)", "np.logaddexp(x, 0)"),
    ("softplus(x, 2)", "np.logaddexp(2 * x, 0) / 2"),
    ("softmax(x, 0)", "scipy.special.softmax(x, axis=0)"),
]


@pytest.mark.parametrize(("expr", "called"), NUMPY)
def test_a_program_for_numpy_calls_its_functions(expr, called):
    assert f"return {called}\n" in gradcli.code(expr, "numpy", shapes={"x": (2, 3)})


# ---- what is saved -------------------------------------------------------------------------------

SAVED = [
    ("x @ a", "x, a"),  # g @ a.T and x.T @ g
    ("softmax(x, -1)", "out"),  # out * (g - (g * out).sum(-1))
    ("tanh(x)", "out"),  # g * (1 - out**2)
    ("exp(x)", "out"),  # g * out
    ("sin(x)", "x"),  # g * cos(x)
    ("a * b", "a, b"),
    ("s = sigmoid(x @ w); out = (s - y).sum()", "x, w, s"),  # s * (1 - s)
    ("((A @ x - b) ** 2).sum()", "A, x, t"),  # 2 * A.T @ t and its outer product with x; not b
]


@pytest.mark.parametrize(("expr", "kept"), SAVED)
def test_what_backward_needs_is_saved_and_nothing_else(expr, kept):
    text = gradcli.code(expr, "torch-function")
    assert f"ctx.save_for_backward({kept})\n" in text


@pytest.mark.parametrize("expr", ["x.sum()", "x.mean()", "x.T", "x + 2", "x[0, 1:]", "x.view(6)"])
def test_nothing_is_saved_where_shapes_suffice(expr):
    text = gradcli.code(expr, "torch-function", shapes={"x": (2, 3)})
    assert "save_for_backward" not in text


def test_a_saved_intermediate_forbids_a_second_backward():
    assert "@once_differentiable" in gradcli.code("exp(x).sum()", "torch-function")
    assert "once_differentiable" not in gradcli.code("sin(x).sum()", "torch-function")


# ---- values, seeds, names ------------------------------------------------------------------------


def test_the_numbers_of_the_answer_are_asserted():
    given = {"values": {"a": [[1, 2, 3], [4, 5, 6]]}, "grad": "a"}
    for target in ("torch", "jax", "numpy"):  # 2 a² by hand
        text = re.sub(r"\.0?(?=[,\]])", "", gradcli.code("a * a", target, **given))
        assert "[[2, 8, 18], [32, 50, 72]]" in text


@pytest.mark.oracle
def test_gradients_of_intermediates_are_asserted_and_used_by_name():
    expr = "h = tanh(x @ W); y = h @ V; loss = (y**2).sum() + y.sum()"
    text = gradcli.code(expr, shapes={"x": (4, 3), "W": (3, 5), "V": (5, 2)})
    assert "for value in (z, h, y):\n    value.retain_grad()\nloss.backward()" in text
    assert "assert_close(h.grad, y.grad @ V.T)" in text
    assert "assert_close(V.grad, h.T @ y.grad)" in text
    scope = run(text)
    assert scope["y"].grad.shape == (4, 2)


@pytest.mark.oracle
def test_a_gradient_that_is_used_once_needs_no_name():
    text = gradcli.code("h = x @ a; h.sum()", shapes={"x": (2, 3)}, wrt="x")
    assert "retain_grad" not in text
    run(text)


def test_at_a_corner_differences_are_taken_elsewhere():
    text = gradcli.code("relu(x)", "numpy", values={"x": [-1, 0, 2]}, grad=[1, 1, 1])
    made = run(text)
    assert "assert np.allclose(x_grad, [0.0, 0.0, 1.0], atol=1e-6)" in text
    assert made["x"].tolist() != [-1, 0, 2]


REQUESTS = [
    ("np @ torch + F", {}),
    ("f * rng.sum() + ctx * saved", {"shapes": {"ctx": (3,), "saved": (3,)}}),
    ("jax * jnp + g", {"shapes": {"jax": (3,)}}),
    ("cross_entropy(x, t)", {"shapes": {"x": (2, 3)}, "values": {"t": [0, 2]}}),
    ("x[i] * b", {"shapes": {"x": (3, 2), "b": (2,)}, "values": {"i": [0, 0, 2]}}),
    ("x[x > 0]", {"values": {"x": [-1.0, 2.0, 3.0]}}),
    ("x[0, :, [1, 2]]", {"shapes": {"x": (2, 3, 4)}}),
    ("x * w", {"wrt": "x"}),
    ("x * x", {"values": {"x": [0.1, 0.2]}, "grad": "2 * out"}),
    ("(x * x).sum()", {"values": {"x": 3.0}}),
    ("log(x) + sqrt(y)", {}),
    ("acosh(x)", {}),
    ("acosh(x + 2)", {"shapes": {"x": (3,)}}),
    ("log(1 - x @ x)", {"shapes": {"x": (3,)}}),
    ("asin(2 * x)", {"shapes": {"x": (3,)}}),
    ("log(-x)", {"shapes": {"x": (3,)}}),
    ("logdet(A)", {}),
    ("x", {"shapes": {"x": (3,)}}),
    ("x.clone()", {"shapes": {"x": (3,)}}),
    ("y = x; y", {"values": {"x": [1.0, 2.0]}}),
    *((e, {"shapes": {"x": ()}}) for e in ("x", "2 * x", "x.mean()", "x - x / 2")),
    ("x = x * 2; x = x.exp(); x.sum()", {}),
    ("x = x * 2", {"values": {"x": [1.0, 2.0]}}),
    ("h = exp(x); x = h * x", {"shapes": {"x": (3,)}}),
    ("exp(out) * out", {"shapes": {"out": (3,)}}),
    ("x_grad * x", {"shapes": {"x_grad": (2,), "x": (2,)}}),
    ("x_grad = exp(x * y); x_grad * x", {"shapes": {"x": (2,), "y": (2,)}}),
    ("tanh(x @ W)", {"shapes": {"x": (30, 20), "W": (20, 10)}}),
    ("x * y", {"values": {"x": LARGE, "y": LARGE}, "grad": LARGE}),
    ("interpolate(x, scale_factor=2)", {"shapes": {"x": (1, 1, 2, 2)}}),
    (
        "(m ** (2 - p) / (2 - p) - y * m ** (1 - p) / (1 - p)).sum()",
        {"shapes": {"m": (4,), "y": (4,), "p": ()}},
    ),
    (
        "S = x @ y.T; cross_entropy(S * exp(t), l) + cross_entropy(S.T * exp(t), l)",
        {"shapes": {"x": (3, 2), "y": (3, 2), "t": ()}, "values": {"l": [0, 2, 1]}},
    ),
]


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("target", "expr", "given"),
    one_row_in(2, [(t, *request) for request in REQUESTS for t in TARGETS], sweep=2),
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_requests_of_all_kinds(target, expr, given):
    for name in ("torch", "jax"):
        pytest.importorskip(name)
    run(gradcli.code(expr, target, **given))


@pytest.mark.oracle
def test_values_are_drawn_where_jax_has_a_gradient():
    """JAX multiplies the infinite slope of sqrt at 0 by the 0 of a mask."""
    pytest.importorskip("jax")
    run(gradcli.code("sqrt(clamp(x, 0, 1))", "jax", shapes={"x": (5,)}))
    said = "output or gradient is not finite at the values given"
    with pytest.raises(GradcliError, match=f"JAX's {said}"):
        gradcli.code("sqrt(clamp(x, 0, 1))", "jax", values={"x": [-1.5, 0.5, 2.0]})
    with pytest.raises(GradcliError, match=f"the {said}"):
        gradcli.code("1 / relu(x)", values={"x": [1.0, -2.0]})


ONES, NEGATIVE = [[1.0, 1.0], [1.0, 1.0]], [[-1.0, 0.0], [0.0, 1.0]]
AWKWARD = [
    *((f"{f}(x)", x) for f in ("logdet", "det", "slogdet(x)[1] * trace") for x in (ONES, NEGATIVE)),
    *((f"{f}(x)", [0.0, 2.0, 0.0]) for f in ("prod", "norm", "sqrt", "log", "1 / ", "relu")),
    *((f"{f}(x)", [1.0, 1.0]) for f in ("std", "max", "median", "x / norm")),
    *((f"{f}(x)", [-1.0, 0.5]) for f in ("log", "acosh", "sqrt", "where(x > 0, sqrt(x), x) * ")),
    ("sqrt(clamp(x, 0, 1)).sum()", [-1.5, 0.5]),
    *((f"{f}(x)", [np.inf, 1.0]) for f in ("exp", "logsumexp(x, 0) * ", "softmax(x, 0) * ")),
]


@pytest.mark.oracle
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("expr", "x"), AWKWARD, ids=map(str, AWKWARD))
def test_values_where_formulas_or_frameworks_differ(target, expr, x):
    for name in ("torch", "jax"):
        pytest.importorskip(name)
    run(gradcli.code(expr, target, values={"x": x}, grad="ones_like(out)"))


@pytest.mark.parametrize(
    ("expr", "why"),
    [
        ("x * x.detach()", "do not notice detach"),
        ("acosh(x) + asin(x)", "no random values were found at which"),
    ],
)
@pytest.mark.parametrize("target", ["numpy", "torch-function", "custom-vjp"])
def test_what_differences_cannot_test_is_refused(target, expr, why):
    with pytest.raises(GradcliError, match=why):
        gradcli.code(expr, target)


def test_large_values_are_drawn_instead():
    text = gradcli.code("x * x", "numpy", values={"x": np.ones((20, 20))})
    assert "rng.normal(size=(20, 20))" in text
    run(text)


# ---- the command ---------------------------------------------------------------------------------


def test_a_mistaken_target():
    result = command("code", "x * x", "--target", "tensorflow")
    assert result.status == 2
    assert "--target must be one of torch, jax, numpy, torch-function, custom-vjp" in result.err
    with pytest.raises(GradcliError, match="there is no target nunpy"):
        gradcli.code("x * x", "nunpy")


def test_what_cannot_be_said_is_refused():
    result = command("code", "max_pool2d(x, 2)", "-s", "x=1x1x4x4", "--target", "numpy")
    assert result.status == 2
    assert result.out == ""
    assert "error[unsupported]: NumPy has no function for max_pool2d_indices" in result.err


def test_colour_only_where_it_is_shown(tmp_path):
    plain = command("code", "x * x").out
    assert "\x1b" not in plain
    shown = command("code", "x * x", terminal=True).out
    assert "\x1b" in shown
    file = tmp_path / "program.py"
    command("code", "x * x", "-o", str(file), terminal=True)
    assert file.read_text() == plain


@pytest.mark.oracle
def test_an_output_that_has_the_name_of_an_input():
    """exp(x) is the output, and g * exp(x) its gradient: g * x would be wrong."""
    torch = pytest.importorskip("torch")
    x, g = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0, 4.0])
    out = torch.exp(x)
    (expected,) = torch.autograd.grad(out, x, g, retain_graph=True)
    found = eval(gradcli.formula("x = exp(x)"), {"g": g, "x": x, "out": out})
    assert torch.allclose(found, expected)
    lines = command("x = exp(x)", "-v", "x=[1.,2.]", "-g", "[3.,4.]", "--show", "code").out
    scope = {"torch": torch}
    exec("\n".join(line.strip() for line in lines.splitlines()[1:]), scope)
    assert torch.allclose(scope["x"].grad, expected)


LONG = [
    "out = f(" + ", ".join(f"argument{k}" for k in range(20)) + ")",
    "    y = x[" + " + ".join(f"place{k}" for k in range(20)) + "]",
    "z = g(a, 'einsum(, of, a, bracket', [" + ", ".join(f"{k}.5" for k in range(60)) + "], b=(1,))",
    "v = f(" + "a" * 60 + ", " + "b" * 60 + ",)",
    "w = h(" + "f(" * 12 + ", ".join(f"[x{k}, y{k}]" for k in range(20)) + ")" * 12 + ")",
]


@pytest.mark.parametrize("line", LONG)
def test_long_lines_are_broken_inside_of_brackets(line):
    text = broken(f"if True:\n    {line.strip()}  # (only for these sizes\n")
    assert len(text.splitlines()) > 2
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(f"if True:\n    {line.strip()}"))
    assert max(map(len, text.splitlines())) <= 100 or " + " in line
    assert all(part == part.rstrip() for part in text.splitlines())


def test_lines_that_fit_and_remarks_stay_as_they_are():
    text = f"f(a, b)\n# {'a, (b), ' * 20}\n"
    assert broken(text) == text


@pytest.mark.parametrize("target", ["numpy", "torch", "torch-function"])
def test_no_line_of_a_program_is_too_long(target):
    text = gradcli.code("quantile(x, 0.3, dim=1)", target, shapes={"x": (3, 5)})
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize(
    ("target", "backward"), [("torch-function", "def backward("), ("custom-vjp", "def f_bwd(")]
)
def test_a_normalisation_sends_back_means(target, backward):
    """One root of the variance and y * mean(g * y) for the sums of PyTorch's kernel."""
    text = "h = layer_norm(x, (4,), w, b); layer_norm(h @ W, (3,))"
    shapes = {"x": (2, 4), "w": (4,), "b": (4,), "W": (4, 3)}
    program = gradcli.code(text, target, shapes=shapes)
    written = program.split(backward)[1].split("\n\n\n")[0]
    assert written.count("var(") == 2
    assert "sum_" not in written


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("expr", "shape"),
    [
        ("x.sort(1).values", (3, 4)),
        ("x.max(1).values", (3, 4)),
        ("x[[0, 0, 2]]", (3, 4)),
        ("x.unfold(0, 2, 1)", (5,)),
        ("avg_pool2d(x, 2)", (1, 1, 4, 4)),
        ("x * tensor([1., 2.])", (3, 2)),
    ],
)
def test_backward_makes_tensors_of_the_kind_that_it_is_given(expr, shape):
    """Numbers in double where single precision is PyTorch's default; all on the seed's device."""
    torch = pytest.importorskip("torch")

    program = gradcli.code(expr, "torch-function", shapes={"x": shape})
    written = program.split("torch.set_default_dtype")[0]
    scope = {}
    exec(written, scope)
    (function,) = (v for v in scope.values() if isinstance(v, type(torch.autograd.Function)))
    x = torch.rand(shape, dtype=torch.float64, requires_grad=True)
    function.apply(x).sum().backward()
    assert x.grad.dtype == torch.float64
    backward = " ".join(written.split("def backward")[1].split())
    made = len(re.findall(r"torch\.(?:zeros|ones|arange|eye|tensor|full)\(", backward))
    assert made == backward.count("device=g.device")


@pytest.mark.oracle
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("expr", ["cross_entropy(x, t)", "embedding(t, W)", "(x[t] ** 2).sum()"])
def test_labels_that_nobody_gave_are_made_up(target, expr):
    pytest.importorskip("torch")
    pytest.importorskip("jax")
    text = gradcli.code(expr, target)
    (line,) = [line for line in text.splitlines() if line.endswith("# example values")]
    assert line.startswith("t = ")
    run(text)
