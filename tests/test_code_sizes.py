"""Programs of `gradcli code` hold for every size: written for some sizes, run at others."""

from functools import cache
from inspect import signature
from itertools import cycle, islice

import numpy as np
import pytest
from support import (
    Answer,
    Example,
    answer,
    assert_equal,
    fixed,
    generator,
    refusal,
    torch_answer,
)
from test_code import FIRST, OWN, UNSAID, UNSAID_IN_JAX, refused, run

import gradcli
from gradcli.errors import GradcliError
from gradcli.explanation.analysis import Analysis
from gradcli.explanation.formulas.other_sizes import other_shapes
from gradcli.explanation.programs import TARGETS, program

torch = pytest.importorskip("torch")
pytest.importorskip("jax")
pytestmark = [
    pytest.mark.oracle,
    pytest.mark.usefixtures("double_precision"),
    pytest.mark.filterwarnings("ignore"),
]

ALONE, ORDERED = "# only for these sizes: ", "# only for sizes ordered like these: "
VALUES = "# only for these values: "
MOST_ALONE = 0.06  # of the operators


@cache
def elsewhere(example: Example) -> Example | None:
    """An example at other sizes; None where its text takes no others."""
    for shapes in other_shapes(example.problem):
        texts = [f"{x}={'x'.join(map(str, s)) or '()'}" for x, s in shapes.items()]
        other = example._replace(shapes=",".join(texts))
        try:
            expected(other, np.ones(other.problem.out.shape))
        except (GradcliError, RuntimeError):
            continue
        return other
    return None


def expected(example: Example, seed):
    """PyTorch's answer; gradcli's where PyTorch does not have the operator, or refuses."""
    problem = example.problem
    ours = answer(problem, seed)
    if example.op.torch is None:
        return ours
    theirs, refused = refusal(
        lambda: torch_answer(example.text, example.values, seed, fixed(problem))
    )
    return ours if refused else Answer(theirs.out, ours.grads | theirs.grads)


def by_torch(text, values, seed):
    """Output and gradients of a torch.autograd.Function."""
    (name,) = [line.split()[1].partition("(")[0] for line in text.splitlines() if "class" in line]
    given = [torch.tensor(v, requires_grad=True) for v in values.values()]
    out = run(text)[name].apply(*given)
    found = torch.autograd.grad(out, given, torch.tensor(seed), allow_unused=True)
    return out.detach().numpy(), [None if g is None else g.numpy() for g in found]


def by_numpy(text, values, seed):
    """Output and gradients of a program of NumPy."""
    made = run(text)
    grads = made["f_grad"](*values.values(), *([seed] if "g):\n" in text else []))
    return made["f"](*values.values()), grads if isinstance(grads, tuple) else [grads]


def by_jax(text, values, seed):
    """Output and gradients of a jax.custom_vjp."""
    import jax.numpy as jnp

    made = run(text)
    (f,) = [name.removesuffix("_fwd") for name in made if name.endswith("_fwd")]
    given = {name: jnp.array(value) for name, value in values.items()}
    made.update(given)  # what is no argument is read from outside
    out, saved = made[f"{f}_fwd"](*(given[x] for x in signature(made[f]).parameters))
    return out, made[f"{f}_bwd"](saved, jnp.array(seed))


RUN = {"torch-function": by_torch, "numpy": by_numpy, "custom-vjp": by_jax}


# What goes back is the same for all targets: every third operator is written for one of them.
CASES = [
    *(("torch-function", e) for e in FIRST[::9]),
    *(("numpy", e) for e in FIRST[2::9]),
    *(("custom-vjp", e) for e in OWN[1::9]),
]


@cache
def text_of(example: Example, target: str) -> str | None:
    """The program of an example; None where its target has no words for it."""
    try:
        return program(Analysis(example.problem), target)
    except GradcliError as error:
        if refused(error) not in {"detach", *UNSAID, *UNSAID_IN_JAX}:
            raise
        return None


@cache
def sent_back(example: Example) -> tuple[np.ndarray, Answer]:
    """A seed, and what is expected for it."""
    shape = example.problem.out.shape
    seed = generator(str(example)).normal(size=shape) if shape else np.array(1.0)
    return seed, expected(example, seed)


@pytest.mark.parametrize(("target", "example"), CASES, ids=lambda v: str(v))
def test_runs_at_other_sizes(target, example):
    other, text = elsewhere(example), text_of(example, target)
    if other is None or text is None or text.startswith((ALONE, ORDERED)):
        run(text or "")
        return
    seed, theirs = sent_back(other)
    asked = [name for name in other.problem.inputs if theirs.grads.get(name) is not None]
    out, grads = RUN[target](text, other.values, seed)
    assert_equal(np.asarray(out), theirs.out, rtol=1e-7, atol=1e-9)
    for name, grad in zip(asked, [g for g in grads if g is not None], strict=True):
        assert_equal(np.asarray(grad), theirs.grads[name], rtol=1e-7, atol=1e-9)


def test_few_programs_are_for_their_sizes_alone():
    texts = [text_of(example, "torch-function") for example in FIRST[::7]]
    alone = [text for text in texts if text is not None and text.startswith(ALONE)]
    assert len(alone) <= MOST_ALONE * len(texts)


# What depends on sizes is written through them: by hand.
WRITTEN = [
    ("scaled_dot_product_attention(q, k, v)", {"q": (2, 3), "k": (4, 3), "v": (4, 5)},
     ["q.shape[1] ** 0.5"]),
    ("cat([x, y])", {"x": (2,), "y": (3,)}, ["g[:", "shape[0]:]"]),
    ("cov(X)", {"X": (3, 4)}, ["(X.shape[1] - 1)"]),
    ("(logsumexp(X @ Y.T, 1) - diagonal(X @ Y.T)).mean()", {"X": (5, 3), "Y": (5, 3)},
     ["diag"]),
    ("2 * cholesky(X).diagonal().log().sum()", {"X": (3, 3)}, ["diag"]),
    ("X.T @ X / (X.shape[0] - 1)", {"X": (5, 3)}, ["(X.shape[0] - 1)"]),
    ("x.mean(1).sum()", {"x": (2, 3, 4)}, ["shape[1]"]),
    ("kron(A, B) @ x.flatten()", {"A": (3, 4), "B": (2, 5), "x": (4, 5)},
     ["A.shape[0], B.shape[0], A.shape[1], B.shape[1]"]),
    ("kron(A.T, inv(B)) @ x", {"A": (3, 3), "B": (2, 2), "x": (6,)}, ["kron("]),
    ("(x.flatten() * y.flatten()).sum()", dict.fromkeys("xy", (2, 3, 4)), ["y.reshape(x.shape)"]),
    ("q @ k.T / math.sqrt(q.shape[1])", {"q": (2, 3), "k": (4, 3)}, ["q.shape[1] ** 0.5"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("target", "expr", "shapes", "parts"),
    [(target, *w) for k, w in enumerate(WRITTEN) for target in islice(cycle(TARGETS), k, k + 2)],
)
def test_sizes_are_read_off_the_arrays(target, expr, shapes, parts):
    """Each program for two targets."""
    text = gradcli.code(expr, target, shapes=shapes)
    assert not text.startswith("# for")
    assert all(part in text for part in parts)
    run(text)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("expr", "shapes", "remark"),
    [
        ("x.reshape(3, 2)", {"x": (2, 3)}, f"{ALONE}x (2, 3)\n"),  # also of (6,), differently
        ("linalg.qr(A).R", {"A": (3, 2)}, f"{ORDERED}A (3, 2)\n"),
    ],
)
def test_what_does_not_hold_for_every_size_says_so(target, expr, shapes, remark):
    text = gradcli.code(expr, target, shapes=shapes)
    assert text.startswith(remark)
    run(text)


def test_labels_have_other_sizes_too():
    text = gradcli.code(
        "nll_loss(x, t)", "torch-function", shapes={"x": (2, 3)}, values={"t": [0, 2]}
    )
    assert not text.startswith("# for")
    (name,) = [line.split()[1].partition("(")[0] for line in text.splitlines() if "class" in line]
    x, t = torch.randn(4, 5, requires_grad=True), torch.tensor([4, 0, 2, 2])
    assert torch.autograd.gradcheck(lambda x: run(text)[name].apply(x, t), x)


BY_VALUES = [  # an expression, its labels, other labels
    ("(x[t] ** 2).sum()", {"t": [0, 2, 1, 1]}, {"t": [3, 3, 0]}),
    ("-log_softmax(x, -1)[arange(x.shape[0]), t].mean()", {"t": [0, 2, 1, 1]}, {"t": [2, 0, 0, 1]}),
    ("(x[m] * 3).exp().sum()", {"m": [True, False, True, True]}, {"m": [False, True, True, False]}),
    ("i = t + 1; (x[i] * x[i - 1]).sum()", {"t": [0, 1, 2]}, {"t": [2, 2, 0, 1]}),
    ("x[t == 1].exp().sum()", {"t": [0, 2, 1, 1]}, {"t": [1, 2, 1, 1]}),
    ("(x[~(t > 0)] * 2).sum()", {"t": [0, 2, 1, 1]}, {"t": [1, 0, 0, 1]}),
]


@pytest.mark.parametrize(("expr", "labels", "others"), BY_VALUES)
def test_indices_are_computed_by_the_program(expr, labels, others):
    text = gradcli.code(expr, shapes={"x": (4, 3)}, values=labels, target="torch-function")
    assert not text.startswith(VALUES)
    (name,) = [line.split()[1].partition("(")[0] for line in text.splitlines() if "class" in line]
    function = run(text)[name].apply
    x = torch.randn(4, 3, requires_grad=True)
    at = {"x": x} | {name: torch.tensor(value) for name, value in others.items()}
    out = eval(expr.rpartition(";")[2], vars(torch) | at | {"i": at.get("t", x) + 1})
    (theirs,) = torch.autograd.grad(out, x)
    (order,) = [line for line in text.splitlines() if "def forward(ctx, " in line]
    names = order.partition("(ctx, ")[2].removesuffix("):").split(", ")
    (ours,) = torch.autograd.grad(function(*(at[name] for name in names)), x)
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize(
    ("expr", "shapes", "values", "held"),
    [
        ("x[k] ** 2", {"x": (3,)}, {"k": 2}, "k"),
        ("i = (x * x).argmax(); x[i] * y[i]", {"y": (3,)}, {"x": [1.0, -2.0, 3.0]}, "x"),
        ("repeat_interleave(x, t) ** 2", {"x": (3,)}, {"t": [1, 2, 1]}, "t"),
        ("x[t.max() - 1] ** 2", {"x": (4,)}, {"t": [0, 2, 1, 1]}, "t"),
        ("cross_entropy(y[None], k)", {"y": (3,)}, {"k": [2]}, None),
        ("x[x > 0].sum()", {}, {"x": [1.0, -2.0, 3.0]}, None),
    ],
)
def test_values_that_decide_on_the_program_are_told(expr, shapes, values, held):
    text = gradcli.code(expr, shapes=shapes, values=values)
    assert (f"{VALUES}{held}\n" in text) == (held is not None)


IN_PARTS = [  # a number in the program, beside what follows from the size; another size
    ("x.reshape(-1, 3).sum(1)", (12,), (15,)),
    ("x.reshape(2, -1, 3).sum(1)", (12,), (18,)),
    ("x.reshape(-1, 4).cumsum(1)", (8,), (20,)),
    ("x.reshape(-1, 2, 2).sum(2)", (8,), (12,)),
    ("x.mT.reshape(-1, 3).amax(0)", (1, 6), (1, 9)),
    ("x.flatten().view(3, -1).prod(1)", (1, 6), (1, 9)),
    ("x.unflatten(0, (2, -1, 3)).sum(1)", (12,), (18,)),
]


@pytest.mark.parametrize(("expr", "given", "other"), IN_PARTS)
def test_numbers_beside_sizes_stay_numbers(expr, given, other):
    text = gradcli.code(expr, shapes={"x": given}, target="torch-function")
    x = torch.randn(other, requires_grad=True)
    theirs = eval(expr)
    seed = torch.randn(theirs.shape)
    out, (grad,) = by_torch(text, {"x": x.detach().numpy()}, seed.numpy())
    assert_equal(out, theirs.detach().numpy())
    assert_equal(grad, torch.autograd.grad(theirs, x, seed)[0].numpy())


@pytest.mark.parametrize("target", ["numpy", "custom-vjp", "torch-function"])
@pytest.mark.parametrize("other", [(2, 4), (4, 3)])
@pytest.mark.parametrize("expr", ["x.diagonal(1).sin()", "x.diagonal(-1) * 2"])
def test_what_is_square_by_chance_may_be_oblong(expr, other, target):
    text = gradcli.code(expr, target, shapes={"x": (3, 3)})
    x = torch.randn(other, requires_grad=True)
    theirs = eval(expr)
    seed = torch.randn(theirs.shape)
    out, (grad,) = RUN[target](text, {"x": x.detach().numpy()}, seed.numpy())
    assert_equal(np.asarray(out), theirs.detach().numpy())
    assert_equal(np.asarray(grad), torch.autograd.grad(theirs, x, seed)[0].numpy())


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("expr", "shape"), [("x[1:].sin()", (2,)), ("x.diagonal(-1).sin()", (2, 4))]
)
def test_an_output_of_one_element_at_these_sizes_has_no_seed(expr, shape, target):
    run(gradcli.code(expr, target, shapes={"x": shape}))


@pytest.mark.parametrize(
    ("expr", "said"),
    [("x.trace() ** 2", True), ("x.diag().sin()", True), ("x @ x", False), ("det(x)", False)],
)
def test_programs_for_square_matrices_say_so(expr, said):
    text = gradcli.code(expr, shapes={"x": (3, 3)}, target="numpy")
    assert text.startswith("# only for square matrices: x (3, 3)\n") == said
