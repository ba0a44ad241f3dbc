"""Kinks are spoken of where values hit one and a gradient flows, and nowhere else."""

import math

import numpy as np
import pytest
from console import gradcli
from support import one_row_in

import gradcli as library

CENTRE = [[[[0.0, 0.0]]]]
OUTSIDE = [[[[-2.0, 0.0]]]]  # as far from the first of three elements as that from the second
ONES, EYE, ZEROS = [[1.0, 1.0], [1.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]

HIT = [
    ("F.adaptive_max_pool1d(x, 1)", {"x": [[1.0, 1.0]]}),
    ("F.adaptive_max_pool2d(x, (1, 2)).sum()", {"x": [[[1.0, 1.0, 0.0]]]}),
    ("F.max_pool2d(x, 2, stride=1).sum()", {"x": [[[1.0, 2.0, 2.0], [0.0, 0.0, 0.0]]]}),
    ("F.multi_margin_loss(x, torch.tensor([0]))", {"x": [[1.0, 0.0]]}),
    ("F.multilabel_margin_loss(x, torch.tensor([0, -1]))", {"x": [1.0, 0.0]}),
    ("x.norm(p=1)", {"x": [0.0, 1.0]}),
    ("x.norm(p=float('inf'))", {"x": [1.0, -1.0]}),
    ("x.norm(p=-float('inf'))", {"x": [1.0, 1.0, 2.0]}),
    ("torch.cdist(x, y, p=1)", {"x": [[0.0, 1.0]], "y": [[0.0, 0.0]]}),
    ("torch.cdist(x, y, p=float('inf'))", {"x": [[1.0, 1.0]], "y": [[0.0, 0.0]]}),
    ("torch.pdist(x, p=1)", {"x": [[0.0, 1.0], [0.0, 2.0]]}),
    ("F.softplus(x, 1, 1)", {"x": 1.0}),
    ("softplus_backward(a, x)", {"a": 1.0, "x": 20.0}),
    ("torch.ldexp(x, torch.tensor([-1]))", {"x": [1.0]}),
    ("torch.ldexp(x, torch.tensor([63]))", {"x": [1.0]}),
    ("x.cummax(0)[0].sum()", {"x": [1.0, 1.0]}),
    ("x.cummin(0)[0].sum()", {"x": [2.0, 1.0, 3.0, 1.0]}),
    ("F.elu(x, 2.)", {"x": 0.0}),
    ("torch.logit(x, eps=.25)", {"x": 0.25}),
    ("torch.linalg.matrix_norm(x, 1)", {"x": [[1.0, 2.0], [2.0, -1.0]]}),
    ("torch.linalg.matrix_norm(x, float('inf'))", {"x": [[3.0, 0.0], [1.0, 1.0]]}),
    ("torch.linalg.matrix_norm(x, 2)", {"x": EYE}),
    ("torch.linalg.matrix_norm(x)", {"x": ZEROS}),
    ("torch.linalg.norm(x, 'nuc')", {"x": ONES}),
    ("torch.linalg.matrix_norm(x, 'nuc')", {"x": [EYE, ONES, EYE]}),
    ("torch.linalg.svdvals(x)[0]", {"x": EYE}),
    ("torch.linalg.eigvalsh(x)[0]", {"x": EYE}),
    ("torch.renorm(x, 2, 0, 5.).sum()", {"x": [[3.0, 4.0], [0.0, 1.0]]}),
    ("F.normalize(x, p=1, dim=0)[1]", {"x": [0.0, 1.0]}),
    ("F.gaussian_nll_loss(x, y, v, eps=.5)", {"x": [1.0], "y": [0.0], "v": [0.5]}),
    ("torch.atan2(x[0], x[1])", {"x": [0.0, -1.0]}),
    ("torch.copysign(torch.ones(1), x)", {"x": [0.0]}),
    ("x.quantile(0.4)", {"x": [2.0, 1.0, 1.0, 0.0]}),
    ("x.nanquantile(0.5)", {"x": [2.0, 1.0, 1.0, 0.0, math.nan]}),
    ("x.quantile(q)", {"x": [2.0, 1.0, 3.0], "q": 0.5}),
    ("x.argsort().double() @ x", {"x": [1.0, 1.0]}),
    ("x.gather(0, x.kthvalue(1, keepdim=True).indices).sum()", {"x": [1.0, 1.0, 2.0]}),
    ("x.gather(0, x.mode(0, True).indices).sum()", {"x": [1.0, 1.0, 2.0]}),
    ("x.gather(0, x.cummax(0).indices).sum()", {"x": [1.0, 1.0, 2.0]}),
    ("x[x.argsort()] @ x.detach()", {"x": [1.0, 1.0, 3.0]}),
    ("x[x.argmax()]", {"x": [2.0, 2.0]}),
    ("F.embedding(torch.tensor([0, 1]), x, padding_idx=1)", {"x": EYE}),
    ("F.embedding(torch.tensor([2, 2]), x, scale_grad_by_freq=True)", {"x": [*EYE, [1.0, 2.0]]}),
    *(
        ("F.grid_sample(x, p, align_corners=True).sum()", {"x": [[[[1.0, 2.0, 4.0]]]], "p": p})
        for p in (CENTRE, OUTSIDE)
    ),
    (
        "F.grid_sample(x, p, 'nearest', align_corners=False).sum()",
        {"x": [[[[1.0, 2.0]]]], "p": CENTRE},
    ),
    (
        "F.grid_sample(x, p, padding_mode='reflection', align_corners=True).sum()",
        {"x": [[[[1.0, 2.0, 4.0]]]], "p": [[[[-2.0, 0.0]]]]},
    ),
    ("torch.linalg.svdvals(x)[..., 0]", {"x": [EYE]}),
    ("torch.linalg.eigvalsh(x)[..., 0]", {"x": [EYE]}),
    ("torch.linalg.matrix_norm(x, 2)", {"x": [EYE]}),
    ("torch.cdist(x, y, p=1)", {"x": [[[0.0, 1.0], [2.0, 2.0]]], "y": [[[0.0, 0.0]]]}),
    ("F.softplus(x, 2., 1.)", {"x": 0.5}),
    ("x.put(torch.tensor([0, 0]), v)", {"x": [1.0, 2.0], "v": [3.0, 4.0]}),
    ("torch.linalg.householder_product(A, t)", {"A": [[1.0], [2.0]], "t": [0.2]}),
    ("torch.linalg.householder_product(A, t)", {"A": [[[1.0, 0], [3.0, 1]]], "t": [[0.5, 1.0]]}),
]

NOT_HIT = [
    ("x.cummax(0)[0]", {"x": 2.0}),
    ("torch.renorm(x, 2, 0, 1.).sum()", {"x": [[3.0, 4.0], [0.1, 0.2]]}),
    ("x.quantile(0.5)", {"x": [3.0, 1.0, 2.0]}),
    ("x.nanquantile(0.5)", {"x": [3.0, 1.0, 2.0]}),
    ("x.quantile(0.9)", {"x": [3.0, 1.0, 1.0, 1.0, 4.0]}),
    ("F.softsign(x)", {"x": 0.0}),
    ("torch.ldexp(x, torch.tensor([0, 62]))", {"x": [1.0, 2.0]}),
    ("F.softplus(x, 2., 1.)", {"x": 2.0}),
    ("torch.linalg.householder_product(A, t)", {"A": [[1.0], [0.0]], "t": [2.0]}),
    ("x[x.argsort()] @ x.detach()", {"x": [1.0, 2.0, 3.0]}),
    ("x.gather(0, x.kthvalue(3, keepdim=True).indices).sum()", {"x": [1.0, 1.0, 2.0]}),
    ("x[x.detach().argmax()]", {"x": [2.0, 2.0]}),
    ("F.elu(x) + F.celu(x, 2.)", {"x": 0.0}),
    ("x.detach().abs() * x", {"x": 0.0}),
    ("x.sign().detach() * x", {"x": 0.0}),
    ("x.floor().detach() + x", {"x": 2.0}),
    ("where(x.abs() > 0, x, 2 * x)", {"x": 0.0}),
    ("x.norm(p=float('inf'))", {"x": [1.0, 2.0]}),
    ("F.multi_margin_loss(x, torch.tensor([0]), p=2)", {"x": [[1.0, 0.0]]}),
    ("F.max_pool1d(x, 2, padding=1).sum()", {"x": [[1.0, 1.0]]}),
    ("torch.linalg.norm(x, 'nuc')", {"x": EYE}),
    ("torch.linalg.matrix_norm(x, 1)", {"x": [[0.0, 2.0], [0.5, 3.0]]}),
    ("torch.copysign(x, torch.zeros(1))", {"x": [1.0]}),
    ("torch.linalg.matrix_norm(x, 1)", {"x": [[[1.0, 1.0], [2.0, 1.0]], [[0.5, 1.0]] * 2]}),
    ("F.gaussian_nll_loss(x, y, v.detach(), eps=.5)", {"x": [1.0], "y": [0.0], "v": [0.5]}),
    ("x.put(torch.tensor([0, 0]), v, accumulate=True)", {"x": [1.0, 2.0], "v": [3.0, 4.0]}),
    ("x.put(torch.tensor([0, 1]), v)", {"x": [1.0, 2.0], "v": [3.0, 4.0]}),
    ("F.embedding(torch.tensor([0, 0]), x, padding_idx=1)", {"x": EYE}),
    ("F.embedding(torch.tensor([0, 1]), x, scale_grad_by_freq=True)", {"x": EYE}),
    ("F.grid_sample(x, p.detach(), align_corners=True).sum()", {"x": [[[[1.0]]]], "p": CENTRE}),
    ("F.grid_sample(x, p, align_corners=True).sum()", {"x": [[[[1.0, 2.0]]]], "p": [[[[0.3, 0]]]]}),
    ("F.grid_sample(x, p, 'nearest', align_corners=True)", {"x": [[[[1.0]]]], "p": CENTRE}),
    ("F.grid_sample(x, p, 'nearest', align_corners=True)", {"x": [[[[1.0, 2, 4]]]], "p": CENTRE}),
    (
        "F.grid_sample(x, p, padding_mode='border', align_corners=True).sum()",
        {"x": [[[[1.0, 2.0, 4.0]]]], "p": OUTSIDE},
    ),
]


def _told(expr, values, **more):
    found = library.explain(expr, values=values, **more).notes
    return [note["message"] for note in found if note["code"] == "kink"]


@pytest.mark.parametrize(("expr", "values"), one_row_in(3, HIT))
def test_a_kink_is_spoken_of(expr, values):
    assert _told(expr, values)


@pytest.mark.parametrize(("expr", "values"), one_row_in(3, NOT_HIT))
def test_where_nothing_is_hit_nothing_is_said(expr, values):
    assert _told(expr, values) == []


@pytest.mark.oracle
@pytest.mark.parametrize(("expr", "values"), HIT[::4])
def test_a_check_against_others_passes_at_a_kink(expr, values):
    pytest.importorskip("torch", reason="torch is the oracle of these tests")
    pytest.importorskip("jax", reason="JAX is the oracle of these tests")
    given = [part for name, value in values.items() for part in ("-v", f"{name}={value}")]
    result = gradcli("check", expr, *given, "--against", "torch,jax")
    assert result.status == 0, result.out + result.err


def test_a_part_of_what_was_written_is_told_with_the_whole():
    (said,) = _told("F.l1_loss(x, y)", {"x": [0.0, 1.0], "y": [0.0, 2.0]})
    assert said.startswith("in F.l1_loss(x, y), x - y at [0] is exactly 0, where abs has")
    (said,) = _told("F.multi_margin_loss(x, tensor([0]))", {"x": [[1.0, 0.0]]})
    assert said.startswith("in F.multi_margin_loss(x, tensor([0])): no derivative where a class")


def test_a_kink_that_is_met_twice_is_told_once():
    (said,) = _told("F.cosine_similarity(x, x * 1, dim=0)", {"x": [0.0, 0.0]})
    assert "clamp_with_gradient" not in said


def test_a_short_vector_is_as_long_as_it_is_when_it_is_broadcast():
    values = {"x": [[0.7], [0.1]], "y": [[1.0, 0.0, 2.0]] * 2}
    (said,) = _told("cosine_similarity(x, y, eps=1.0)", values)
    assert "at [1]: the gradient flows" in said


def test_the_window_with_a_tie_is_named():
    (said,) = _told("F.max_pool1d(x, 2)", {"x": [[1.0, 1.0, 3.0, 2.0]]})
    assert " at [0,0]" in said


def test_which_of_equal_elements_comes_first_is_said_to_depend_on_the_machine():
    (said,) = _told("x.sort()[0]", {"x": np.zeros(17)}, grad=np.arange(17.0))
    assert "16 elements" in said
    assert "machine" in said
