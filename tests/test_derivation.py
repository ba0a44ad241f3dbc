"""Derivations, executed by PyTorch: each line is the gradient that PyTorch keeps of that value."""

import re

import numpy as np
import pytest
from corpus import ALL
from support import assert_equal, generator, one_in, run_formula, run_torch

from gradcli.explanation.analysis import Analysis
from gradcli.explanation.derivation.derivation import derivation
from gradcli.language.arguments.option_texts import read_shapes
from gradcli.language.posing import pose
from gradcli.notation import tree

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytestmark = [
    pytest.mark.oracle,
    pytest.mark.usefixtures("double_precision"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]
CLOSE = {"rtol": 1e-7, "atol": 1e-9}

PROGRAMS = {
    "h1 = relu(x @ W1 + b1); h2 = relu(h1 @ W2 + b2); logits = h2 @ W3; "
    "loss = cross_entropy(logits, y) + 0.01 * (W1**2).sum()": (
        "x=4x3,W1=3x5,b1=5,W2=5x4,b2=4,W3=4x2"
    ),
    "h = x @ W1 + b1; h = tanh(h); h = h @ W2; (h * h).sum()": "x=4x3,W1=3x5,b1=5,W2=5x4",
    "B, T, C = x.shape; q, k, v = (layer_norm(x, (C,)) @ Wqkv).chunk(3, dim=-1); "
    "q = q.view(B, T, 2, C // 2).transpose(1, 2); k = k.view(B, T, 2, C // 2).transpose(1, 2); "
    "v = v.view(B, T, 2, C // 2).transpose(1, 2); "
    "att = softmax(q @ k.transpose(-2, -1) / (C // 2) ** 0.5, dim=-1); "
    "y = (att @ v).transpose(1, 2).reshape(B, T, C); x = x + y @ Wo; "
    "h = gelu(layer_norm(x, (C,)) @ W1); x = x + h @ W2; (x**2).mean()": (
        "x=2x3x8,Wqkv=8x24,Wo=8x8,W1=8x32,W2=32x8"
    ),
    "((x @ w - y) ** 2).mean()": "x=5x3,w=3,y=5",
    "softmax(q @ k.T / sqrt(d), dim=-1) @ v": "q=4x3,k=5x3,v=5x2,d=()",
    "x / x.norm()": "x=4",
    "h = x.exp(); k = x.sin(); h = h * k + h; h.sum()": "x=3",
    "a, b = x; (a * b + a).sin()": "x=2x3",
    "a, b, c = x.split([1, 2, 3]); a.sum() * b.prod() + c @ c": "x=6",
    "h = x; k = h; (h * k).exp() + x": "x=3",
    "i = f * c + sigmoid(x @ W); c2 = tanh(i) * i; c2 * f": "x=2x3,W=3x4,f=4,c=2x4",
    "n = x.shape[0]; m = x.mean(0); z = x - m; S = z.T @ z / n; logdet(S)": "x=6x3",
    "h = conv2d(x, w, b).relu(); h = max_pool2d(h, 2); h.flatten(1) @ v": (
        "x=2x1x6x6,w=3x1x3x3,b=3,v=12x2"
    ),
    "p = sigmoid(x @ w); L = -(y * log(p) + (1 - y) * log(1 - p)).mean(); L + 0.1 * (w @ w)": (
        "x=5x3,w=3,y=5"
    ),
    "mu = x @ a; s = exp(x @ b); z = mu + s * e; "
    "kl = (mu**2 + s**2 - 2 * log(s) - 1).sum() / 2; (z**2).sum() + kl": "x=2x3,a=3x2,b=3x2,e=2x2",
    "h = x.detach() * x; k = h + x; (k * h).sum()": "x=3",
    "g = x * 2; (g * g).sin()": "x=3",
    "(sigmoid(x @ w + b) * tanh(x @ w + b)).sum()": "x=4x3,w=3,b=()",
    "f = x @ A @ y; log(f + exp(x @ A @ y)) / (1 + exp(f))": "x=3,A=3x3,y=3",
    "norm(x / (1 + x @ y) - y / (1 + x @ y) ** 2)": "x=3,y=3",
    "mu = x.mean(-1, keepdim=True); v = x.var(-1, keepdim=True, unbiased=False); "
    "h = (x - mu) / sqrt(v + 1e-5); h * w + b": "x=2x4,w=4,b=4",
    "h = tanh(x @ W1); mu = h @ Wm; logvar = h @ Wv; z = mu + exp(logvar / 2) * eps; "
    "xhat = sigmoid(z @ W2); F.binary_cross_entropy(xhat, x, reduction='sum') "
    "- 0.5 * (1 + logvar - mu ** 2 - exp(logvar)).sum()": (
        "x=2x4,W1=4x5,Wm=5x3,Wv=5x3,eps=2x3,W2=3x4"
    ),
    "x1 = x[..., :2]; x2 = x[..., 2:]; cat([x1 * c - x2 * s, x2 * c + x1 * s], dim=-1)": (
        "x=3x4,c=3x2,s=3x2"
    ),
    "x1 = x[..., ::2]; x2 = x[..., 1::2]; "
    "stack([x1 * c - x2 * s, x1 * s + x2 * c], dim=-1).flatten(-2)": "x=3x4,c=3x2,s=3x2",
    "x1, x2 = x.chunk(2, -1); k * (x * c + cat([-x2, x1], dim=-1) * s)": (
        "x=2x5x3x4,c=5x1x4,s=5x1x4,k=4"
    ),
    "a = x[:, :3]; b = x[:, 1:]; (tanh(a) * w).sum() + (sigmoid(b) * u).sum()": "x=3x4,w=3x3,u=3x3",
    "z = x + 1; z1 = relu(z @ W + z.sum()); z1 * z1": "x=2x3,W=3x3",
    "sigmoid(x @ w) * (sigmoid(x @ w) > 0.6)": "x=4x3,w=3",
    "tanh(x @ w).detach() * tanh(x @ w)": "x=4x3,w=3",
}


def numbers(tensor):
    return torch.as_tensor(tensor).detach().double().numpy()


def lines_are_gradients(text, problem, values, seed):
    """Whether PyTorch keeps these gradients; how many lines there are."""
    found = derivation(Analysis(problem))
    given = {name: torch.tensor(np.array(v)) for name, v in values.items()}
    for x in problem.wrt:
        given[x.name].requires_grad_()
    tensors = dict(given)
    for s in found.assigned:
        made = run_torch(f"{s.text}\n({', '.join(s.names)},)", tensors)
        tensors |= dict(zip(s.names, made))
        for name in s.names:
            if tensors[name].requires_grad:
                tensors[name].retain_grad()
    g = torch.tensor(seed)
    out = tensors[found.out_name]
    assert_equal(numbers(out), numbers(run_torch(text, given)))
    out.backward(g)
    for line in found.lines:
        assert line.formula is not None
        shown = run_formula(tree.text(line.formula), tensors | {problem.seed.name: g})
        assert_equal(numbers(shown), numbers(tensors[line.name].grad), **CLOSE)
    return len(found.lines)


@pytest.mark.parametrize(("text", "shapes"), PROGRAMS.items())
def test_lines_are_the_gradients_that_pytorch_keeps(text, shapes):
    draw = generator(text)
    values = {n: draw.uniform(0.2, 0.9, shape) for n, shape in read_shapes([shapes]).items()}
    if "cross_entropy(logits, y)" in text:
        values["y"] = np.array([0, 1, 1, 0])
    labels = {name: v for name, v in values.items() if v.dtype.kind == "i"}
    problem = pose(text, shapes=read_shapes([shapes]), values=labels)
    assert problem.statement_values
    seed = np.array(1.0) if problem.seed.implicit else draw.normal(size=problem.out.shape)
    assert lines_are_gradients(text, problem, values, seed) >= len(problem.wrt)


FOREIGN = re.compile(
    r"^X$|(sqrt|log)\(\w+\.shape|range\(|maximum\([^,]*, 0\)"
)  # which PyTorch does not take as it stands
GRADIENTS = [i for i in ALL if i.kind == "gradient" and not i.assume and not FOREIGN.search(i.expr)]


@pytest.mark.parametrize("identity", one_in(5, GRADIENTS[::8], sweep=2))
def test_lines_of_the_identities_are_gradients(identity):
    values = identity.values(0)
    given = {n: v for n, v in values.items() if v.dtype.kind != "f"}
    shapes = {n: v.shape for n, v in values.items() if n not in given}
    problem = pose(identity.expr, values=given, shapes=shapes, wrt=[identity.wrt])
    ones = np.ones(problem.out.shape)
    seed = ones if problem.seed.implicit else generator(identity.expr).normal(size=ones.shape)
    assert lines_are_gradients(identity.expr, problem, values, seed) > 0


def test_what_a_program_repeats_has_one_name():
    shapes = {"x": (4, 3), "w": (3,), "b": ()}
    problem = pose("(sigmoid(x @ w + b) * tanh(x @ w + b)).sum()", shapes=shapes)
    found = derivation(Analysis(problem))
    assert next(s.text for s in found.assigned) == "z = x @ w + b"
    assert [line.name for line in found.lines] == ["z", "x", "w", "b"]


def lines_of(text, shapes):
    found = derivation(Analysis(pose(text, shapes=read_shapes([shapes]))))
    return {line.name: line.text for line in found.lines}


def test_what_a_rule_computes_again_has_the_name_that_the_program_gives():
    text, shapes = next((t, s) for t, s in PROGRAMS.items() if "v = x.var" in t)
    expected = "z.grad + 2 * v.grad * z / x.shape[1] + mu.grad / x.shape[1]"
    assert lines_of(text, shapes)["x"] == expected


def test_a_last_expression_has_another_name_than_the_out_of_the_program():
    problem = pose("out = x @ a; (out ** 2).sum()")
    assert problem.out_name == "result"
    found = {line.name: line.text for line in derivation(Analysis(problem)).lines}
    assert (found["out"], found["x"]) == ("2 * out", "out.grad @ a.T")


def test_gradients_of_views_are_put_side_by_side():
    (text,) = (t for t in PROGRAMS if t.startswith("x1 = x[..., :2]"))
    assert lines_of(text, PROGRAMS[text])["x"] == "cat([x1.grad, x2.grad], dim=1)"


def test_a_gradient_that_flows_on_unchanged_is_called_by_its_name():
    found = lines_of("h = tanh(x @ W); m = h @ V; ((h + m)**2).mean()", "x=3x4,W=4x4,V=4x4")
    assert found["m"] == "2 * (h + m) / h.numel()"
    assert found["h"] == "m.grad + m.grad @ V.T"


def test_what_cancels_is_not_written():
    """The gradients of cross entropies by logits, which every textbook has."""
    loss = "-(y*log(p) + (1-y)*log(1-p)).mean()"
    found = lines_of(f"z = x @ w; p = sigmoid(z); {loss}", "x=4x3,w=3,y=4")
    assert found["z"] == "(p - y) / y.numel()"
    found = lines_of("z = x @ W; p = softmax(z, dim=1); -(y*log(p)).sum()", "x=4x3,W=3x5,y=4x5")
    assert found["z"] == "y.sum(dim=1, keepdim=True) * p - y"


def test_a_gradient_that_is_a_number_has_no_line():
    text, shapes = next((t, s) for t, s in PROGRAMS.items() if "logvar" in t)
    assert not any("ones_like" in line for line in lines_of(text, shapes).values())
    assert lines_of(text, shapes)["mu"] == "mu + z.grad"


def test_two_draws_of_one_text_keep_two_names():
    program = "((x * y * randn(4)).exp() * (x * y * randn(4)).sin()).sum()"
    found = derivation(Analysis(pose(program, shapes={"x": (4,), "y": (4,)})))
    assert [s.value for s in found.assigned if s.again] == ["x * y"]


def test_a_term_of_a_loss_receives_its_1_and_not_a_symbol():
    """nll receives the seed of the loss unchanged."""
    text = "h = tanh(x @ W); lp = h ** 2; nll = (lp * h).mean(); loss = nll + h.sum()"
    found = lines_of(text, "x=3x4,W=4x4")
    assert found["lp"] == "h / lp.numel()"
    assert not any(re.search(r"\bg\b", line) for line in found.values())
