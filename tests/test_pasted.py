"""Programs as they are pasted from PyTorch, with their backward(): run there and read here."""

import numpy as np
import pytest

import gradcli
from gradcli import GradcliError

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


def inner(text):
    return "\n".join(line.strip() for line in text.strip().splitlines())


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_that_pytorch_runs(program):
    torch = pytest.importorskip("torch")
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    scope = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional}
    try:
        exec(inner(program), scope)  # a text of this file
    finally:
        torch.set_default_dtype(before)
    tensors = {k: t for k, t in scope.items() if isinstance(t, torch.Tensor) and t.is_leaf}
    want = {k: t.grad for k, t in tensors.items() if t.requires_grad}
    found = gradcli.explain(inner(program)).grad
    assert found.keys() == want.keys()
    for name, grad in want.items():
        np.testing.assert_allclose(found[name]["value"], grad.numpy(), 1e-12)


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [  # by hand, for x = [1, 2]
        (A + "y = (x * x).sum(); torch.autograd.grad(y, x)", [2, 4]),
        (A + "y = (x * x).sum(); g = torch.autograd.grad(y, x)[0]", [2, 4]),
        (A + "y = x * x; (g,) = torch.autograd.grad(y, [x], torch.tensor([1., 10.]))", [2, 40]),
        (A + "y = x * x; autograd.grad(outputs=y, inputs=x, grad_outputs=x)", [2, 8]),
        (A + "(x * x).sum()", [2, 4]),
        (A + "v = torch.tensor([1., 10.]); y = x * x; y.backward(v * 2)", [4, 80]),
        (A + "n = 3; y = (x * n).sum(); y.backward(None); optimizer.step()", [3, 3]),
        (SESSION, [8, 4]),
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
        (A + "y = x.sum(); y.backward(); y.backward()", "unsupported", "more than once"),
        (A + "y = x.sum(); y += 1; y.backward()", "syntax", "write y = y + 1"),
        (A + "y = x * 2; y[0] = 5; y.sum().backward()", "syntax", "index_put"),
        ("with torch.no_grad(): y = x", "syntax", "x.detach()"),
        ("x.add_(1); x.sum()", "unsupported", "in place"),
        ("x.sum(); x * 2", "syntax", "only the last statement"),
        ("torch.manual_seed(1); x = torch.randn(2)", "unsupported", "--random-seed"),
        ("nn.MSELoss()(x, y)", "unsupported", "F.mse_loss"),
        ("loss = nn.CrossEntropyLoss()", "unsupported", "F.cross_entropy"),
        ("nn.BCELoss()(x, y)", "unsupported", "F.binary_cross_entropy"),
        ("nn.Softmax(dim=1)(x)", "unsupported", "F.softmax"),
        ("model(x)", "unknown-function", "model"),
        ("torch.Tensor(2, 3) * x", "unsupported", "memory"),
        ("print(x)", "unknown-function", "print"),
    ],
)
def test_what_is_not_read_says_what_to_write(text, code, said):
    with pytest.raises(GradcliError) as caught:
        gradcli.grad(text)
    assert caught.value.code == code
    assert said in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.oracle
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
