"""A program that is asked about again: what is remembered of it is never an earlier answer."""

import numpy as np
import pytest
from console import gradcli as run

import gradcli
from gradcli.budget import Deadline, OutOfTime
from gradcli.graphs.signature import signature
from gradcli.language.posing import pose
from gradcli.notation.formulas.rules.atoms import atom_of
from gradcli.notation.formulas.shorten import Shortener
from gradcli.sized_cache import sized_cache


def test_other_values():
    for a in (2.0, -1.0):
        found = gradcli.grad("a * a * b", values={"a": [a, 3.0], "b": [1.0, a]}, grad=[1.0, 1.0])
        np.testing.assert_array_equal(found["a"], [2 * a, 6 * a])
        np.testing.assert_array_equal(found["b"], [a * a, 9.0])


def test_values_that_choose_elements():
    for index, expected in (([0, 0], [2, 0, 0]), ([2, 1], [0, 1, 1])):
        found = gradcli.grad("x[i].sum()", values={"x": np.ones(3), "i": index}, wrt="x")
        np.testing.assert_array_equal(found, expected)


def test_masks_as_large_as_each_other():
    for mask in ([True, False], [False, True]):
        found = gradcli.grad("x[m].sum()", values={"x": np.ones(2), "m": np.array(mask)})
        np.testing.assert_array_equal(found, mask)


def test_numbers_that_decide_a_shape():
    for n in (1, 3):
        times = {"x": np.array([1.0, 2.0]), "n": np.array([n, 1])}
        found = gradcli.grad("repeat_interleave(x, n).sum()", values=times, wrt="x")
        np.testing.assert_array_equal(found, [n, 1])


def test_other_shapes_and_kinds():
    assert gradcli.grad("x.sum()", values={"x": np.ones((2, 2))}).shape == (2, 2)
    assert gradcli.grad("x.sum()", values={"x": np.ones(3)}).shape == (3,)
    for values, expected in (({"x": [1.5, 2.5], "k": [1, 0]}, [0, 1]), ({"x": [1.5]}, None)):
        if expected is None:
            with pytest.raises(gradcli.GradcliError, match="k"):
                gradcli.grad("x[k][0]", values=values, wrt="x")
        else:
            found = gradcli.grad("x[k][0]", values=values, wrt="x")
            np.testing.assert_array_equal(found, expected)


def test_other_seeds():
    values = {"x": [1.0, 2.0]}
    assert gradcli.grad("x * x", values=values, grad=[1.0, 0.0]).tolist() == [2.0, 0.0]
    assert gradcli.grad("x * x", values=values, grad="2 * x").tolist() == [4.0, 16.0]
    with pytest.raises(gradcli.GradcliError, match="implicitly"):
        gradcli.grad("x * x", values=values)


def test_many_programs_by_turns():
    """Results of calls are kept, the latest, as far as there is room."""
    calls = []

    @sized_cache(100, lambda result, size: size)
    def double(size):
        calls.append(size)
        return 2 * size

    for _ in range(2):
        assert [double(size) for size in range(10)] == [2 * size for size in range(10)]
    assert calls == [*range(10)]
    assert [double(20), double(20)] == [40, 40]
    assert calls == [*range(10), 20]
    assert [double(size) for size in (21, 22, 23, 23)] == [42, 44, 46, 46]
    assert calls[-3:] == [21, 22, 23]
    assert [double(20), double(5)] == [40, 10]
    assert calls[-2:] == [23, 5]  # the oldest had to go
    assert [double(200), double(200), double(5)] == [400, 400, 10]
    assert calls[-2:] == [200, 5]  # the last one is kept, however large
    double.forget()
    double(5)
    assert calls[-2:] == [5, 5]


def test_what_was_asked_before_does_not_order_terms():
    values = ("-v", "x=[1.,2.]", "-v", "A=[[1.,2.],[3.,4.]]")
    for before in ("x @ A.T @ x", "x @ A @ x"):
        run("hessian", before, "-s", "x=2,A=2x2")
        assert "= A[i,j] + A[j,i]" in run("hessian", "x @ A @ x", *values, "-w", "x").out


def test_nor_differences():
    alone = gradcli.formula("abs(exp(q) - exp(p)).sum()", shapes={"p": (3,), "q": (3,)}, wrt="q")
    assert alone == "sign(exp(q) - exp(p)) * exp(q)"
    gradcli.formula("exp(r) * s", shapes={"r": (3,), "s": (3,)})
    after = gradcli.formula("abs(exp(s) - exp(r)).sum()", shapes={"r": (3,), "s": (3,)}, wrt="s")
    assert after == "sign(exp(s) - exp(r)) * exp(s)"


def test_nor_factors():
    named = pose("a = exp(x); b = exp(x); a * b", shapes={"x": (2,)}).named
    a, b = atom_of(named["a"]), atom_of(named["b"])
    assert a is not b
    assert signature(a * a) == signature(b * b)


def test_nor_arrays():
    texts = ("x * tensor([2, 0])", "x * tensor([2,0])")
    one, other = (pose(text, shapes={"x": (2,)}).out for text in texts)
    assert one is not other
    assert signature(one) == signature(other)


@pytest.mark.parametrize("ticks", [20, 200, 1000])
def test_a_search_that_was_cut_short_leaves_nothing_behind(ticks, monkeypatch):
    """The same program with a comment is one that was never asked about."""
    expr = f"(x / x.norm() * w).sum() + {ticks} * logsumexp(x * w, 0)"
    given = {"x": np.arange(1.0, 4), "w": np.ones(3)}
    with monkeypatch.context() as patch:
        left = iter(range(ticks))
        patch.setattr(Deadline, "tick", lambda *_: cut_short() if next(left, -1) < 0 else None)
        gradcli.formula(expr, values=given)
    assert next(left, None) is None, "nothing was cut short"
    assert gradcli.formula(expr, values=given) == gradcli.formula(f"{expr}  # new", values=given)


def cut_short():
    raise OutOfTime


def test_formulas_are_searched_for_once(monkeypatch):
    searched = []
    search = Shortener.__call__
    monkeypatch.setattr(Shortener, "__call__", lambda *a: searched.append(a) or search(*a))
    formulas = [gradcli.formula("sigmoid(x * 7) ** 3", values={"x": v}) for v in (0.5, 0.25)]
    assert formulas[0] == formulas[1]
    assert len(searched) == len({node for _, node in searched})
