"""What answers cost, against arithmetic by hand and PyTorch's own counters."""

import ast
import json

import numpy as np
import pytest
from console import gradcli
from support import Example, examples, fixed, refusal, run_torch

import gradcli as package
from gradcli.autodiff.forward import jvp
from gradcli.backends.numeric import Evaluator
from gradcli.errors import GradcliError
from gradcli.explanation.analysis import Analysis
from gradcli.explanation.cost import cost, size_of
from gradcli.explanation.phrases import amount, count_text, memory
from gradcli.graphs import OPS
from gradcli.graphs.flops import flops
from gradcli.language.posing import pose

LARGE = ("softmax(x @ W, -1)", "-s", "x=512x1024,W=1024x32000", "--show", "cost")


def counted(text: str, **shapes) -> int:
    """FLOP of the last operation of a program."""
    problem = pose(f"y_ = {text}; 1.0 * y_", shapes=shapes)  # for those that have no gradient too
    return flops(problem.named["y_"])


def names_of(text: str) -> set[str]:
    """The names in a text that are one letter."""
    return {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name) and len(n.id) == 1}


# ---- operations ----------------------------------------------------------------------------------

N, M, K = 4, 5, 6
BY_HAND = {
    "a + b": N * M,
    "exp(a)": N * M,
    "a.T": 0,
    "a.reshape(-1)": 0,
    "a[1:, 0]": 0,
    "cat([a, b])": 0,
    "a.expand(3, 4, 5)": 0,
    "a.detach()": 0,
    "a.sum(dim=0)": N * M,
    "a.mean()": N * M,
    "a.amax(dim=1)": N * M,
    "a @ c": 2 * N * M * K,
    "a @ v": 2 * N * M,
    "v @ v": 2 * M,
    "outer(v, v)": M * M,
    "mm(a, c)": 2 * N * M * K,
    "linear(a, c.T)": 2 * N * M * K,
    "linear(a, c.T, w)": 2 * N * M * K + N * K,
    "einsum('ij,jk->ik', a, c)": 2 * N * M * K,
    "einsum('ij->ji', a)": 0,
    "einsum('ij->i', a)": N * M,
    "einsum('ij,ij->ij', a, b)": N * M,
    "einsum('i,j->ij', v, v)": M * M,
    "einsum('...j,jk->...k', a, c)": 2 * N * M * K,
    "softmax(a, -1)": 3 * N * M,  # exp, sum, quotient
    "mse_loss(a, b)": 3 * N * M,  # difference, square, mean
    "silu(a)": 2 * N * M,
    "trace(a)": N,
    "a.var()": 4 * N * M,  # mean, difference, square, mean
    "a.std(dim=0)": 4 * N * M,
    "a.cumprod(0)": N * M,
    "searchsorted(v, a)": N * M * 3,  # 3 comparisons with M limits
    "F.conv_transpose1d(a, d)": 2 * N * M * K * 3,
    "F.conv_transpose1d(a, d, w)": 2 * N * M * K * 3 + K * (M + 2),
    "nn.grad.conv1d_input((6, 7), d, a)": 2 * N * M * K * 3,
    "F.interpolate(a[None], 8, mode='linear')": 2 * 2 * N * 8,
    "F.interpolate(a[None], 8, mode='nearest')": 2 * N * 8,
    "F.grid_sample(a[None, None], b[None, :, :2, None].expand(1, 4, 2, 2))": 2 * 4 * N * 2,
}


@pytest.mark.parametrize("text", BY_HAND)
def test_operations_by_hand(text):
    shapes = {"a": (N, M), "b": (N, M), "c": (M, K), "d": (N, K, 3), "v": (M,), "w": (K,)}
    used = {name: s for name, s in shapes.items() if name in names_of(text)}
    assert counted(text, **used) == BY_HAND[text]


def test_three_operands_are_multiplied_in_the_better_order():
    # (i) by (i j) first: 2·20 products and sums; then by (j): 2·5. The other way 2·20 and 2·4.
    two_steps = counted("einsum('i,ij,j->', u, a, v)", u=(4,), a=(4, 5), v=(5,))
    assert two_steps in (2 * 20 + 2 * 5, 2 * 20 + 2 * 4)
    # A·B·C of 10×1000, 1000×10, 10×1000: from the left 2·10⁵ and 2·10⁵.
    chain = counted("einsum('ij,jk,kl->il', a, b, c)", a=(10, 1000), b=(1000, 10), c=(10, 1000))
    assert chain == 2 * 10 * 1000 * 10 + 2 * 10 * 10 * 1000
    # A·B·C of 10×20, 20×30, 30×40: the product that takes most out of memory first costs more.
    chain = counted("einsum('ij,jk,kl->il', a, b, c)", a=(10, 20), b=(20, 30), c=(30, 40))
    assert chain == 2 * 10 * 20 * 30 + 2 * 10 * 30 * 40


def test_two_products_on_the_way_are_held_together():
    equation = "ij,jk,kl,lm,mn->in"  # three products of 3×3 before the last
    assert OPS["einsum"].workspace((3, 3), *[(3, 3)] * 5, equation=equation) == 2 * 3 * 3


SQUARE = {  # Golub & Van Loan: leading terms for a matrix of n×n
    "inv(x)": 2.0,
    "det(x)": 2 / 3,
    "cholesky(x)": 1 / 3,
    "linalg.qr(x).R": 4 / 3,
    "eigvalsh(x)": 4 / 3,
    "svdvals(x)": 8 / 3,
    "linalg.svd(x, False).U": 6 + 11,
    "linalg.svd(x, False).Vh": 6 + 11,
    "linalg.svd(x).U": 6 + 11,
    "linalg.svd(x).Vh": 6 + 11,
    "linalg.pinv(x)": 6 + 11 + 2,
    "linalg.matrix_rank(x)": 8 / 3,
    "linalg.eigh(x)[1]": 9.0,
    "linalg.lu(x).P": 2 / 3,
    "linalg.lu(x).L": 2 / 3,
    "linalg.lu(x).U": 2 / 3,
    "slogdet(x)[0]": 2 / 3,
    "slogdet(x)[1]": 2 / 3,
    "logdet(x)": 2 / 3,
    "linalg.inv_ex(x).info": 2 / 3,
    "cholesky_ex(x).L": 1 / 3,
    "cholesky_ex(x).info": 1 / 3,
    "cholesky_solve(b, x)": 2.0,
    "linalg.qr(x).Q": 4 / 3 + 4 / 3,
    "matrix_exp(x)": 6 * 2 + 2 / 3 + 2,  # products of powers, and a system
    "solve(x, b)": 2 / 3 + 2,
    "solve_triangular(x, b, upper=True)": 1.0,
    "scaled_inverse_transpose(x, s)": 2.0,
    "cofactors(x, det(x))": 2.0,  # the inverse
    "scaled_cofactors(x, det(x), s)": 2.0,
    "cofactors_along(x, det(x), b)": 2.0 + 2 * 2,  # and two products
}


@pytest.mark.parametrize("text", SQUARE)
def test_matrices(text):
    n = 30
    sizes = {"x": (n, n), "b": (n, n), "s": ()}
    shapes = {name: sizes[name] for name in names_of(text) & sizes.keys()}
    assert counted(text, **shapes) == pytest.approx(SQUARE[text] * n**3, rel=1e-3)
    batch = {name: (7, *s) for name, s in shapes.items()}
    assert counted(text, **batch) == 7 * counted(text, **shapes)


TALL = {  # the same for 2n×n
    "linalg.lu(x).L": 2 - 1 / 3,
    "linalg.qr(x).R": 4 - 2 / 3,
    "linalg.qr(x).Q": 8 - 4 / 3,
    "svdvals(x)": 8 - 4 / 3,
    "linalg.svd(x, False).U": 12 + 11,
    "linalg.pinv(x)": 12 + 11 + 4,
}


@pytest.mark.parametrize("text", TALL)
def test_tall_and_wide_matrices(text):
    n = 30
    assert counted(text, x=(2 * n, n)) == pytest.approx(TALL[text] * n**3, rel=1e-3)
    assert counted(text, x=(n, 2 * n)) == counted(text, x=(2 * n, n))


@pytest.mark.parametrize("op", OPS.values(), ids=str)
def test_every_operator_is_counted(op):
    for text, shapes in op.examples[:2]:
        problem = Example(op, text, shapes).problem
        found = cost(Analysis(problem))
        assert found.forward >= 0
        assert found.vjp.times(1) >= 0
        assert all(size_of(node, "float64") >= 0 for node in found.saved_tensors)


# ---- passes --------------------------------------------------------------------------------------


def test_a_product_costs_twice_as_much_again_in_the_backward_pass():
    found = package.cost("x @ W", shapes={"x": (3, 4), "W": (4, 5)})
    once = 2 * 3 * 4 * 5
    assert found["forward"]["flops"] == once
    assert found["vjp"] == {"passes": 1, "flops": 2 * once}
    assert found["jvp"] == {"passes": 1, "flops": 2 * once + 3 * 5}  # two products and their sum


def test_the_full_jacobian():
    found = package.cost("x @ W", shapes={"x": (3, 4), "W": (4, 5)}, wrt="x")["jacobian"]["x"]
    assert found["entries"] == 15 * 12
    assert found["bytes"] == 8 * 15 * 12
    assert found["by_rows"] == {"passes": 15, "flops": 15 * 2 * 3 * 4 * 5}
    assert found["by_columns"] == {"passes": 12, "flops": 12 * 2 * 3 * 4 * 5}


def test_what_passes_share_is_counted_once():
    # tanh back: g * (1 - y * y), of which 1 - y * y is 2 an element and the same in every pass.
    found = package.cost("tanh(x)", shapes={"x": (10,)})
    assert found["vjp"]["flops"] == 30
    assert found["jacobian"]["x"]["by_rows"]["flops"] == 20 + 10 * 10


def test_a_tangent_for_all_inputs_goes_forward_once():
    # h = x @ w; ten times exp: the pass through the exps does not double with a second input.
    text = "exp(" * 10 + "x @ w" + ")" * 10
    shapes = {"x": (2, 3), "w": (3, 2)}
    one = package.cost(text, shapes=shapes, wrt="x")["jvp"]["flops"]
    both = package.cost(text, shapes=shapes)["jvp"]["flops"]
    assert both - one == 2 * 2 * 3 * 2 + 2 * 2  # one more product, and the sum


@pytest.mark.parametrize("text", ["x * y", "x @ y.T + x", "(x + y).sum()", "x + y", "x.exp() - y"])
def test_jvp_of_all_inputs_is_the_sum_of_each(text):
    draw = np.random.default_rng(0)
    values = {name: draw.normal(size=(2, 2)) for name in "xy"}
    problem = pose(text, values=values)
    tangents = {
        i.node: OPS["input"](name=f"t{n}", shape=i.shape) for n, i in problem.inputs.items()
    }
    numbers = {t: draw.normal(size=t.shape) for t in tangents.values()}
    whole, *parts = (
        Evaluator({**problem.values, **numbers})(jvp(problem.out, some))[0]
        for some in (tangents, *({x: t} for x, t in tangents.items()))
    )
    np.testing.assert_allclose(whole, sum(parts))


# ---- what is saved -------------------------------------------------------------------------------


def saved(text: str, **shapes) -> dict[str, int]:
    """Bytes by the text of what is saved."""
    found = package.cost(text, shapes=shapes)
    return {r["memory"]: r["bytes"] for s in found["saved"] for r in s["reads"]}


def test_rules_read_what_they_need():
    assert saved("x + y", x=(2, 3), y=(2, 3)) == {}
    assert saved("x * y", x=(2, 3), y=(2, 3)) == {"x": 48, "y": 48}
    assert saved("exp(x)", x=(2, 3)) == {"out": 48}
    assert saved("sin(x)", x=(2, 3)) == {"x": 48}
    assert saved("x * 2", x=(2, 3)) == {}
    assert saved("x.mean()", x=(2, 3)) == {}
    logs = {"log_softmax(x, dim=1)": 48}
    assert saved("cross_entropy(x, t)", x=(2, 3), t=(2, 3)) == logs | {"t": 48}
    of_labels = {"tensor([0,1])": 16, "·.sum()": 8}  # with the total weight
    assert saved("cross_entropy(x, tensor([0,1]))", x=(2, 3)) == logs | of_labels
    assert saved("where(x > 0, x, y)", x=(8,), y=(8,)) == {"x > 0": 8}  # a byte for each of a mask


def test_a_view_has_no_memory_of_its_own():
    assert saved("x @ x.T", x=(2, 3)) == {"x": 48}
    assert saved("h = exp(x); h.T * h.T", x=(2, 3)) == {"h": 48}
    assert saved("h = x * 2; h[:1].exp()", x=(4, 3)) == {"out": 24}


def test_float32_takes_half():
    half = json.loads(gradcli(*LARGE, "--dtype", "float32", "-f", "json").out)["cost"]
    whole = json.loads(gradcli(*LARGE, "-f", "json").out)["cost"]
    assert (
        whole["saved_bytes"]
        == 2 * half["saved_bytes"]
        == 8 * (512 * 1024 + 1024 * 32000 + 512 * 32000)
    )


# ---- on screen -----------------------------------------------------------------------------------


def test_it_needs_shapes_and_no_arrays(monkeypatch):
    monkeypatch.setattr(Evaluator, "run", lambda *_: pytest.fail("an array was made"))
    result = gradcli(*LARGE)
    assert (result.status, result.err) == (0, "")
    assert "33.6 GFLOP" in result.out  # 2·512·1024·32000 and 3·512·32000
    assert "8.59·10¹² entries (68.7 TB)" in result.out  # 512·32000·512·1024
    assert "block-diagonal      1.68·10¹⁰ nonzero entries" in result.out  # 512 blocks
    assert "16,384,000 passes back" in result.out
    assert "131 MB     for softmax(·, -1)" in result.out


def test_the_structure_of_a_jacobian():
    assert "1,000 nonzero entries" in gradcli("tanh(x)", "-s", "x=1000", "--show", "cost").out
    assert "not zero" not in gradcli("x.sum()", "-s", "x=1000", "--show", "cost").out


@pytest.mark.parametrize(
    ("text", "shapes", "said"),
    [
        ("relu(x @ W) @ V", "x=8,W=8x10000000,V=10000000x2", "wrt W"),
        ("cholesky(A) @ cholesky(-A)", "A=3x3", "wrt A"),
        ("inv(A - A) * B", "A=3x3,B=3x3", "diagonal 9 nonzero entries"),
        ("relu(x)", "x=3000000", "diagonal at most 3,000,000 nonzero entries"),
        ("abs(x)", "x=3000000", "diagonal 3,000,000 nonzero entries"),
        ("x * relu(y)", "x=3,y=3", "diagonal at most 3 nonzero entries"),
    ],
)
def test_entries_are_counted_without_values(text, shapes, said):
    assert said in " ".join(gradcli(text, "-s", shapes, "--show", "cost").out.split())


def test_larger_than_any_memory():
    result = gradcli("(x @ x).sum()", "-s", "x=1000000x1000000", "--show", "cost", "--ascii")
    assert result.status == 0
    assert "10^12 entries (8 TB)" in result.out
    assert "2 EFLOP" in result.out
    assert gradcli("x @ x", "-s", "x=1000000x1000000", "--show", "cost,answer").status == 2


def test_it_is_shown_where_it_is_named():
    assert "Saved for backward" not in gradcli("x * x", "-s", "x=3").out
    assert "cost" not in json.loads(gradcli("x * x", "-s", "x=3", "-f", "json").out)
    shown = gradcli("x * x", "-s", "x=3", "--show", "cost").out
    assert [line for line in shown.splitlines() if line[:1].strip()] == [
        "Cost                                              from shapes alone, in float64",
        "Full Jacobian",
        "Saved for backward",
    ]


def test_assumed_sizes_are_told():
    assert "assumed: x 2×3 and W 3×4." in gradcli("x @ W", "--show", "cost").out
    assert "assumed" not in gradcli("x @ W", "-s", "x=2x3,W=3x4", "--show", "cost").out


def test_nothing_is_saved():
    assert (
        "Nothing: no derivative rule needs"
        in gradcli("x + y", "-s", "x=3,y=3", "--show", "cost").out
    )


def test_a_request_of_batch():
    line = {"expr": "x @ W", "shapes": {"x": [10**5, 10**5], "W": [10**5, 10]}, "want": ["cost"]}
    (found,) = package.batch([line])
    assert found["ok"]
    assert found["cost"]["forward"]["flops"] == 2 * 10**11
    (formulas,) = package.batch([line | {"want": ["cost", "formula"]}])  # no array is made
    assert formulas["formula"] == {"x": "g @ W.T", "W": "x.T @ g"}
    (refused,) = package.batch([line | {"want": ["cost", "jacobian"]}])
    assert refused["error"]["code"] == "limit"


def test_what_has_no_gradient_has_no_cost():
    with pytest.raises(GradcliError, match="no gradient flows"):
        package.cost("x.detach()", shapes={"x": (3,)})


@pytest.mark.parametrize(
    ("count", "said"),
    [(0, "0"), (999, "999"), (16_384_000, "16,384,000"), (10**6, "10⁶"), (10**12, "10¹²"),
     (8_589_934_592_000, "8.59·10¹²"), (2 * 10**9, "2·10⁹"), (10**31, "10³¹")],
)  # fmt: skip
def test_counts(count, said):
    assert count_text(count) == said


def test_amounts():
    assert [amount(n, "FLOP") for n in (0, 24, 999, 1000, 1340 * 10**6, 999_999)] == [
        "0 FLOP", "24 FLOP", "999 FLOP", "1 kFLOP", "1.34 GFLOP", "1 MFLOP",
    ]  # fmt: skip
    assert [memory(n) for n in (1, 48, 65_536_000, 10**12 * 8)] == [
        "1 byte",
        "48 bytes",
        "65.5 MB",
        "8 TB",
    ]
    assert amount(10**40, "FLOP") == "10⁴⁰ FLOP"


# ---- PyTorch -------------------------------------------------------------------------------------

PRODUCTS = [
    ("x @ w", {"x": (3, 4), "w": (4, 5)}),
    ("relu(x @ w) @ v", {"x": (3, 4), "w": (4, 5), "v": (5, 2)}),
    ("bmm(x, w)", {"x": (2, 3, 4), "w": (2, 4, 5)}),
    ("addmm(b, x, w)", {"b": (5,), "x": (3, 4), "w": (4, 5)}),
    ("linear(x, w, b)", {"x": (3, 4), "w": (5, 4), "b": (5,)}),
    ("conv2d(x, w)", {"x": (2, 3, 8, 8), "w": (4, 3, 3, 3)}),
    ("conv2d(x, w, padding=1, stride=2)", {"x": (2, 3, 8, 8), "w": (4, 3, 3, 3)}),
    ("conv1d(x, w)", {"x": (2, 3, 9), "w": (4, 3, 3)}),
    ("conv_transpose2d(x, w, b)", {"x": (2, 4, 6, 6), "w": (4, 3, 3, 3), "b": (3,)}),
]
# Of these all is counted by PyTorch. It takes every group for the others' too, by the weight.
CONVOLUTIONS = [
    ("conv2d(x, w)", {"x": (2, 3, 8, 8), "w": (4, 3, 3, 3)}, ["x", "w"]),
    ("conv2d(x, w, padding=1, stride=2)", {"x": (2, 3, 8, 8), "w": (4, 3, 3, 3)}, ["x", "w"]),
    ("conv2d(x, w, groups=3)", {"x": (2, 3, 8, 8), "w": (6, 1, 3, 3)}, ["x"]),
    ("conv1d(x, w)", {"x": (2, 3, 9), "w": (4, 3, 3)}, ["x", "w"]),
    ("conv1d(x, w, padding='same')", {"x": (3, 9), "w": (4, 3, 3)}, ["x", "w"]),
    ("conv_transpose2d(x, w)", {"x": (2, 4, 6, 6), "w": (4, 3, 3, 3)}, ["x", "w"]),
]
KEPT = [
    ("x * y", {"x": (2, 3), "y": (2, 3)}),
    ("x / y", {"x": (2, 3), "y": (2, 3)}),
    ("x @ w", {"x": (2, 3), "w": (3, 4)}),
    ("h = relu(x @ w + b); h.sum()", {"x": (2, 3), "w": (3, 4), "b": (4,)}),
    ("softmax(x @ w, dim=-1)", {"x": (2, 3), "w": (3, 4)}),
    ("tanh(x) * sigmoid(x)", {"x": (2, 3)}),
    ("x.exp().log()", {"x": (2, 3)}),
    ("(x - x.mean()) ** 2", {"x": (2, 3)}),
    ("x @ x.T", {"x": (2, 3)}),
    ("mse_loss(tanh(x @ w), y)", {"x": (2, 3), "w": (3, 4), "y": (2, 4)}),
    ("log_softmax(x, dim=1)", {"x": (2, 3)}),
    ("gelu(linear(x, w, b))", {"x": (2, 3), "w": (4, 3), "b": (4,)}),
    ("max_pool2d(relu(conv2d(x, w)), 2)", {"x": (1, 2, 5, 5), "w": (3, 2, 2, 2)}),
    ("avg_pool2d(x * 2, 2)", {"x": (1, 2, 4, 4)}),
    ("x.clamp(min=0) * where(x > 0, x, 0)", {"x": (2, 3)}),
    ("x.amax(dim=1).sqrt().sum()", {"x": (2, 3)}),
    ("silu(x) + x.abs()", {"x": (2, 3)}),
    ("x[0] * x.T.reshape(3, 2).sum(1)", {"x": (2, 3)}),
    ("x.cumsum(0).prod(dim=1)", {"x": (2, 3)}),
    ("layer_norm(x, (3,), w, b)", {"x": (2, 3), "w": (3,), "b": (3,)}),
    ("group_norm(x, 2, w, b)", {"x": (2, 4, 5), "w": (4,), "b": (4,)}),
    ("batch_norm(x, None, None, training=True)", {"x": (4, 3)}),
    ("rms_norm(x, (3,), w)", {"x": (2, 3), "w": (3,)}),
    ("scaled_dot_product_attention(q, k, v)", dict.fromkeys("qkv", (2, 4, 5))),
    ("cross_entropy(x @ w, tensor([1, 0]))", {"x": (2, 5), "w": (5, 3)}),
    ("sort(x, 1)[0] * x.max(dim=1, keepdim=True)[0]", {"x": (2, 3)}),
    ("L, V = linalg.eigh(x + x.T); (L * V).sum()", {"x": (3, 3)}),
    ("U, S, V = linalg.svd(x, full_matrices=False); (U * S) @ V", {"x": (4, 3)}),
    ("Q, R = linalg.qr(x); Q @ R", {"x": (4, 3)}),
    ("normalize(softsign(x))", {"x": (2, 3)}),
    ("dropout(x, 0.0).exp()", {"x": (2, 3)}),
]
# Operators that keep something else in PyTorch, by the reason that docs/cost.md names.
ELSEWISE = {
    *("det", "determinant_sign", "log_abs_determinant", "logdet", "solve", "matrix_norm"),
    *("lu_l", "lu_p", "lu_u", "lu_pivots", "lu_solution", "row_exchanges", "householder_product"),
    *("ormqr", "corrcoef", "cov", "nanmean", "quantile", "nanquantile", "powers", "renorm"),
    *("mse_loss", "huber_loss", "multilabel_margin_loss", "ctc_losses", "local_response_norm"),
    *(
        "einsum",
        "matmul",
        "getitem",
        "frexp_mantissa",
        "frexp_exponent",
        "int",
    ),  # copies, lists, int32
    *("conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight"),  # one number for a shape
    *("conv3d_input", "conv3d_weight"),
    *("angle", "div_floor", "div_trunc", "isfinite", "cloned_coefficient"),  # what sends back 0
    *("cummax_indices", "cummin_indices", "matrix_rank", "failed_minor", "zero_pivot"),
    *(f"{kind}max_pool{n}d_indices" for kind in ("", "adaptive_") for n in (1, 2, 3)),
}


def drawn(shapes):
    """Values between 0.5 and 1.5, as tensors that want gradients."""
    import torch

    draw = np.random.default_rng(0)
    return {
        n: torch.tensor(draw.uniform(0.5, 1.5, s), requires_grad=True) for n, s in shapes.items()
    }


def torch_saves(text: str, tensors) -> int:
    """Bytes that PyTorch keeps for backward, each memory once."""
    import torch

    found, alive = {}, []

    def pack(t):
        memory = t.untyped_storage()
        found[memory.data_ptr()] = memory.nbytes()
        alive.append(t)  # so that no memory is used again
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        run_torch(text, tensors)
    return sum(found.values())


@pytest.mark.oracle
@pytest.mark.parametrize(("text", "shapes"), PRODUCTS)
def test_pytorch_counts_the_same(text, shapes):
    torch = pytest.importorskip("torch")
    from torch.utils.flop_counter import FlopCounterMode

    tensors = drawn(shapes)
    with FlopCounterMode(display=False) as forward:
        out = run_torch(text, tensors)
    with FlopCounterMode(display=False) as back:
        torch.autograd.grad(out, list(tensors.values()), torch.ones_like(out))
    found = cost(Analysis(pose(text, shapes=shapes)))
    # PyTorch's counter knows products alone: the few sums and relus are left.
    few = 3 * sum(np.prod(s) for s in (*shapes.values(), out.shape)) + 100
    assert 0 <= found.forward - forward.get_total_flops() <= few
    assert 0 <= found.vjp.times(1) - back.get_total_flops() <= few


@pytest.mark.oracle
@pytest.mark.parametrize(("text", "shapes", "wrt"), CONVOLUTIONS)
def test_convolutions_cost_what_pytorch_counts(text, shapes, wrt):
    torch = pytest.importorskip("torch")
    from torch.utils.flop_counter import FlopCounterMode

    for name in wrt:
        tensors = {n: t.detach().requires_grad_(n == name) for n, t in drawn(shapes).items()}
        with FlopCounterMode(display=False) as forward:
            out = run_torch(text, tensors)
        with FlopCounterMode(display=False) as back:
            torch.autograd.grad(out, tensors[name], torch.ones_like(out))
        found = cost(Analysis(pose(text, shapes=shapes, wrt=[name])))
        expected = forward.get_total_flops(), back.get_total_flops()
        assert (found.forward, found.vjp.times(1)) == expected


@pytest.mark.oracle
@pytest.mark.parametrize(("text", "shapes"), KEPT)
def test_pytorch_keeps_the_same(text, shapes):
    pytest.importorskip("torch")
    found = cost(Analysis(pose(text, shapes=shapes)))
    assert sum(size_of(n, "float64") for n in found.saved_tensors) == torch_saves(
        text, drawn(shapes)
    )


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_operators_keep_what_pytorch_keeps(request):
    torch = pytest.importorskip("torch")
    request.getfixturevalue("double_precision")
    count, other = 0, set()
    for example in (e for e in examples() if e.op.torch):
        problem = example.problem
        wrt = {x.name for x in problem.wrt} - fixed(problem)
        tensors = {n: torch.tensor(v, requires_grad=n in wrt) for n, v in example.values.items()}
        theirs, refused = refusal(lambda t=example.text, ts=tensors: torch_saves(t, ts))
        if refused is None:
            kept = cost(Analysis(problem)).saved_tensors
            count += 1
            if theirs != sum(size_of(n, "float64") for n in kept):
                other.add(example.op.name)
    assert count > 600
    assert other == ELSEWISE


def test_empty_tensors_that_are_kept_are_no_inputs():
    assert (
        "Together 0 bytes: these tensors are empty."
        in gradcli("explain", "relu(x)", "-s", "x=0x3", "--show", "cost").out
    )
