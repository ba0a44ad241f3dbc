"""Arguments that PyTorch refuses: gradcli refuses them too."""

import re

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")
pytest.importorskip("expecttest", reason="PyTorch's database of operators needs expecttest")

from op_db import bad_samples, entries  # noqa: E402
from support import run_torch  # noqa: E402

from gradcli.backends.numeric import Evaluator  # noqa: E402
from gradcli.errors import GradcliError  # noqa: E402
from gradcli.language.posing import pose  # noqa: E402

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("double_precision")]

# What PyTorch says of arguments that gradcli takes, since their meaning is plain.
TAKEN = {
    "a number where PyTorch has a tensor": r"must be Tensor, not int|invalid combination of arg",
    "integers as floats": r"Input dtype must be either|should be the same",
    "a 0-d tensor as a vector of one": "Dimension specified as 0 but tensor has no dim",
    "integers as a mask": "only supports boolean masks",
    "weights below 0": "weights cannot be negative",
}


def answer(text, values):
    """The value of an expression; raises GradcliError."""
    problem = pose(text, values=values)
    return Evaluator(problem.values)(problem.out)[0]


@pytest.mark.parametrize("name", [n for n, op in entries().items() if op.error_inputs_func])
def test_what_the_database_says_is_refused(name):
    for sample in bad_samples(name):
        try:
            run_torch(sample.text, {n: torch.tensor(v) for n, v in sample.values.items()})
        except Exception as error:
            if any(re.search(said, str(error)) for said in TAKEN.values()):
                continue
            with pytest.raises(GradcliError):
                answer(sample.text, sample.values)


PYTORCH_RAISES = (
    RuntimeError, TypeError, ValueError, IndexError, AttributeError, AssertionError
)  # fmt: skip
X, ROW, IMAGE = [1.0, -2.0], [[1.0, -2.0]], [[[1.0, 2.0]]]
ATTENTION = (  # its masks follow
    "F.multi_head_attention_forward(x, x, x, 2, 1, tensor([[1.0, 2.0]]).expand(6, -1), None, None, "
    "None, False, 0.0, eye(2), None, training=False"
)
KERNEL = {"x": IMAGE, "w": [[[1.0]]]}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("F.gelu(x, approximate='foo')", {"x": X}),
        ("F.softshrink(x, -1)", {"x": X}),
        ("F.softshrink(x, inf)", {"x": X}),
        ("F.celu(x, 0)", {"x": X}),
        ("F.hardtanh(x, 2, 1)", {"x": X}),
        ("F.rrelu(x, 0.5, 0.1)", {"x": X}),
        ("F.dropout(x, 1.5)", {"x": X}),
        ("F.dropout(x, -0.5, False)", {"x": X}),
        ("F.alpha_dropout(x, 2.0)", {"x": X}),
        ("torch.dropout(x, 0.5)", {"x": X}),
        ("F.dropout(x, 0.0, 'no')", {"x": X}),
        ("clamp(x)", {"x": X}),
        ("x[slice(0, stop=1)]", {"x": X}),
        ("x.clamp(None, None)", {"x": X}),
        ("x.sum(0, keepdim='yes')", {"x": X}),
        ("x.sum(1.5)", {"x": X}),
        ("x.quantile(1.5)", {"x": X}),
        ("x.kthvalue(3).values", {"x": X}),
        ("x.topk(3).values", {"x": X}),
        ("round(x, decimals=1.5)", {"x": X}),
        ("rot90(x, 1.5)", {"x": ROW}),
        ("torch.tile(x)", {"x": X}),
        ("torch.fake_quantize_per_tensor_affine(x, 0.1, 0, 12, -12)", {"x": X}),
        ("torch.fake_quantize_per_tensor_affine(x, 0.1, 20, -12, 12)", {"x": X}),
        ("torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -12.5, 12)", {"x": X}),
        (
            "torch.fake_quantize_per_channel_affine(x, tensor([1.0]).float(), tensor([20]).int(), "
            "1, -12, 12)",
            {"x": [[1.0], [2.0]]},
        ),
        ("torch.tile(x, (2,), dims=(3,))", {"x": X}),
        ("torch.hsplit(x, 2, sections=2)[0]", {"x": X}),
        ("torch.hsplit(x, 1, 2)[0]", {"x": X}),
        ("torch.tensor_split(x, indices=(1,), sections=2)[0]", {"x": X}),
        ("torch.split(x, 1, split_size=1)[0]", {"x": X}),
        ("x.new_zeros()", {"x": X}),
        ("x.new_ones(3, size=(2,))", {"x": X}),
        ("torch.searchsorted(tensor([3.0, 1.0, 2.0]), x, sorter=tensor([1, 2]))", {"x": X}),
        ("torch.searchsorted(x, x, right=True, side='left')", {"x": X}),
        ("torch.searchsorted(x, x, side='foo')", {"x": X}),
        ("polygamma(-1, x)", {"x": X}),
        ("mvlgamma(x, 0)", {"x": [3.0]}),
        ("fake_quantize_per_tensor_affine(x, tensor(0.5), tensor(0).int(), 1, 0)", {"x": X}),
        ("linalg.vander(x, N=-1)", {"x": X}),
        ("x.t()", {"x": IMAGE}),
        ("(x > 0).mean() * x", {"x": X}),
        ("torch.inner(x.int(), x.long()) * x", {"x": X}),
        ("torch.isclose(x.int(), x.long()) * x", {"x": X}),
        ("x.index_fill(0, tensor([[0]]), 1.0)", {"x": X}),
        ("scatter_add(x, 0, tensor([0, 1]), v)", {"x": X, "v": 1.0}),
        ("linalg.vander(x)", {"x": [2.0]}),
        ("F.embedding_bag(tensor([[0]]), x, padding_idx=0.5)", {"x": ROW}),
        ("torch.mean(x > 0, dim=0) * x", {"x": X}),
        ("x.prod([])", {"x": X}),
        ("torch.rad2deg(x, dtype=torch.float64)", {"x": X}),
        ("torch.sin(x, dtype=torch.float64)", {"x": X}),
        ("x.H", {"x": IMAGE}),
        ("cosine_similarity(x, x, 0, -1.0)", {"x": X}),
        ("cdist(x, x, -1.0)", {"x": ROW}),
        ("cdist(x, x, 2.0, 'foo')", {"x": ROW}),
        ("renorm(x, 2, 0, -1.0)", {"x": ROW}),
        ("F.binary_cross_entropy(x, t)", {"x": [1.5], "t": [1.0]}),
        ("F.binary_cross_entropy(x, t)", {"x": [0.5], "t": [-0.5]}),
        ("F.binary_cross_entropy(x, t)", {"x": [np.nan], "t": [1.0]}),
        ("F.binary_cross_entropy(x, t)", {"x": [0.5, 0.5], "t": [1.0]}),
        ("F.binary_cross_entropy_with_logits(x, t)", {"x": X, "t": ROW}),
        ("F.soft_margin_loss(x, t)", {"x": X, "t": ROW}),
        ("F.gaussian_nll_loss(x, x, v)", {"x": X, "v": [1.0, -1.0]}),
        ("F.huber_loss(x, x, delta=0)", {"x": X}),
        ("F.smooth_l1_loss(x, x, beta=-1)", {"x": X}),
        ("F.smooth_l1_loss(x, x, beta=nan)", {"x": X}),
        ("F.huber_loss(x, x, delta=nan)", {"x": X}),
        ("F.mse_loss(x, x, weight=w)", {"x": X, "w": [1.0]}),
        ("F.l1_loss(x, x, weight=w)", {"x": X, "w": ROW}),
        ("torch.cdist(x > 0, x)", {"x": ROW}),
        ("torch.cdist(x, x > 0)", {"x": ROW}),
        ("torch.vander(x)", {"x": ROW}),
        ("F.mse_loss(x, x, reduction='foo')", {"x": X}),
        ("F.cross_entropy(x, tensor([5]))", {"x": ROW}),
        ("F.cross_entropy(x, tensor([0]))", {"x": [[]]}),
        ("F.cross_entropy(x, tensor([0]), label_smoothing=2.0)", {"x": ROW}),
        ("F.nll_loss(x, tensor([0]), w)", {"x": ROW, "w": [1.0, 2.0, 3.0]}),
        *((f"F.triplet_margin_loss(x, x, x, margin={m})", {"x": ROW}) for m in (0.0, -1.0)),
        ("F.multi_margin_loss(x, tensor([0]), p=3)", {"x": ROW}),
        ("F.batch_norm(x, None, None, training=True, eps=-1.0)", {"x": [*ROW, *ROW]}),
        ("F.group_norm(x, 3)", {"x": ROW}),
        ("F.group_norm(x, 2)", {"x": ROW}),
        ("torch.dot(x, w)", {"x": X, "w": [1.0]}),
        ("torch.histc(x, 0) * x.sum()", {"x": X}),
        ("torch.histc(x, -1) * x.sum()", {"x": X}),
        ("F.conv1d(x, w, b)", {**KERNEL, "b": [1.0, 2.0]}),
        ("F.conv1d(x, w, padding=-1)", KERNEL),
        ("F.conv1d(x, w, stride=0)", KERNEL),
        ("F.conv1d(x, w, stride=True)", KERNEL),
        ("F.max_pool1d(x, True)", {"x": IMAGE}),
        ("x.view(True, 2)", {"x": ROW}),
        ("F.conv_transpose1d(x, w, padding=-1)", KERNEL),
        ("F.conv_transpose1d(x, w, padding=7)", KERNEL),
        ("F.conv_transpose1d(x, w, b)", {**KERNEL, "b": [1.0, 2.0]}),
        ("F.max_pool1d(x, -1)", {"x": IMAGE}),
        ("F.max_pool1d(x, 2, ceil_mode='foo')", {"x": IMAGE}),
        ("F.avg_pool1d(x, 2, padding=-1)", {"x": IMAGE}),
        ("F.avg_pool1d(x, 3)", {"x": IMAGE}),
        ("F.interpolate(x, size=0)", {"x": IMAGE}),
        ("F.grid_sample(x, g, 'bicubic', align_corners=False)",
         {"x": [[IMAGE]], "g": [[[[[0.0] * 3]]]]}),
        ("torch.chain_matmul([x, x])", {"x": [[1.0]]}),
        ("F.glu(x)", {"x": [1.0, 2.0, 3.0]}),
        ("F.embedding(tensor([3]), w)", {"w": ROW}),
        ("bilinear(x, y, w)", {"x": [*ROW, *ROW], "y": ROW, "w": [[[1.0, 2.0], [3.0, 4.0]]]}),
        ("cov(x, aweights=a)", {"x": [*ROW, *ROW], "a": [1.0, 2.0, 3.0]}),
        ("cov(x, aweights=a)", {"x": [*ROW, *ROW], "a": [1.0, -1.0]}),
        ("cov(x, aweights=tensor([1, 2]))", {"x": [*ROW, *ROW]}),
        ("cov(x, fweights=tensor([2, -1]))", {"x": [*ROW, *ROW]}),
        ("cov(x, fweights=tensor([0, 0]))", {"x": [*ROW, *ROW]}),
        ("cov(x, correction=1.5)", {"x": [*ROW, *ROW]}),
        ("householder_product(x, t)", {"x": ROW, "t": [1.0]}),
        ("linalg.lu_factor(x)[0]", {"x": [[1.0, 2.0], [2.0, 4.0]]}),
        ("x * linalg.lu_factor(x).pivots", {"x": [[1.0, 2.0], [2.0, 4.0]]}),
        ("linalg.lu_factor_ex(x, check_errors=True)[0]", {"x": [[0.0, 1.0], [0.0, 2.0]]}),
        ("where(tensor([1, 0]), x, 0.0)", {"x": X}),
        ("x.masked_fill(tensor([1, 0]), 0.0)", {"x": X}),
        ("x.masked_scatter(tensor([1, 0]), x)", {"x": X}),
        ("masked_select(x, tensor([1, 0]))", {"x": X}),
        ("F.max_unpool1d(x, tensor([[[0, 1]]]), 2, output_size=(9,))", {"x": [ROW]}),
        ("F.max_unpool1d(x, tensor([[[0, 1]]]), 2, output_size=(4, 4))", {"x": [ROW]}),
        ("trapz(x, tensor([1.0, 2.0, 4.0]))", {"x": X}),
        ("trapz(x, tensor([1.0, 2.0]), dim=0)", {"x": ROW}),
        ("cumulative_trapezoid(x, tensor([1.0]))", {"x": X}),
        ("tril(x, 1.0)", {"x": ROW}),
        ("triu(x, True)", {"x": ROW}),
        ("roll(x, 1.0)", {"x": X}),
        ("roll(x, None)", {"x": X}),
        ("x.unfold(0, 2.0, 1)", {"x": X}),
        ("x.expand(-1.0, 2)", {"x": X}),
        ("chunk(x, 2.0)[0]", {"x": X}),
        ("layer_norm(x, (2.0,))", {"x": ROW}),
        ("layer_norm(x, 2)", {"x": ROW}),
        ("F.cross_entropy(x, tensor([0]), ignore_index=1.0)", {"x": ROW}),
        ("F.embedding(tensor([0]), x, padding_idx=0.0)", {"x": ROW}),
        ("F.avg_pool2d(x, 1, divisor_override=2.0)", {"x": [[[1.0]]]}),
        ("F.interpolate(x, 2.0)", {"x": [ROW]}),
        ("F.local_response_norm(x, 2.0)", {"x": [ROW]}),
        ("linalg.lstsq(x, tensor([1.0, 2.0]))[0]", {"x": [[[1.0, 2.0], [3.0, 4.0]]]}),
        ("linalg.lstsq(x, x[None])[0]", {"x": [[1.0, 2.0], [3.0, 4.0]]}),
        ("cholesky_inverse(x)", {"x": [[0.5, 0.0], [0.3, 0.0]]}),
        ("linalg.lu_solve(x, tensor([0, 1]), x)", {"x": [[1.0, 2.0], [3.0, 4.0]]}),
        ("linalg.lu_solve(x, tensor([3, 2]), x)", {"x": [[1.0, 2.0], [3.0, 4.0]]}),
        ("lu_unpack(x, tensor([0, 1])).P @ x", {"x": [[1.0, 2.0], [3.0, 4.0]]}),
        ("lu_solve(b, x, tensor([1]))", {"x": [[1.0, 2.0], [3.0, 4.0]], "b": [[1.0], [2.0]]}),
        ("cholesky(x)", {"x": [[1.0, 2.0], [2.0, 1.0]]}),
        ("cholesky(x)", {"x": [[1.0, np.nan], [np.nan, 2.0]]}),
        ("x * cholesky_ex(x, check_errors=True).info", {"x": [[1.0, 2.0], [2.0, 1.0]]}),
        ("cholesky(x)", {"x": [[np.inf, -np.inf], [-np.inf, np.inf]]}),
        ("inv(x)", {"x": [[1.0, 2.0], [2.0, 4.0]]}),
        ("linalg.svdvals(x)", {"x": [[1.0, np.nan], [2.0, 4.0]]}),
        ("linalg.svd(x)[0]", {"x": [[1.0, np.nan], [2.0, 4.0]]}),
        ("linalg.pinv(x)", {"x": [[1.0, np.nan], [2.0, 4.0]]}),
        ("linalg.cond(x)", {"x": [[1.0, np.nan], [2.0, 4.0]]}),
        ("torch.adaptive_max_pool1d(x, 1).sum()", {"x": IMAGE}),
        ("F.ctc_loss(x, tensor([[1]]), (1,), (1,), blank=2)", {"x": IMAGE}),
        *((f"x.{f}", {"x": [1.0], "y": 2.0}) for f in (
            "index_add(0, tensor([0]), y)", "index_reduce(0, tensor([0]), y, 'amax')",
        )),
        (f"{ATTENTION}, is_causal=True)[0]", {"x": ROW}),
        ("F.multi_margin_loss(x, tensor([1]), weight=tensor([1.0, 2.0, 3.0]))", {"x": ROW}),
        ("F.multilabel_margin_loss(x, tensor([[0, 2]]))", {"x": ROW}),
        ("F.multilabel_margin_loss(x, tensor([[-1, -2]]))", {"x": ROW}),
        ("linalg.cond(x, 'nuc')", {"x": ROW}),
        ("torch.quantile(x, tensor([0.0, 2.0]))", {"x": X}),
        ("torch.arange(0, 1, 0) * x.sum()", {"x": X}),
        ("torch.cat(x)", {"x": ROW}),
        ("torch.cat(x, 0)", {"x": ROW}),
        ("torch.stack(x, x)", {"x": ROW}),
        ("torch.hstack(x)", {"x": ROW}),
        ("torch.vstack(x, x)", {"x": ROW}),
        ("x.prod((0, 1))", {"x": ROW}),
        ("x.prod(())", {"x": ROW}),
        ("x.T()", {"x": ROW}),
        ("torch.arange(3, 0) * x.sum()", {"x": X}),
        ("x - (x > 1)", {"x": X}),
        ("1 - (x > 1)", {"x": X}),
        ("x - True", {"x": X}),
        ("x * -(x > 1)", {"x": X}),
        ("torch.sub(x, x > 1)", {"x": X}),
        ("torch.rsub(x > 1, x)", {"x": X}),
        ("x @ (x > 1)", {"x": X}),
        ("torch.inner(x > 1, x)", {"x": X}),
        ("mv(y, x > 1)", {"x": X, "y": ROW}),
        ("F.linear(x, y > 1)", {"x": X, "y": ROW}),
        ("F.linear(x, tensor([[1.0, 2.0]]), tensor([1.0, 2.0]))", {"x": ROW}),
        ("tensordot(y, x > 1, 1)", {"x": X, "y": ROW}),
        ("F.cosine_embedding_loss(x[None], x[None], tensor([[1.0, -1.0]]))", {"x": ROW}),
        ("F.cosine_embedding_loss(x, x, tensor(1.0))", {"x": ROW}),
        ("F.cosine_embedding_loss(x, x[0], tensor([1.0]))", {"x": ROW}),
        ("F.affine_grid(x, (1, 1, 2), False)", {"x": [ROW]}),
        ("F.affine_grid(x, (1, 1, 2, 2), False)", {"x": ROW}),
        ("F.affine_grid(x.expand(1, 2, 3), (1, 1, 0, 2), False)", {"x": [[[1.0], [2.0]]]}),
        ("F.scaled_dot_product_attention(x.expand(1, 3, 2, 2), x, x, enable_gqa=True)",
            {"x": np.ones((1, 2, 2, 2))}),
        ("torch.rnn_tanh(x[None], x, [tensor([[1.0]])] * 2, False, 1, 0.0, False, False, False)[0]",
            {"x": [[1.0]]}),
    ],
)  # fmt: skip
def test_refused(text, values):
    values = {name: np.array(value) for name, value in values.items()}
    with pytest.raises(PYTORCH_RAISES):
        run_torch(text, {name: torch.tensor(value) for name, value in values.items()})
    with pytest.raises(GradcliError):
        answer(text, values)


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("F.scaled_dot_product_attention(x, x, x, x, is_causal=True)", {"x": (2, 2)}),
        ("F.multi_head_attention_forward(x, x, x, 3, 1, w, None, None, None, False, 0.0, eye(2), "
         "None, training=False)[0]", {"x": (1, 2), "w": (6, 2)}),
        ("F.multi_margin_loss(x, tensor([0]))", {"x": (1, 1, 2)}),
        ("tensordot(x, x, ((0, 1), (0,)))", {"x": (2, 2)}),
        ("tensordot(x, x, ((0, 0), (0, 1)))", {"x": (2, 2)}),
        ("F.conv1d(x, w, groups=0)", {"x": (1, 2, 3), "w": (2, 2, 1)}),
        ("torch.convolution(x, w, None, (1,), (0,), (1,), False, (0,), 1)",
         {"x": (2, 2), "w": (2, 2)}),
        ("torch.range(1, 0) * x.sum()", {"x": (2,)}),
        ("torch.range(0, 1, 0) * x.sum()", {"x": (2,)}),
        ("torch.hann_window(-1) * x.sum()", {"x": (2,)}),
        ("torch.hann_window(2.5) * x.sum()", {"x": (2,)}),
        ("linalg.lu(x, pivot=False)[2]", {"x": (2, 2)}),
        ("linalg.lu_factor(x, pivot=False)[0]", {"x": (2, 2)}),
        ("cdist(x > 0, x > 0)", {"x": (2, 2)}),
        ("cdist(x, y)", {"x": (2, 2), "y": (2, 3)}),
        ("F.embedding(tensor([0]), w)", {"w": (2,)}),
        ("F.embedding(tensor([0]), w, padding_idx=2)", {"w": (2, 2)}),
        ("F.embedding(tensor([0]), w, padding_idx=-3)", {"w": (2, 2)}),
        ("F.embedding_bag(tensor([[0]]), w, mode='foo')", {"w": (2, 2)}),
        ("F.embedding_bag(tensor([[0]]), w, mode='mean', per_sample_weights=y)",
         {"w": (2, 2), "y": (1, 1)}),
        ("F.embedding_bag(tensor([0, 1]), w)", {"w": (2, 2)}),
        ("F.embedding_bag(tensor([0, 1]), w, tensor([[0]]))", {"w": (2, 2)}),
        ("F.embedding_bag(tensor([0, 1]), w, tensor([1, 2]))", {"w": (2, 2)}),
        ("linalg.solve(x, y)", {"x": (2, 2), "y": (3,)}),
        ("linalg.tensorinv(x, 0)", {"x": (2, 2)}),
        *((f"torch.einsum('{e}', x)", {"x": (2, 2)}) for e in ("ij->ii", "ij->ik", "i1->i")),
        ("block_diag(x, x)", {"x": (1, 2, 2)}),
        ("meshgrid(x, x, indexing='xx')[0]", {"x": (2,)}),
        ("meshgrid(x, x)[0]", {"x": (2, 2)}),
        ("cartesian_prod(x, x)", {"x": (2, 2)}),
        ("combinations(x)", {"x": (2, 2)}),
        ("combinations(x, -1)", {"x": (2,)}),
        ("torch.searchsorted(x, y) * y", {"x": (2, 3), "y": (3, 1)}),
        ("linalg.lstsq(x, x, driver='foo')[0]", {"x": (2, 2)}),
        ("x.argmax() * x", {"x": (0,)}),
        ("x.max(1).values", {"x": (2, 0)}),
        ("F.pad(x, (1, 1), 'reflect', value=2)", {"x": (1, 1, 3)}),
        ("F.pad(x, (1, 1), 'reflect')", {"x": (3,)}),
        ("F.pad(x, (1, 1, 1, 1), 'circular')", {"x": (1, 3)}),
        ("F.pad(x, (-2, -2))", {"x": (3,)}),
        ("F.pad(x, (-4, 5))", {"x": (3,)}),
        ("F.pad(x, (3, 0), 'reflect')", {"x": (1, 1, 3)}),
        ("F.pad(x, (4, 0), 'circular')", {"x": (1, 1, 3)}),
        ("addmm(y, x, x)", {"x": (2, 2), "y": (3, 2)}),
        ("addmv(y, x, x[0])", {"x": (2, 2), "y": (2, 2)}),
        ("linalg.multi_dot((x,))", {"x": (2, 2)}),
        ("linalg.multi_dot((x, x, x))", {"x": (2,)}),
        ("matrix_power(x, 1.5)", {"x": (2, 2)}),
        ("torch.lstm_cell(x, (x,), w, w)[0]", {"x": (1, 1), "w": (4, 1)}),
        ("torch.rnn_tanh(x, x, [w], False, 1, 0.0, False, False, False)[0]",
         {"x": (1, 1, 1), "w": (1, 1)}),
        ("torch.rnn_tanh(x, x, [w, w], False, 1, 0.0, False, False, False)[0]",
         {"x": (1,), "w": (1, 1)}),
        ("F.interpolate(x, scale_factor=0.1)", {"x": (1, 1, 3)}),
        ("F.interpolate(x, 2)", {"x": (1, 0, 3)}),
        ("F.interpolate(x, 2)", {"x": (1, 1, 0)}),
        ("div(x, x, rounding_mode='up')", {"x": (2,)}),
        ("F.grid_sample(x, g, align_corners=False)", {"x": (1, 1, 0, 2), "g": (1, 1, 1, 2)}),
        ("x.put(tensor([0, 1]), y)", {"x": (3,), "y": (3,)}),
        ("x.put(tensor([[0, 1]]), y)", {"x": (3,), "y": (3,)}),
        ("segment_reduce(x, 'sum')", {"x": (3,)}),
        ("segment_reduce(x, 'sum', lengths=tensor([1, 1]))", {"x": (3,)}),
        ("take_along_dim(x, tensor([0]), 0)", {"x": (2, 2)}),
        ("take_along_dim(x, x > 0, 0)", {"x": (2, 2)}),
        ("index_select(x, 0, tensor([[0]]))", {"x": (2,)}),
        ("repeat_interleave(x, tensor([1, 2]), output_size=4)", {"x": (2,)}),
        ("flatten(x, 1, 0)", {"x": (2, 2)}),
        ("x.expand(-1, 2, 2)", {"x": (2, 2)}),
        ("x.expand(3, -1)", {"x": (2, 2)}),
        ("x.index_add(0, tensor([0, 1]), y)", {"x": (2, 2), "y": (3, 2)}),
        ("x.index_copy(0, tensor([0, 1]), y)", {"x": (2, 2), "y": (2, 3)}),
        ("x.index_reduce(0, tensor([0, 1]), x, 'sum')", {"x": (2, 2)}),
        ("torch.tensor_split(x, 2)[0]", {"x": ()}),
        ("torch.hsplit(x, 2)[0]", {"x": (3,)}),
        ("torch.vsplit(x, 1)[0]", {"x": (3,)}),
        ("quantile(x, 0.5)", {"x": (0,)}),
        ("norm(x, inf)", {"x": (0,)}),
        ("linalg.vector_norm(x, -1, dim=1)", {"x": (2, 0)}),
        ("F.max_pool1d(x, 2, padding=2)", {"x": (1, 1, 3)}),
        ("F.batch_norm(x, None, None)", {"x": (2, 2)}),
        ("F.instance_norm(x, use_input_stats=False)", {"x": (2, 2, 2)}),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:torch.range is deprecated:UserWarning")
def test_what_does_not_fit_is_refused(text, shapes):
    test_refused(text, {name: np.ones(shape) for name, shape in shapes.items()})


@pytest.mark.parametrize("text", ["x.T.as_strided((2,), (1,))", "x[1:].as_strided((1,), (1,))"])
def test_counting_through_the_memory_of_another_tensor_is_refused(text):
    """PyTorch answers, with elements of x: a view keeps no memory of its own here."""
    with pytest.raises(GradcliError, match="indexes the storage"):
        answer(text, {"x": np.ones((2, 3))})


LINEAR_ALGEBRA = [
    *("inv_ex(M)[0]", "solve_ex(M, M)[0]", "tensorinv(M, 1)", "tensorsolve(M, M[0])"),
    *("lu(M)[1]", "lu_factor(M)[0]", "lu_factor_ex(M)[0]", "qr(M)[1]", "svd(M)[1]", "eigh(M)[0]"),
    *("pinv(M)", "norm(M)", "slogdet(M)[1]", "cholesky_ex(M)[0]", "vecdot(M, M)"),
]
OF_FLOATS = [
    *(f"torch.linalg.{text}" for text in LINEAR_ALGEBRA),
    *("torch.qr(M)[1]", "torch.svd(M)[1]", "torch.slogdet(M)[1]", "torch.pinverse(M)"),
    *("torch.triangular_solve(M, M)[0]", "torch.frexp(M)[0]", "torch.dist(M, M)", "torch.norm(M)"),
    *("M.norm()", "torch.var_mean(M)[0]", "torch.std_mean(M)[0]", "torch.lu_solve(M, M, M[0])"),
    *("F.softmax(M, 0)", "F.log_softmax(M, 0)", "F.softmin(M, 0)", "F.rrelu(M)"),
    *("F.layer_norm(M, (2,))", "F.batch_norm(M, None, None, None, None, True)"),
]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("text", OF_FLOATS)
def test_integers_are_refused_where_pytorch_takes_floats(text):
    integers = "tensor([[2, 1], [1, 3]])"
    text = f"({text.replace('M', integers)}).sum() * x"
    with pytest.raises(PYTORCH_RAISES):
        run_torch(text, {"x": torch.tensor(1.0)})
    with pytest.raises(GradcliError, match="takes floating-point numbers"):
        answer(text, {"x": 1.0})


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("text", [
    *("torch.linalg.solve_ex(x, M)[0]", "torch.linalg.tensorsolve(x, M[0])"),
    *("torch.linalg.lstsq(x, M)[0]", "torch.linalg.vecdot(x, M)", "torch.lu_solve(M, x, M[0])"),
    *("torch.triangular_solve(M, x)[0]", "F.batch_norm(x, None, None, M[0], None, True)"),
    "torch.native_layer_norm(x, [2], M[0], None, 1)[0]",
    "F.linear_cross_entropy(M, x, M[0] - 1)",
])  # fmt: skip
def test_integers_beside_floats_are_refused_where_pytorch_takes_one_dtype(text):
    text, x = text.replace("M", "tensor([[2, 1], [1, 3]])"), np.array([[2.0, 1.0], [1.0, 3.0]])
    with pytest.raises(PYTORCH_RAISES):
        run_torch(text, {"x": torch.tensor(x)})
    with pytest.raises(GradcliError, match="cannot combine integers and floats"):
        answer(text, {"x": x})
