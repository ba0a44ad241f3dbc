"""Programs as they are pasted from PyTorch, with their backward(): run there and read here."""

import textwrap

import numpy as np
import pytest

import gradcli
from gradcli import GradcliError
from gradcli.explanation.reading.steps import explained
from gradcli.snippets.reading import read

PROGRAMS = [
    """
    x = torch.tensor([1., 2.], requires_grad=True)
    y = (x * x).sum()
    y.backward()
    print(x.grad)
    """,
    """
    import torch
    x = torch.tensor([1., 2., 3.], requires_grad=True)
    y = x ** 2  # not a single number
    y.backward(torch.tensor([1., 10., 100.]))
    """,
    """
    m = torch.tensor([1.], requires_grad=True)
    x = torch.tensor([1., 2.], requires_grad=True)
    m = torch.tensor([True, False])
    x[m].sum().backward()
    """,
    """
    import torch
    from torch.autograd import Variable

    x = Variable(torch.ones(2, 2), requires_grad=True)
    y = x + 2
    z = y * y * 3
    out = z.mean()
    v = torch.tensor(0.5)
    out.backward(v)
    """,
    """
    x = torch.Tensor([1, 2, 3])
    x.requires_grad_()
    y = x.pow(3)
    y.backward(gradient=x, retain_graph=True)
    """,
    """
    x = torch.DoubleTensor([[1, 2], [3, 4]]); x.requires_grad = True
    norm = x.norm(); print(norm.item()); norm.backward()
    """,
    """
    w = torch.nn.Parameter(torch.ones(2, 3))
    b = nn.Parameter(torch.zeros(2))
    x = torch.tensor([[1., -2., 0.5]])
    t = torch.tensor([1])
    loss = F.cross_entropy(F.linear(x, w, b), t)
    print('loss', loss.item())
    loss.backward()
    w.grad.zero_
    """,
    """
    x = torch.arange(4.0, requires_grad=True)
    y = 2 * torch.dot(x, x)
    y.backward()
    x.grad == 4 * x
    """,
    """
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(3.0, requires_grad=True)
    c = a * b
    d = c + a
    c.backward()
    """,
    """
    x = torch.linspace(0, 1, 3, requires_grad=True)
    (x.exp() * x.detach()).sum().backward()
    """,
    """
    x = torch.tensor([1., 2.], requires_grad=True)
    x.backward(torch.tensor([3., 4.]))
    """,
]

X = "import torch\nx = torch.tensor([1., 2.], requires_grad=True)\n"
M = "import torch\nx = torch.tensor([[1., 2.], [3., 4.]], requires_grad=True)\n"
N = "import math, torch\nimport torch.nn as nn\nimport numpy as np\n"
A_B = N + "a = torch.tensor([[1., -2., 3.]], requires_grad=True)\nb = torch.tensor([2])\n"
S = N + "x = torch.tensor(4., requires_grad=True)\n"
PROGRAMS += [
    # several names, annotations, sizes
    N + "n, d = 3, 2\nw = torch.zeros(d, requires_grad=True)\n"
    "b = torch.ones(1, requires_grad=True)\n(w.exp() + b).sum().backward()",
    N + "d = 2\nw = torch.ones(d, requires_grad=True)\nn, d = 3, 4\n"
    "b = torch.ones(2, n, d, requires_grad=True)\n(w[:, None, None] * b).sum().backward()",
    N + "a, b = torch.tensor(2., requires_grad=True), torch.tensor(3., requires_grad=True)\n"
    "(a * b).backward()",
    N + "x: torch.Tensor = torch.tensor([1.6, 2.2], requires_grad=True)\n(x * x).sum().backward()",
    N + "size = (2, 3)\nx = torch.ones(*size, requires_grad=True)\n"
    "(x.view(*x.shape, 1) ** 2).sum().backward()",
    N + "data = np.array([[1., 2.], [3., 4.]])\nx = torch.tensor(data, requires_grad=True)\n"
    "(x * x).sum().backward()",
    X + "a, b = x * x\n(a * b).backward()",
    # leaves
    N + "w = torch.tensor([1., 2.], requires_grad=True)\nw = torch.nn.Parameter(w * 2)\n"
    "(w ** 3).sum().backward()",
    N + "x = torch.tensor([1., 2.])\ny = x * 2\nx = torch.tensor([3., 4.], requires_grad=True)\n"
    "(x * y).sum().backward()",
    M + "y = torch.zeros_like(x, requires_grad=True)\n((x - y) ** 2).sum().backward()",
    X + "z = x.clone().detach().requires_grad_(True)\n(z * x).sum().backward()",
    X + "z = x.detach().requires_grad_()\n(z * z).sum().backward()",
    X + "h = (x * 2).detach()\nh.requires_grad_()\n(h * h * x).sum().backward()",
    X + "h = x * 2\nh.requires_grad_()\n(h * h * x).sum().backward()",
    X + "w = torch.ones(2, requires_grad=True)\n(2 * x).sum().backward()",
    N + "x = torch.ones(2)\ny = x * 2\nx = x.requires_grad_().to('cpu')\n(x * y).sum().backward()",
    N + "x = torch.ones(2)\ny = x * 2\nx.requires_grad_()\n(x * y).sum().backward()",
    X + "x = x.to(torch.device('cpu'))\n(x * x).sum().backward()",
    N + "x = torch.ones(2)\nw = nn.Parameter(torch.tensor([1., 2.]), requires_grad=False)\n"
    "x.requires_grad_()\n(x * w).sum().backward()",
    X + "w = torch.ones(2, requires_grad=True)\nw.requires_grad = False\n(x * w).sum().backward()",
    # functions of Python
    X + "y = (x ** 2).sum()\n(float(y) * x).sum().backward()",
    X + "y = float(x[0]) * x\ny.sum().backward()",
    S + "(math.sqrt(x) * x).backward()",
    S + "from math import sqrt\n(sqrt(x) * x + int(x) * x).backward()",
    S + "(x * math.exp(x) / math.sqrt(2) * math.pi).backward()",
    M + "y = (sum(x) ** 2).sum()\ny.backward()",
    M + "sum(x).prod().backward()",
    X + "losses = [(x * x).sum(), x.prod()]\nloss = sum(losses) * sum([1, 2])\nloss.backward()",
    N + "x = torch.tensor([3., 3., 1.], requires_grad=True)\nmax(x).backward()",
    N + "x = torch.tensor([3., 1., 1.], requires_grad=True)\nmin(x).backward()",
    S + "(max(x * 2, 1.) * max(1, 2)).backward()",
    S + "y = round(x.item() / 3, 2) * x + x\ny.backward()",
    S + "max(x, x * x, 20.5 * x / x, 5).backward()",
    "from torch import *\nx = tensor([[1., 2.], [3., 4.]], requires_grad=True)\nsum(x).backward()",
    # what imports say
    A_B + "import torch.nn.functional as nnf\nnnf.cross_entropy(a, b).backward()",
    M + "from torch.linalg import norm\nnorm(x, 2).backward()",
    M + "import torch.linalg as LA\nLA.inv(x).sum().backward()",
    "import torch as th\nx = th.ones(2, requires_grad=True)\nth.mul(x, th.pi).sum().backward()",
    "import torch as th\nx = th.ones(2, requires_grad=True)\n(x * x).backward(th.ones(2))",
    M + "from torch import nn as N\nN.functional.relu(x - 2).sum().backward()",
    M + "from torch.nn import functional as FF\nFF.gelu(x).sum().backward()",
    M + "import numpy as numpy\n(x * numpy.pi).sum().backward()",
    "from torch import ones, sin\nx = ones(2, requires_grad=True)\nsin(x).sum().backward()",
    # modules that are functions
    A_B + "criterion = nn.CrossEntropyLoss()\nloss = criterion(a, b)\nloss.backward()",
    A_B + "nn.CrossEntropyLoss(torch.tensor([1., 2., 3.]))(a, torch.tensor([1])).backward()",
    A_B + "nn.MSELoss(reduction='sum')(a, torch.zeros(1, 3)).backward()",
    A_B + "norm = nn.LayerNorm(3, eps=1e-3, elementwise_affine=False)\n"
    "(norm(a) ** 2 * a).sum().backward()",
    A_B + "(nn.RMSNorm([3], elementwise_affine=False)(a) * a).sum().backward()",
    A_B + "net = nn.Sequential(nn.ReLU(), nn.Softmax(dim=1))\n(net(a) ** 2).sum().backward()",
    A_B + "net = nn.Sequential(nn.Tanh(), nn.Sequential(nn.GELU(approximate='tanh')))\n"
    "(net(a) ** 2).sum().backward()",
    A_B + "act, norm = nn.LeakyReLU(0.2), nn.Softmax(dim=1)\n(norm(act(a)) ** 2).sum().backward()",
    A_B + "criterion = nn.functional.cross_entropy\ncriterion(a, b).backward()",
    # what says nothing, and how it is pasted
    '"""Text."""\n'
    + X
    + "assert x.shape == (2,)\nx.grad_fn\nx.sum().item()\n(x * x).sum().backward()",
    X + "torch.set_default_dtype(torch.float64)\ntorch.set_grad_enabled(True)\n"
    "torch.autograd.set_detect_anomaly(False)\nwith torch.enable_grad():\n    y = (x * x).sum()\n"
    "y.backward()",
    X + "if x.grad is not None:\n    x.grad.zero_()\n(x * x).sum().backward()",
    X + "F = x * 2\nE = F.sum()\n(E * E).backward()",
    X + "with torch.no_grad():\n    z = x * 2\n(x * z).sum().backward()",
    N + "device = 'cuda' if False and torch.cuda.is_available() else 'cpu'\n"
    "x = torch.ones(2, device=device, requires_grad=True)\n"
    "(x * torch.ones(2).to(torch.device(device))).sum().backward()",
    X + "optimizer = torch.optim.SGD([x], lr=0.1)\noptimizer.zero_grad()\n"
    "scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3)\n(x * x).sum().backward()",
    N + "x = torch.from_numpy(np.array([1., 2.])).requires_grad_()\n(x * x).sum().backward()",
    X + "v = torch.tensor([1., 10.])\ntorch.autograd.backward([x * x], [v])",
    # what has to run
    X + "h = x\nfor k in range(3):\n    h = h * x + k\nh.sum().backward()",
    X + "def f(t, n=2):\n    return t ** n if n > 1 else t\n(f(x) + f(x, 3)).sum().backward()",
    X + "h = torch.zeros(3)\nh[0] = x[1] * 2\nh[1:] = x\n(h * h).sum().backward()",
    X + "h = x * x\nh += x\nh[0] *= 5\nh.mul_(2)\nh[h > 20] = 0\nh.sum().backward()",
    M + "h = x * 2\nh[:, 1] = 3\nh[0, 0] += x[1, 1]\n(h * x).sum().backward()",
    M + "rows = [r.sum() ** 2 for r in x]\ntorch.stack(rows).prod().backward()",
    M + "a, b = x.chunk(2)\n(a * b.roll(1, 1)).sum().backward()",
    X + "total = 0\nwhile total < 5:\n    total = total + x.sum()\ntotal.backward()",
    X
    + "class Twice:\n    def __call__(self, t):\n        return 2 * t\nTwice()(x).sum().backward()",
    X + "g, = torch.autograd.grad((x ** 3).sum(), x, create_graph=True)\n(g * x).sum().backward()",
    X + "x.register_hook(lambda g: print(g))\n(x * x).sum().backward()",
    X + "w = torch.ones(2, requires_grad=True)\ntry:\n    w += 1\nexcept RuntimeError:\n"
    "    v = w + 1\n(v * x).prod().backward()",
]
# In these the last statement is what torch.autograd.grad gives.
GRADS = [
    (X + "h = x * 3\ny = (h ** 2).sum()", "torch.autograd.grad(y, h)"),
    (X + "h = x * 3\nk = h.exp()\ny = (k * h * x).sum()", "torch.autograd.grad(y, [h])"),
    (X + "h = x * 3\nk = x.exp()\ny = (k * h * x).sum()", "torch.autograd.grad(y, [h, k])"),
    (X + "x = x * 2\ny = (x ** 3).sum()", "torch.autograd.grad(y, x)"),
    (X + "y = x.view(2, 1)\nz = x * x", "torch.autograd.grad([z], [x], [x])"),
    (X + "from torch.autograd import grad\ny = (x ** 3).sum()", "grad(y, x)"),
    (X + "w = x.exp().detach().requires_grad_()\ny = w.sum()", "torch.autograd.grad(y, w)"),
    (X + "y = x * x\nz = x.sum()", "torch.autograd.grad([y, x, z], [x], [x, x, None])"),
]


def inner(text):
    return textwrap.dedent(text).strip()


def run(program):
    """The names of a text of this file, after PyTorch has run it."""
    torch = pytest.importorskip("torch")
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    scope = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional}
    try:
        exec(inner(program), scope)
    finally:
        torch.set_default_dtype(before)
        torch.autograd.set_detect_anomaly(False)
    return scope


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_that_pytorch_runs(program):
    scope = run(program)
    torch = scope["torch"]
    tensors = {k: t for k, t in scope.items() if isinstance(t, torch.Tensor) and t.is_leaf}
    want = {k: t.grad for k, t in tensors.items() if t.requires_grad}
    found = gradcli.explain(inner(program)).grad
    assert found.keys() == want.keys()
    for name, grad in want.items():
        if grad is None:
            assert found[name] is None
        else:
            np.testing.assert_allclose(found[name]["value"], grad.numpy(), 1e-12)


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("program", "asked"), GRADS)
def test_gradients_by_what_is_named(program, asked):
    want = run(f"{program}\nanswer = {asked}")["answer"]
    found = gradcli.explain(f"{program}\n{asked}").grad.values()
    for have, grad in zip(found, want, strict=True):
        np.testing.assert_allclose(have["value"], grad.numpy(), 1e-12)


SQUARE = "y = (x * x).sum(); y.backward()"
SESSION = """
>>> x = torch.tensor([1., 2.], requires_grad=True)
>>> y = (x *
...      x).prod()
>>> y
tensor(4., grad_fn=<ProdBackward0>)
>>> y.backward()
>>> x.grad
"""
A = "x = torch.tensor([1., 2.], requires_grad=True); "
NO = "not-differentiable"


@pytest.mark.parametrize(
    ("text", "expected"),
    [  # by hand, for x = [1, 2]
        (A + "y = (x * x).sum(); torch.autograd.grad(y, x)", [2, 4]),
        (A + "y = (x * x).sum(); g = torch.autograd.grad(y, x)[0]", [2, 4]),
        (A + "y = x * x; (g,) = torch.autograd.grad(y, [x], torch.tensor([1., 10.]))", [2, 40]),
        (A + "y = x * x; autograd.grad(outputs=y, inputs=x, grad_outputs=x)", [2, 8]),
        (A + "(x * x).sum()", [2, 4]),
        (A + "v = torch.tensor([1., 10.]); y = x * x; y.backward(v * 2)", [4, 80]),
        (SESSION, [8, 4]),
        (A + "v = torch.ones(2); y = x * x; y.backward(-v)", [-2, -4]),
        (A + "v = torch.ones(2); y = x * x; autograd.backward([y], [-v])", [-2, -4]),
        (A + "y = (x * x).sum(); g, = torch.autograd.grad(y, x); print(g)", [2, 4]),
        (f"d = [1., 2.]; x = torch.tensor(d, requires_grad=True); {SQUARE}", [2, 4]),
        (f"n = 2; x = torch.ones(n, 1, device=d, requires_grad=True); {SQUARE}", [[2], [2]]),
        (f"x = torch.tensor([1, 2], dtype=float, requires_grad=True); {SQUARE}", [2, 4]),
        (A + "w = torch.ones(2).requires_grad_(False); (w * x).sum().backward()", [1, 1]),
        (A + "w = torch.ones(2); w.requires_grad = False; (w * x).sum().backward()", [1, 1]),
    ],
)
def test_what_a_program_asks_for(text, expected):
    assert gradcli.grad(text).tolist() == expected


def test_a_program_that_stops_after_it_went_back():
    program = A + "n = 3; y = (x * n).sum(); y.backward(None); optimizer.step()"
    with pytest.warns(UserWarning, match="name 'optimizer' is not defined"):
        assert gradcli.grad(program).tolist() == [3, 3]


def test_the_last_backward_pass_is_what_is_explained():
    program = A + "y = (x * x).sum(); y.backward(); z = (x ** 3).sum(); z.backward()"
    with pytest.warns(UserWarning, match=r"runs backward 2 times.*value of x.grad"):
        assert gradcli.grad(program).tolist() == [3, 12]
    steps = "\nfor k in range(3):\n    loss = (x * x).sum()\n    loss.backward()\n    x.grad = None"
    assert "several-backward-passes" in [n["code"] for n in gradcli.explain(A + steps).notes]
    by_name = (
        A + "w = torch.ones(2, requires_grad=True); (x * w).sum().backward(); w.sum().backward()"
    )
    with pytest.warns(UserWarning, match="runs backward 2 times"):
        assert gradcli.grad(by_name, wrt="x").tolist() == [1, 1]


def test_a_computed_value_is_differentiated_by_where_it_is_named():
    assert gradcli.grad(A + "h = x * 3; (h * h).sum().backward()", wrt="h").tolist() == [6, 12]
    with pytest.raises(GradcliError, match="there is no tensor k"):
        gradcli.grad(A + "(x * x).sum().backward()", wrt="k")


def test_parameters_have_the_names_of_their_modules():
    found = gradcli.explain("net = nn.Linear(2, 1); net(torch.ones(3, 2)).sum().backward()")
    assert found.grad["net_weight"]["value"].tolist() == [[3, 3]]
    assert found.grad["net_bias"]["value"].tolist() == [3]


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ("y = x * x; x.data.mul_(2); y.sum().backward()", "changed after"),
        ("x.register_hook(lambda g: g * 2); (x * x).sum().backward()", "a hook changes"),
    ],
)
def test_a_gradient_that_is_not_that_of_the_graph_is_refused(steps, said):
    with pytest.raises(GradcliError, match=said):
        gradcli.grad(A + steps)


def test_values_that_are_given_run_with_the_program():
    program = "for k in range(2):\n    x = x * a\nx.sum().backward()"
    found = gradcli.grad(program, values={"x": [1.0, 2.0], "a": [3.0, 4.0]}, wrt="a")
    assert found.tolist() == [6, 16]
    cut = A + "n = 2; z = x.detach() * n; (x * z).sum().backward()"
    assert gradcli.grad(cut, values={"x": [3, 4], "n": 5}).tolist() == [15, 20]
    with pytest.raises(GradcliError, match="z is computed"):
        gradcli.grad(A + "z = x * 2; z.sum().backward()", values={"z": [1, 1]})


def test_what_is_given_goes_before_what_the_program_says():
    program = A + "z = torch.tensor([3., 4.], requires_grad=True); y = x * z; y.backward(x)"
    assert gradcli.grad(program, wrt="z").tolist() == [1, 4]
    assert gradcli.grad(program, wrt="z", grad=[1, 1]).tolist() == [1, 2]
    assert gradcli.grad(program, wrt="x", values={"z": [5, 6]}).tolist() == [5, 12]
    assert gradcli.formula(program, wrt="x", shapes={"x": (2,)}, grad="ones_like(out)") == "g * z"


def test_only_what_requires_a_gradient_is_differentiated_by():
    program = A + "z = torch.tensor([3., 4.]); (x * z).sum().backward()"
    found = gradcli.explain(program)
    assert list(found.grad) == ["x"]
    assert list(found.inputs) == ["x", "z"]
    assert found.inputs["z"]["value"].tolist() == [3, 4]


def test_names_without_a_value_stay_inputs():
    assert gradcli.formula("loss = ((x @ w - y) ** 2).sum()\nloss.backward()", wrt="w") == (
        "2 * x.T @ (x @ w - y)"
    )


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("y = x.sum(); y.backward(); y.backward()", "unsupported", "more than once"),
        ("y = x.sum(); y += 1; y.backward()", "syntax", "changes y in place"),
        ("y = x * 2; y[0] = 5; y.sum().backward()", "syntax", "only names can be assigned to"),
        ("with open(x): y = x", "syntax", "a with block"),
        ("x.add_(1); x.sum()", "unsupported", "in place"),
        ("x.sum(); x * 2", "syntax", "only the last statement"),
        ("torch.manual_seed(1); x = torch.randn(2)", NO, "write requires_grad=True"),
        ("nn.LayerNorm(3)(x)", "unsupported", "F.layer_norm"),
        ("loss = nn.CrossEntropyLoss()", "arguments", "must be one tensor"),
        ("for i in range(3):\n    x = x * 2\nx.sum().backward()", "syntax", "a loop is not"),
        ("while True:\n    x = x * 2\nx.sum().backward()", "syntax", "a loop is not"),
        ("if x.sum() > 0:\n    x = x * 2\nx.sum().backward()", "syntax", "a branch is not"),
        (A + "\nfor i in range(3):\n    x = x * 2\nx.sum().backward()", NO, "x is assigned again"),
        (A + "\ny = x\nfor i in x: y = y * i\ny.backward()", "raises", "line 4: PyTorch raises"),
        (A + "x = x * 2; x.sum().backward()", NO, "x is assigned again"),
        (A + "y = 2 * x; x = torch.ones(2); (x * y).sum().backward()", NO, "x is assigned again"),
        (A + "x = torch.ones(2); x.sum().backward()", NO, "depends on no tensor"),
        (
            "x = torch.ones(2, requires_grad=True) / 9; x.sum().backward()",
            "not-differentiable",
            "x.grad at None",
        ),
        ("x = torch.ones(2); x.sum().backward()", NO, "depends on no tensor"),
        (A + "y = torch.ones(2); y.sum().backward()", NO, "depends on no tensor"),
        (
            "x = torch.ones(2); y = x.sum(); torch.autograd.grad(y, x)",
            "not-differentiable",
            "depends on no tensor",
        ),
        (
            A + "h = x * 2; y = h.sum(); torch.autograd.grad(y, [x, h])",
            "unsupported",
            "computed from it",
        ),
        (A + "y = x.sum(); torch.autograd.grad(y, q)", "unused-option", "no input q"),
        (
            A + "y = x.sum(); autograd.grad(inputs=x, grad_outputs=y)",
            "raises",
            "missing 1 required positional argument: 'outputs'",
        ),
        (A + "torch.autograd.backward()", "raises", "missing 1 required positional argument"),
        (A + "y = x.sum(); torch.autograd.grad(y, x[0])", "raises", "allow_unused=True"),
        (A + "(x * x).backward([1., 2.])", "raises", "Tensors or None, but got float"),
        (A + "x.sum().backward(2.0)", "raises", "'float' object is not iterable"),
        ("(x * x).backward([1., 2.])", "arguments", "torch.tensor([1.0, 2.0])"),
        (A + "g = autograd.grad(x.prod(), x)[0]; g.sum().backward()", NO, "depends on no tensor"),
        (A + "max(x, 0).sum().backward()", "raises", "Boolean value of Tensor"),
        (A + "sum(x.sum()).backward()", "raises", "iteration over a 0-d tensor"),
        (A + "optimizer.step(); x.sum().backward()", "syntax", "only the last statement"),
        (A + "x.mul_(2); x.sum().backward()", "raises", "in-place operation"),
        (A + "y = np.exp(x); y.sum().backward()", "raises", "Can't call numpy()"),
        ("model(x)", "unknown-function", "model"),
        ("model = nn.Linear(2, 1); model(x).backward()", "unsupported", "F.linear"),
        ("m = Net(); x = torch.ones(2); m(x).sum().backward()", "unknown-function", "Net"),
        (
            A + "f = torch.exp; autograd.functional.jacobian(f, x)",
            "not-differentiable",
            "gradcli.jacobian",
        ),
        ("autograd.functional.jacobian(f, x)", "not-differentiable", "gradcli.jacobian"),
        ("torch.Tensor(2, 3) * x", "unsupported", "memory"),
        ("print(x)", "unknown-function", "print"),
        ("loss.backward()", "unknown-name", "paste the lines before it too"),
    ],
)
def test_what_is_not_read_says_what_to_write(text, code, said):
    with pytest.raises(GradcliError) as caught:
        gradcli.grad(text)
    assert caught.value.code == code
    assert said in f"{caught.value.message} {caught.value.hint}"


def test_a_copied_tensor_is_cut_off():
    torch = pytest.importorskip("torch")
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with pytest.warns(UserWarning, match="copy construct"):
        (torch.tensor(x) * x).sum().backward()
    found = gradcli.grad("(torch.tensor(x) * x).sum()", values={"x": [1.0, 2.0]})
    assert found.tolist() == x.grad.tolist() == [1, 2]
    assert gradcli.grad("(torch.as_tensor(x) * x).sum()", values={"x": [1.0, 2.0]}).tolist() == [
        2,
        4,
    ]


def test_sum_without_a_program_is_pytorchs():
    x = [[1.0, 2.0], [3.0, 4.0]]
    assert gradcli.grad("sum(x) ** 2", values={"x": x}).tolist() == [[20, 20], [20, 20]]


UNUSED = [
    ("y = x.sum()", "[x, w]"),
    ("y = (x * w.detach()).sum()", "[x, w]"),
    ("y = (x * (w > 0)).sum()", "w"),
    ("y = x.sum(); h = -x", "h"),
]


@pytest.mark.oracle
@pytest.mark.parametrize(("steps", "by"), UNUSED)
def test_what_pytorch_refuses_without_allow_unused(steps, by):
    torch = pytest.importorskip("torch")
    program = (
        "x = torch.tensor([1., 2.], requires_grad=True); "
        f"w = torch.ones(2, requires_grad=True); {steps}; torch.autograd.grad(y, {by}"
    )
    with pytest.raises(RuntimeError) as theirs:
        exec(f"{program})", {"torch": torch})
    for rest in (")", ", allow_unused=False)"):
        with pytest.raises(GradcliError) as ours:
            gradcli.grad(program + rest)
        assert ours.value.code == "raises"
        assert str(theirs.value) in ours.value.message


def test_an_unused_input_is_null_with_allow_unused():
    found = gradcli.grad(
        "x = torch.tensor([1., 2.], requires_grad=True); w = torch.ones(2, requires_grad=True); "
        "y = x.sum(); torch.autograd.grad(y, [x, w], allow_unused=True)"
    )
    assert (found["x"].tolist(), found["w"]) == ([1, 1], None)
    used = "w = torch.ones(2, requires_grad=True); torch.autograd.grad(w.sign().sum(), w)"
    assert gradcli.grad(used).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("after", "code"),
    [
        ("x.grad *= 3", "after-backward"),
        ("x.grad = None", "after-backward"),
        ("torch.nn.utils.clip_grad_norm_([x], 1.0)", "after-backward"),
        ("x.grad.mul_(2)", "after-backward"),
    ],
)
def test_what_changes_a_gradient_later_is_noted(after, code):
    found = gradcli.explain(A + f"(x * x).sum().backward(); {after}; print(x.grad)")
    assert found.grad["x"]["value"].tolist() == [2, 4]
    assert code in [n["code"] for n in found.notes]


def test_a_seed_without_random_numbers_says_nothing():
    assert gradcli.grad("torch.manual_seed(0); " + A + "(x * x).sum().backward()").tolist() == [
        2,
        4,
    ]


def test_a_retained_gradient_is_noted():
    found = gradcli.explain(A + "h = x * 2; h.retain_grad(); (h * h).sum().backward()")
    assert "retain-grad" in [n["code"] for n in found.notes]


@pytest.mark.parametrize("value", [True, False])
def test_zeros_that_torch_makes_of_none_are_noted(value):
    asked = f"torch.autograd.grad(x.sum(), [x, w], allow_unused=True, materialize_grads={value})"
    found = gradcli.explain(A + "w = torch.ones(2, requires_grad=True); " + asked)
    assert found.grad["w"] is None
    assert ("materialized" in [n["code"] for n in found.notes]) is value


@pytest.mark.parametrize(
    "text",
    [
        "In [1]: %matplotlib inline\n"
        "In [1]: import torch\nIn [2]: x = torch.tensor([1., 2.], requires_grad=True)\n\n"
        "In [3]: y = (x *\n   ...:      x).sum()\n\nIn [4]: y\nOut[4]: tensor(5.)\n\n"
        "In [5]: y.backward()\nIn [6]: x.grad\nOut[6]: tensor([2., 4.])",
        "I tried\n```python\nimport torch\nx = torch.tensor([1., 2.], requires_grad=True)\n```\nand"
        "\n```\n(x * x).sum().backward()\n```\nbut x.grad is wrong",
    ],
)
def test_sessions_and_fences(text):
    assert gradcli.grad(text).tolist() == [2, 4]


def test_several_outputs_that_go_back_together_are_explained_as_their_sum():
    reading = read(
        "import torch\nx = torch.ones(3, requires_grad=True)\n"
        "torch.autograd.backward([(x * 2).sum(), (x**2).sum()])"
    )
    (gradient,) = explained(reading.backwards[0]).gradients
    assert (gradient.name, gradient.value.tolist()) == ("x", [4, 4, 4])


def test_random_numbers_that_nobody_else_gets_stay_symbols():
    program = "x = torch.randn(3, requires_grad=True)\nw = torch.ones(3)\n"
    unseeded = gradcli.explain(f"import torch\n{program}((x * w) ** 2).sum().backward()")
    assert unseeded.inputs["x"]["value"] is None
    assert unseeded.inputs["w"]["value"].tolist() == [1, 1, 1]
    seeded = gradcli.explain(f"torch.manual_seed(0)\n{program}(x * w).sum().backward()")
    theirs = [1.5410, -0.2934, -2.1788]  # torch.randn(3) after torch.manual_seed(0)
    np.testing.assert_allclose(seeded.inputs["x"]["value"], theirs, atol=1e-4)


def test_a_number_that_is_written_over_a_part_is_a_tensor_as_pytorch_takes_it():
    text = """
    x = torch.tensor([1., 2., 3.], requires_grad=True)
    y = x * 2
    y[0] = 10
    (y ** 2).sum().backward()
    """
    found = gradcli.explain(textwrap.dedent(text)).expression
    assert "y = (x * 2).select_scatter(tensor(10), 0, 0)" in found
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    x = torch.tensor([1.0, 2.0, 3.0])
    assert (x * 2).select_scatter(torch.tensor(10), 0, 0).tolist() == [10, 4, 6]
