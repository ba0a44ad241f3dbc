"""Shapes that nobody gave: what fixes them, and what is assumed where nothing does."""

import pytest
from console import gradcli as run

import gradcli
from gradcli.errors import GradcliError
from gradcli.language.posing import pose


def inferred(text, **given):
    """Shape and assumed axes of every input, and the shape of the output."""
    problem = pose(text, **given)
    return {i.name: (i.shape, i.assumed) for i in problem.inputs.values()}, problem.out.shape


def shapes(text, **given):
    found, out = inferred(text, **given)
    return {name: shape for name, (shape, _) in found.items()} | {"out": out}


def test_the_flagship():
    found, out = inferred("x@a", grad="[[1,2,3,4],[5,6,7,8]]")
    assert found == {"x": ((2, 3), (1,)), "a": ((3, 4), (0,))}
    assert out == (2, 4)


def test_what_is_given_is_not_assumed():
    found, _ = inferred("x @ a", shapes={"a": (5, 7)})
    assert found == {"x": ((2, 5), (0,)), "a": ((5, 7), ())}
    found, _ = inferred("x @ a", values={"a": [[1.0, 2.0]]}, grad=[[1.0, 2.0], [3.0, 4.0]])
    assert found == {"x": ((2, 1), ()), "a": ((1, 2), ())}


SEED_23 = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
CASES = [
    ("relu(x@W+b)", {}, dict(x=(2, 3), W=(3, 4), b=(4,), out=(2, 4))),
    ("mm(x, W) + b", {}, dict(x=(2, 3), W=(3, 4), b=(4,), out=(2, 4))),
    (
        *("mse_loss(relu(x@W+b)@V, t)", {}),
        dict(x=(2, 3), W=(3, 4), b=(4,), V=(4, 5), t=(2, 5), out=()),
    ),
    ("((X@w-y)**2).mean()", {}, dict(X=(2, 3), w=(3,), y=(2,), out=())),
    ("norm(X@w-y)**2 + lam*norm(w)**2", {}, dict(X=(2, 3), w=(3,), y=(2,), lam=(), out=())),
    ("x @ A @ y", {}, dict(x=(2,), A=(2, 3), y=(3,), out=())),
    ("x.T @ A @ x", {}, dict(x=(2,), A=(2, 2), out=())),
    ("0.5 * x @ Q @ x - b @ x", {}, dict(x=(2,), Q=(2, 2), b=(2,), out=())),
    ("0.5 * x.T @ Q @ x - b.T @ x", {}, dict(x=(2,), Q=(2, 2), b=(2,), out=())),
    ("(x - m) @ inv(S) @ (x - m)", {}, dict(x=(2,), m=(2,), S=(2, 2), out=())),
    ("x @ W1 @ W2", {}, dict(x=(2, 3), W1=(3, 4), W2=(4, 5), out=(2, 5))),
    ("trace(X @ w @ w.T)", {}, dict(X=(2, 2), w=(2, 3), out=())),
    ("w @ w", {}, dict(w=(2,), out=())),
    ("x.expand(4, 3)", {}, dict(x=(3,), out=(4, 3))),
    ("relu(x[1:]).expand(4, 3)", {}, dict(x=(4,), out=(4, 3))),
    ("inv(A) @ b", {}, dict(A=(2, 2), b=(2,), out=(2,))),
    # the rank of X.T @ X is at most either size of X
    ("inv(X.T @ X) @ X.T @ y", {}, dict(X=(3, 2), y=(3,), out=(2,))),
    ("logdet(X @ X.T)", {}, dict(X=(2, 3), out=())),
    ("det(-2 * X.T @ A @ X)", {}, dict(X=(3, 2), A=(3, 3), out=())),
    ("h = X.T @ X; cholesky(h)", {}, dict(X=(3, 2), out=(2, 2))),
    (f"h = X.T @ X; {40 * 'h = h @ h; '}det(h)", {}, dict(X=(3, 2), out=())),
    ("inv(X.T @ X + eye(X.shape[1]))", {}, dict(X=(2, 3), out=(3, 3))),
    ("logdet(X.T @ X)", dict(shapes={"X": (2, 3)}), dict(X=(2, 3), out=())),
    (
        *("norm(x)**2/2 + lam.T@(A@x-b)", {}),
        dict(x=(2,), lam=(3,), A=(3, 2), b=(3,), out=()),
    ),
    (
        *("x@x/2 - lam@(b-A@x)", {}),
        dict(x=(2,), lam=(3,), A=(3, 2), b=(3,), out=()),
    ),
    ("(X@w-y).mean() + lam*w@w", {}, dict(X=(2, 3), w=(3,), y=(2,), lam=(), out=())),
    (
        *("inv(X.T@X+lam*eye(X.shape[1]))@X.T@y", {}),
        dict(X=(2, 3), lam=(), y=(2,), out=(3,)),
    ),
    ("logdet(A + c*eye(A.shape[0]))", {}, dict(A=(2, 2), c=(), out=())),
    ("X * eye(3)", {}, dict(X=(3, 3), out=(3, 3))),
    ("x * eye(3)", {}, dict(x=(3,), out=(3, 3))),
    ("s**2 * eye(3)", {}, dict(s=(), out=(3, 3))),
    ("K + torch.eye(K.shape[0]) * exp(t)", {}, dict(K=(2, 2), t=(), out=(2, 2))),
    ("kl_div(x, softmax(y, 1))", {}, dict(x=(2, 3), y=(2, 3), out=())),
    ("cosine_similarity(x, y, dim=0)", {}, dict(x=(2, 3), y=(2, 3), out=(3,))),
    ("linear(x, W)", {}, dict(x=(2, 3), W=(4, 3), out=(2, 4))),
    ("outer(x, y) * A", {}, dict(x=(2,), y=(3,), A=(2, 3), out=(2, 3))),
    ("y - lam*norm(w, 1)", {}, dict(y=(2,), lam=(), w=(3,), out=(2,))),
    ("norm(X-U@V)**2", {}, dict(X=(2, 3), U=(2, 4), V=(4, 3), out=())),
    ("X@w+b", {}, dict(X=(2, 3), w=(3,), b=(), out=(2,))),
    ("W@x+b", {}, dict(W=(2, 3), x=(3,), b=(2,), out=(2,))),
    ("softmax(X@w+b, 1)", {}, dict(X=(2, 3), w=(3, 4), b=(4,), out=(2, 4))),
    ("softmax(q @ k.T, dim=-1) @ v", {}, dict(q=(2, 3), k=(4, 3), v=(4, 5), out=(2, 5))),
    ("softmax(q @ k.t(), dim=-1) @ v", {}, dict(q=(2, 3), k=(4, 3), v=(4, 5), out=(2, 5))),
    ("w.t() @ x", {}, dict(w=(2,), x=(2,), out=())),
    ("x.t()", {}, dict(x=(2, 3), out=(3, 2))),
    ("a * b", dict(grad=SEED_23), dict(a=(2, 3), b=(2, 3), out=(2, 3))),
    ("a * b", dict(grad="ones(2, 3)"), dict(a=(2, 3), b=(2, 3), out=(2, 3))),
    ("a * b", {}, dict(a=(2,), b=(2,), out=(2,))),
    ("x.sum()", {}, dict(x=(2,), out=())),
    ("x @ w", dict(grad=[1.0, 2.0, 3.0, 4.0]), dict(x=(4, 2), w=(2,), out=(4,))),
    ("x @ w", dict(grad=2.0), dict(x=(2,), w=(2,), out=())),
    ("x @ a", dict(grad="a"), dict(x=(2, 2), a=(2, 3), out=(2, 3))),
    ("matmul(a, b)", {}, dict(a=(2, 3), b=(3, 4), out=(2, 4))),
    ("x.T @ x", {}, dict(x=(2, 3), out=(3, 3))),
    ("softmax(x, dim=1)", {}, dict(x=(2, 3), out=(2, 3))),
    ("x.permute(2, 0, 1)", {}, dict(x=(2, 3, 4), out=(4, 2, 3))),
    ("x.reshape(2, 3) @ y", {}, dict(x=(6,), y=(3, 2), out=(2, 2))),
    ("x.view(-1, 4)", {}, dict(x=(4,), out=(1, 4))),
    ("x[5] * y", {}, dict(x=(6,), y=(2,), out=(2,))),
    ("x[:, 3]", {}, dict(x=(2, 4), out=(2,))),
    ("det(x)", {}, dict(x=(2, 2), out=())),
    ("solve(A, b)", {}, dict(A=(2, 2), b=(2,), out=(2,))),
    ("mv(A, x)", {}, dict(A=(2, 3), x=(3,), out=(2,))),
    ("bmm(a, b)", {}, dict(a=(2, 3, 4), b=(2, 4, 5), out=(2, 3, 5))),
    ("einsum('ij,jk->ik', a, b)", {}, dict(a=(2, 3), b=(3, 4), out=(2, 4))),
    ("einsum('bhqd,bhkd->bhqk', q, k)", {}, dict(q=(2, 3, 4, 5), k=(2, 3, 6, 5), out=(2, 3, 4, 6))),
    ("linear(x, w, b)", {}, dict(x=(2, 3), w=(4, 3), b=(4,), out=(2, 4))),
    ("softmax(x, dim=0)", {}, dict(x=(2,), out=(2,))),  # diag(p) - outer(p, p), as in textbooks
    ("softmax(x, dim=0) @ y", {}, dict(x=(2, 3), y=(3, 4), out=(2, 4))),
    ("softmax(x, dim=-1)", {}, dict(x=(2, 3), out=(2, 3))),
    ("x.cumsum(0)", {}, dict(x=(2,), out=(2,))),
    ("x.sum(0)", {}, dict(x=(2, 3), out=(3,))),
    ("layer_norm(x, (5,), w, b)", {}, dict(x=(5,), w=(5,), b=(5,), out=(5,))),
    ("cat([x, y], dim=1)", {}, dict(x=(2, 3), y=(2, 4), out=(2, 7))),
    ("cross_entropy(x, y)", dict(values={"y": [0, 1]}), dict(x=(2, 3), y=(2,), out=())),
    ("x.gather(1, i)", dict(values={"i": [[0, 1], [2, 0]]}), dict(x=(3, 4), i=(2, 2), out=(2, 2))),
    ("x.gather(1, i)", dict(values={"i": [[0], [2]]}), dict(x=(2, 3), i=(2, 1), out=(2, 1))),
    ("x[arange(len(y)), y]", dict(values={"y": [0, 1]}), dict(x=(2, 3), y=(2,), out=(2,))),
    ("x * y + z", dict(shapes={"y": (2, 1)}), dict(x=(3,), y=(2, 1), z=(3,), out=(2, 3))),
    ("norm(x - y)", dict(values={"x": [1.0, 2.0]}), dict(x=(2,), y=(2,), out=())),
    ("x ** 2 + y", dict(grad=5.0), dict(x=(), y=(), out=())),
    ("h = x @ W; (h * h).sum()", {}, dict(x=(2, 3), W=(3, 4), out=())),
    ("x + y", dict(shapes={"x": (0, 3)}), dict(x=(0, 3), y=(3,), out=(0, 3))),
    ("x + y", dict(shapes={"x": (2, 0)}), dict(x=(2, 0), y=(0,), out=(2, 0))),
    ("x @ y", dict(shapes={"x": (2, 0)}), dict(x=(2, 0), y=(0, 3), out=(2, 3))),
    ("softmax(x, -1)", {}, dict(x=(2, 3), out=(2, 3))),
    ("x.T", {}, dict(x=(2, 3), out=(3, 2))),
    ("h = 2 * x; np.mean(tanh(h), axis=0)", {}, dict(x=(2, 3), out=(3,))),
    ("x.sum(0) + b", {}, dict(x=(2, 3), b=(3,), out=(3,))),
    ("softmax(x @ W + b, -1)", {}, dict(x=(2, 3), W=(3, 4), b=(4,), out=(2, 4))),
    ("softmax(x, -1)", dict(grad=[1.0, 2.0, 3.0]), dict(x=(3,), out=(3,))),
    ("stack([x, y], 0)", {}, dict(x=(2,), y=(2,), out=(2, 2))),
    ("kron(A, B) @ C", {}, dict(A=(2, 3), B=(4, 5), C=(15, 6), out=(8, 6))),
    ("kron(A, B) @ kron(C, D)", {}, dict(A=(2, 3), B=(4, 5), C=(3, 6), D=(5, 7), out=(8, 42))),
    ("cross(x, y)", {}, dict(x=(3,), y=(3,), out=(3,))),
    ("x.unbind(1)[0]", {}, dict(x=(2, 3), out=(2,))),
    ("x.split([1, 2], 1)[1]", {}, dict(x=(2, 3), out=(2, 2))),
    ("x.hsplit(3)[0]", {}, dict(x=(6,), out=(2,))),
    ("linalg.norm(x, ord='nuc')", {}, dict(x=(2, 3), out=())),
    ("x.unsqueeze(0)", {}, dict(x=(2,), out=(1, 2))),
    ("w.T @ x + b", {}, dict(w=(2,), x=(2,), b=(), out=())),
    ("log(1 + exp(-y * (w.T @ x + b)))", {}, dict(y=(), w=(2,), x=(2,), b=(), out=())),
    ("(y - w.T @ x - b)**2", {}, dict(y=(), w=(2,), x=(2,), b=(), out=())),
    ("mu + sigma * eps", {}, dict(mu=(2,), sigma=(2,), eps=(2,), out=(2,))),
    ("x / (norm(x) + eps)", {}, dict(x=(2,), eps=(), out=(2,))),
    ("exp(-gamma * norm(x - y)**2)", {}, dict(gamma=(), x=(2,), y=(2,), out=())),
    ("q @ k.T / sqrt(d)", {}, dict(q=(2, 3), k=(4, 3), d=(), out=(2, 4))),
    ("(X @ w - y) @ (X @ w - y)", {}, dict(X=(2, 3), w=(3,), y=(2,), out=())),
    ("b @ log(X @ w)", {}, dict(b=(2,), X=(2, 3), w=(3,), out=())),
    ("log(X @ w) @ y", {}, dict(X=(2, 3), w=(3,), y=(2, 4), out=(4,))),
    ("y - w.T @ x", {}, dict(y=(), w=(2,), x=(2,), out=())),
    ("y - w @ x", {}, dict(y=(2, 3), w=(2, 4), x=(4, 3), out=(2, 3))),
    ("inv(A - c * B)", {}, dict(A=(2, 2), c=(), B=(2, 2), out=(2, 2))),
    ("A - c * B", {}, dict(A=(2,), c=(2,), B=(2,), out=(2,))),
    ("sum(x**2) + s * norm(w)", {}, dict(x=(2,), s=(), w=(3,), out=())),
    ("x + K @ (z - H @ x)", {}, dict(x=(2,), K=(2, 3), z=(3,), H=(3, 2), out=(2,))),
    ("x @ (A * B) @ y", {}, dict(x=(2,), A=(2, 3), B=(2, 3), y=(3,), out=())),
    ("(eye(P.shape[0]) - d * P) @ v", {}, dict(P=(2, 2), d=(), v=(2,), out=(2,))),
    ("solve(eye(P.shape[0]) - d * P, v)", {}, dict(P=(2, 2), d=(), v=(2,), out=(2,))),
    ("outer(x, y) @ z", {}, dict(x=(2,), y=(3,), z=(3,), out=(2,))),
    ("(A + B) @ x", {}, dict(A=(2, 3), B=(2, 3), x=(3,), out=(2,))),
    ("relu(x @ W1 + b1) @ W2", {}, dict(x=(2, 3), W1=(3, 4), b1=(4,), W2=(4, 5), out=(2, 5))),
    ("E[t].mean(0)", dict(values={"t": [0, 1, 1, 0]}), dict(E=(2, 3), t=(4,), out=(3,))),
    ("X * Y", dict(grad=[1.0, 2.0]), dict(X=(2,), Y=(2,), out=(2,))),
    ("q @ k.T / d**0.5", {}, dict(q=(2, 3), k=(4, 3), d=(), out=(2, 4))),
    ("linear(x, W, b)", {}, dict(x=(2, 3), W=(4, 3), b=(4,), out=(2, 4))),
    ("kron(x, y)", {}, dict(x=(2,), y=(3,), out=(6,))),
    ("kron(A, B)", {}, dict(A=(2, 3), B=(4, 5), out=(8, 15))),
    ("exp(-gamma * cdist(X, Y) ** 2)", {}, dict(gamma=(), X=(2, 3), Y=(4, 3), out=(2, 4))),
    ("((X.unsqueeze(1) - Y[None]) ** 2).sum(-1)", {}, dict(X=(2, 3), Y=(4, 3), out=(2, 4))),
    (
        "z = m + exp(s / 2) * e; ((x - z @ W) ** 2).sum() + (m**2 - s).sum()",
        {},
        dict(m=(2, 3), s=(2, 3), e=(2, 3), x=(2, 4), W=(3, 4), out=()),
    ),
    (
        "n = x - x.mean(-1, keepdim=True); y = n * w + b; y @ W",
        {},
        dict(x=(2, 3), w=(3,), b=(3,), W=(3, 4), out=(2, 4)),
    ),
    (
        "f = sigmoid(x @ U); i = sigmoid(x @ V); f * c + i * tanh(x @ W)",
        {},
        dict(x=(2, 3), U=(3, 4), V=(3, 4), c=(2, 4), W=(3, 4), out=(2, 4)),
    ),
    ("eye(X.shape[0]) + X @ X.T / s", {}, dict(X=(2, 3), s=(), out=(2, 2))),
    ("softmax(x / T, 1)", {}, dict(x=(2, 3), T=(), out=(2, 3))),
    ("A / B", dict(grad=SEED_23), dict(A=(2, 3), B=(2, 3), out=(2, 3))),
    ("A[0,0] * A[1,1] - A[0,1] * A[1,0]", {}, dict(A=(2, 2), out=())),
    ("X[:,0] * X[:,1]", {}, dict(X=(3, 2), out=(3,))),
    ("y = A @ x; y[0] * y[1]", {}, dict(A=(2, 3), x=(3,), out=())),
    ("a, b = A @ x; a * b", {}, dict(A=(2, 3), x=(3,), out=())),
    ("A[0,1] * A[2,2]", {}, dict(A=(3, 4), out=())),  # few of the elements: there may be others
]


@pytest.mark.parametrize(("text", "given", "expected"), CASES, ids=[c[0] for c in CASES])
def test_inferred_shapes(text, given, expected):
    assert shapes(text, **given) == expected


def test_labels_beyond_the_first_free_sizes():
    (x, y) = (shapes("cross_entropy(x, y)", values={"y": [7, 1]})[k] for k in "xy")
    assert x[0] == y[0] == 2
    assert x[1] > 7


@pytest.mark.parametrize(
    "text",
    [
        "conv2d(conv2d(x, w), v)",
        "conv2d(conv2d(conv2d(x, w), v), u)",
        "max_pool2d(conv2d(relu(conv2d(x, w, stride=2)), v), 2)",
    ],
)
def test_kernels_after_one_another_are_larger_than_1(text):
    found = shapes(text)
    assert min(n for shape in found.values() for n in shape) > 1
    assert found["x"][1] == found["w"][1]
    assert found["v"][1] == found["w"][0]
    assert found["x"][2] >= found["w"][2] + found["v"][2] - 1


@pytest.mark.parametrize("text", ["conv2d(x, w)", "conv2d(x, w, dilation=2)"])
def test_an_image_is_larger_than_its_kernel(text):
    found = shapes(text)
    assert found["x"][-3] == found["w"][1]
    assert all(big > small for big, small in zip(found["x"][-2:], found["w"][-2:]))


def test_images_come_in_batches_with_a_bias_too():
    found = shapes("relu(conv2d(x, w, b, padding=1))")
    assert [len(found[name]) for name in ("x", "w", "b")] == [4, 4, 1]
    assert len(shapes("conv2d(x, w, b)", shapes={"x": (3, 8, 8)})["x"]) == 3


def test_a_kernel_for_a_given_image():
    found = shapes("conv2d(x, w)", shapes={"x": (1, 1, 3, 3)})
    assert found == {"x": (1, 1, 3, 3), "w": (2, 1, 2, 2), "out": (1, 2, 2, 2)}


def test_a_size_that_follows_from_an_assumed_one():
    assert shapes("x[0, 1:] * b") == {"x": (2, 3), "b": (4, 2), "out": (4, 2)}
    found = shapes("x[1:] * b")
    assert found["x"][0] - 1 == found["b"][0] == found["out"][0]
    found = shapes("cat([x[:, ::2], y]) @ b")
    assert found["x"][1] == 3
    assert found["y"][1] == found["b"][0] == 2


def test_no_two_assumed_sizes_are_equal():
    found, _ = inferred("relu(x @ W + b) @ V")
    sizes = {shape[axis] for shape, assumed in found.values() for axis in assumed}
    assert sizes == {2, 3, 4, 5}


@pytest.mark.parametrize(
    ("text", "given", "code", "words"),
    [
        ("x @ y", dict(shapes={"x": (2, 3), "y": (4, 5)}), "shape", "cannot be multiplied"),
        ("x @ y", dict(shapes={"x": (2, 3)}, grad=[[1.0], [2.0], [3.0]]), "seed-shape", "(3, 1)"),
        ("x.sum()", dict(grad=[1.0, 2.0, 3.0]), "seed-shape", "(3,)"),
        ("x.reshape(2, 3) + x.reshape(5)", {}, "shape", "elements"),
        ("x.reshape(2, 3).sum() + x.reshape(4).sum()", {}, "shape", "elements"),
        ("cross_entropy(x, y)", {}, "needs-value", "integers"),
        ("det(x @ y)", dict(shapes={"x": (2, 3), "y": (3, 4)}), "shape", "square"),
    ],
)
def test_impossible_shapes_are_refused_in_words(text, given, code, words):
    with pytest.raises(GradcliError) as caught:
        pose(text, **given)
    assert caught.value.code == code
    assert words in caught.value.message
    assert "20011" not in caught.value.message  # a stand-in is nobody's size


# ---- sizes that are nearly known, and labels that nobody gave ------------------------------------


@pytest.mark.parametrize(
    ("text", "given", "size"),
    [
        ("c[:-2] * d", {"d": (5,)}, 7),
        ("c[1:] - d", {"d": (5,)}, 6),
        ("pad(c, (1, 2)) * d", {"d": (5,)}, 2),
        ("c[:-2]", {}, 4),  # the smallest with which the answer has more than one element
        ("c[2:] - c[:-2]", {}, 4),
    ],
)
def test_sizes_that_differ_by_a_few(text, given, size):
    assert pose(text, shapes=given).inputs["c"].shape == (size,)


def test_a_seed_says_the_size_of_a_slice():
    assert pose("c[3:]", grad=[1.0, 2.0]).inputs["c"].shape == (5,)


@pytest.mark.parametrize(
    ("text", "name", "formula"),
    [  # by hand: softmax less one-hot rows, over their number; rows put where they came from
        ("cross_entropy(x, t)", "x", "(softmax(x, dim=1) - one_hot(t, x.shape[1])) / t.numel()"),
        ("x[t]", "x", "zeros_like(x).index_add(0, t, g)"),
        ("x[:, t]", "x", "zeros_like(x).index_add(1, t, g)"),
        ("x[arange(x.shape[0]), t]", "x", "g.unsqueeze(1) * one_hot(t, x.shape[1])"),
        ("(2 * x)[arange(x.shape[0]), t].sum()", "x", "2 * eye(x.shape[1])[t]"),
        ("where(t, x, 0)", "x", "g * t"),
        ("x.masked_fill(t, 0)", "x", "where(t, 0, g)"),
    ],
)
def test_a_formula_needs_no_labels(text, name, formula):
    found = gradcli.formula(text)
    assert (found[name] if isinstance(found, dict) else found) == formula
    told = gradcli.explain(text).inputs["t"]
    assert told["assumed"]
    assert told["value"] is not None


def test_assumed_shapes_are_told_in_python_and_in_json():
    with pytest.warns(UserWarning, match=r'x \(2,\) \(for a matrix: shapes=\{"x": \(2, 2\)\}\)'):
        gradcli.formula("x @ x")
    for want in (["formula"], ["formula", "notes"]):
        (answer,) = gradcli.batch([{"expr": "x @ x", "want": want}])
        note = answer["notes"][-1]
        assert note["code"] == "assumed-shapes"
        assert '"shapes": {"x": [2, 2]}' in note["message"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("(a @ x) ** 3", "for vectors: -s a=2,x=2"),
        ("w @ x + b", "for vectors: -s w=2,x=2"),
        ("norm(x) ** 2 * norm(y) ** 2 - (x @ y) ** 2", "for vectors: -s x=2,y=2"),
        ("outer(x, y) @ z", "for a matrix: -s z=3x4"),
        ("x.softmax(0) @ y", "for vectors: -s x=2,y=2"),
        ("cumsum(x, 0) @ y", "for vectors: -s x=2,y=2"),
        ("kron(x, y)", "for matrices: -s x=2x3,y=4x5"),
        ("softplus(beta * (a - b)).mean()", "for a number: -v beta=1"),
        ("max_pool2d(x, 2)", "for a batch of images: -s x=2x3x4x5"),
    ],
)
def test_names_in_lower_case_say_what_was_assumed(text, told):
    assert told in run("formula", text).err


@pytest.mark.parametrize("text", ["x * y", "mu + sigma * eps", "x @ W", "softmax(q @ k.T, -1) @ v"])
def test_what_holds_for_any_shapes_is_not_told(text):
    (answer,) = gradcli.batch([{"expr": text, "want": ["formula"]}])
    assert "notes" not in answer


@pytest.mark.parametrize(
    "text", ["one_hot(t) * x", "x[t] * one_hot(t).sum()", "x[t].sum() * nonzero(t).sum()"]
)
def test_labels_that_are_written_out_are_needed(text):
    with pytest.raises(GradcliError) as caught:
        gradcli.formula(text)
    assert caught.value.code == "needs-value"


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("(x * one_hot(t, 10)).sum()", "eye(10)[t]"),
        ("x * F.one_hot(t, num_classes=5)", "g * one_hot(t, 5)"),
        (
            "-(one_hot(t, x.shape[1]) * log_softmax(x, 1)).sum()",
            "softmax(x, dim=1) - one_hot(t, x.shape[1])",
        ),
    ],
)
def test_labels_are_made_up_where_their_number_is_given(text, formula):
    assert gradcli.formula(text) == formula
    assert gradcli.formula(text, shapes={"t": (3,)}) == formula


def test_the_number_of_labels_is_a_whole_number():
    with pytest.raises(GradcliError, match="num_classes of one_hot"):
        gradcli.formula("one_hot(t, n) * x")


@pytest.mark.parametrize("ask", [gradcli.grad, gradcli.jacobian, gradcli.check, gradcli.cost])
def test_numbers_need_labels(ask):
    with pytest.raises(GradcliError) as caught:
        ask("cross_entropy(x, t)")
    assert caught.value.code == "needs-value"
    assert caught.value.hint.startswith('give its values with values={"t": [...]}')


def test_a_number_is_said_to_be_assumed():
    told = str(gradcli.explain("X @ w + b"))
    assert 'assumed: b is a number (choose with shapes={"b": (2,)})' in told
    assert "the 2 of x is arbitrary (" in str(gradcli.explain("det(x)"))


def test_what_labels_pick_is_not_made_to_know_its_shape():
    found = shapes("x[..., i] * adaptive_max_pool3d(x, (1, 1, 2))", suppose=True)
    assert found["i"] == (2,)  # as many as the pool has along the last dimension, (3, 1, 1, 2)
    assert found["out"] == (*found["x"][:3], 2)


@pytest.mark.sweep
def test_a_search_that_finds_nothing_comes_to_an_end():
    with pytest.raises(GradcliError, match="tau needs a number for each reflection"):
        pose("kron(a, b) + householder_product(A, tau)")
