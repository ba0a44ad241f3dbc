"""Every operator that PyTorch can differentiate, on PyTorch's own samples."""

import itertools
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")
pytest.importorskip("expecttest", reason="PyTorch's database of operators needs expecttest")

from op_db import entries, left_out, op_db, samples  # noqa: E402
from support import assert_equal, generator, weighted  # noqa: E402

from gradcli.autodiff.reverse import backward  # noqa: E402
from gradcli.backends.numeric import Evaluator  # noqa: E402
from gradcli.errors import GradcliError  # noqa: E402
from gradcli.graphs import OPS  # noqa: E402
from gradcli.language.posing import pose  # noqa: E402
from gradcli.language.refusals import refusal  # noqa: E402

pytestmark = pytest.mark.oracle

NAMES = {"torch": torch, "inf": torch.inf, "nan": torch.nan}


def outputs_in_torch(sample, tensors):
    """The outputs of a sample with a gradient, by the text that picks each."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = eval(sample.text, {**NAMES, **tensors})
        whole = isinstance(found, torch.Tensor)
        texts = [] if whole else [sample.output(k) for k in range(len(found))]
        found = {text: eval(text, {**NAMES, **tensors}) for text in texts} or {sample.text: found}
    return {
        text: out
        for text, out in found.items()
        if isinstance(out, torch.Tensor) and out.requires_grad and not out.is_complex()
    }


def is_random(text, out, tensors):
    """Whether PyTorch answers something else, beyond rounding, when it is asked again."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = eval(text, {**NAMES, **tensors})
    return not torch.allclose(out.nan_to_num(), again.nan_to_num(), rtol=1e-8, atol=1e-8)


def check(sample, second_order=False):
    tensors = sample.tensors
    for text, out in outputs_in_torch(sample, tensors).items():
        if is_random(text, out, tensors):
            with pytest.raises(GradcliError, match="random"):
                pose(text, values=sample.values)
            continue
        seed = generator(text).normal(size=out.shape)
        problem = pose(text, values=sample.values, wrt=list(sample.wrt))
        wrt = [i.node for i in problem.wrt]
        # values and second derivatives are held together, as no request does
        limits = problem.limits.without("memory")
        evaluate = Evaluator({**problem.values, problem.seed.node: seed}, limits=limits)
        scale = 1 + float(out.detach().abs().nan_to_num(0, 0, 0).max()) if out.numel() else 1.0
        assert_equal(evaluate(problem.out)[0], out.detach().numpy(), 1e-10, 1e-10 * scale)
        first = backward(problem.out, problem.seed.node, wrt).of
        leaves = [tensors[i.name] for i in problem.wrt]
        g = torch.tensor(seed, requires_grad=True)
        try:
            theirs = torch.autograd.grad(
                out, leaves, g, allow_unused=True, retain_graph=True, create_graph=second_order
            )
        except (RuntimeError, NotImplementedError):  # PyTorch has no gradient here
            continue
        for node, expected in zip(wrt, theirs, strict=True):
            ours = None if first[node] is None else evaluate(first[node])[0]
            _agree(ours, expected, seed)
        if second_order:
            _second(problem, first, evaluate, wrt, theirs, leaves, g, text)


def _agree(ours, theirs, seed, tolerance=1e-10):
    """As PyTorch; an input without a gradient there may have zeros here, and the reverse."""
    shape = np.shape(ours if theirs is None else theirs)
    ours = np.zeros(shape) if ours is None else ours
    theirs = np.zeros(shape) if theirs is None else theirs.numpy(force=True)
    finite = theirs[np.isfinite(theirs)]
    scale = 1 + max(np.abs(finite).max(initial=0), np.abs(seed).max(initial=0))
    assert_equal(ours, theirs, tolerance, tolerance * scale)


def _second(problem, first, evaluate, wrt, theirs, leaves, g, text):
    """The gradients of <weights, gradients> by the inputs and by the seed."""
    draw = generator(text, "weights")
    weights = [draw.normal(size=node.shape) for node in wrt]
    total = sum(
        ((torch.tensor(w) * t).sum() for w, t in zip(weights, theirs) if t is not None),
        torch.zeros(()),
    )
    try:
        expected = torch.autograd.grad(total, [*leaves, g], allow_unused=True)
    except (RuntimeError, NotImplementedError):  # PyTorch has no second derivative here
        return
    stand_in = [OPS["input"](name=f"w{k}", shape=n.shape) for k, n in enumerate(wrt)]
    ours = weighted([first[n] for n in wrt], stand_in)
    evaluate.values.update(zip(stand_in, weights))
    of = backward(ours, OPS["ones"](size=()), [*wrt, problem.seed.node]).of.values()
    for node, its in zip(of, expected, strict=True):
        _agree(None if node is None else evaluate(node)[0], its, weights[0], 1e-9)


@pytest.mark.parametrize("name", entries())
def test_gradients(name):
    for sample in samples(name):
        check(sample)


@pytest.mark.parametrize("name", [n for n, op in entries().items() if op.supports_gradgrad])
def test_second_order(name):
    for sample in itertools.islice(samples(name), 3):
        check(sample, second_order=True)


def test_what_is_left_out_is_refused():
    """As PyTorch's, told apart from names that do not exist."""
    names = {op.name for op in op_db if left_out(op.name) and "torch.ops" not in op.name}
    names -= {"float"}  # here it makes numbers of masks and integers; nothing is rounded
    unknown = [n for n in names if not refusal(n) and not refusal(n.split(".")[-1])]
    assert len(names) > 80
    assert not unknown
