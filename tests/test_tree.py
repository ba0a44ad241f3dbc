"""The printer: brackets where they are needed and nowhere else."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcli.notation import tree
from gradcli.notation.formulas.spelling import read
from gradcli.notation.tree import (
    NEW_DIMENSION,
    Attribute,
    Between,
    Block,
    Bracketed,
    Call,
    Condition,
    Derivative,
    Indexed,
    Infix,
    Listing,
    Method,
    Multiples,
    Name,
    Number,
    Prefix,
    Quotient,
    Slice,
    Subscript,
    Sum,
    Verbatim,
    children,
    size,
    text,
    tokens,
)

ARITHMETIC = ("+", "-", "*", "/", "//", "%", "@", "**", "&", "|")
a, b, c = map(Name, "abc")


def _nodes(inner):
    return st.one_of(
        st.builds(Infix, st.sampled_from((*ARITHMETIC, "==", "<", ">=")), inner, inner, st.none()),
        st.builds(Prefix, st.sampled_from("-~"), inner),
        st.builds(Method, inner, st.just("sum"), st.tuples(inner), st.just(())),
        st.builds(
            Call, st.just("exp"), st.tuples(inner), st.tuples(st.tuples(st.just("k"), inner))
        ),
        st.builds(Attribute, inner, st.just("T")),
        st.builds(Subscript, inner, st.just((Number(0), Slice(Number(1))))),
        st.builds(Listing, st.tuples(inner), st.sampled_from(("()", "[]"))),
        st.builds(Listing, st.tuples(inner, inner), st.just("()")),
    )


LEAVES = st.one_of(
    st.sampled_from((a, b)), st.builds(Number, st.sampled_from((0, 2, 0.5, 1e-05)), st.just(False))
)
TREES = st.recursive(LEAVES, _nodes, max_leaves=12)


@given(TREES)
def test_python_reads_what_was_meant(formula):
    assert read(text(formula)) == formula


@given(TREES)
def test_no_bracket_is_idle(formula):
    """Without any one pair of brackets the text means something else, or nothing."""
    written = text(formula)
    meant = ast.dump(ast.parse(written, mode="eval"))
    for start, end in _groups(written):
        without = written[:start] + " " + written[start + 1 : end] + " " + written[end + 1 :]
        if "==" in without or "<" in without or ">=" in without:
            continue  # beside | a comparison has brackets for the reader
        try:
            assert ast.dump(ast.parse(without.strip(), mode="eval")) != meant, without
        except SyntaxError:
            continue


def _groups(written):
    """Pairs of brackets that neither call nor make a tuple."""
    opened = []
    for place, character in enumerate(written):
        if character == "(":
            opened.append(place)
        elif character == ")":
            start = opened.pop()
            called = start > 0 and (written[start - 1].isalnum() or written[start - 1] in ")]_")
            inner = written[start + 1 : place]
            if not (called or _has_comma(inner) or inner[0].isdigit()):
                yield start, place


def _has_comma(inner):
    depth = 0
    for character in inner:
        depth += character in "([" or -(character in ")]")
        if character == "," and depth == 0:
            return True
    return False


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        (Infix("-", a, Infix("+", b, c)), "a - (b + c)"),
        (Infix("+", a, Infix("+", b, c)), "a + (b + c)"),
        (Infix("*", Infix("@", a, b), c), "a @ b * c"),
        (Infix("**", Number(-2), a), "(-2) ** a"),
        (Infix("**", a, Number(-2)), "a ** -2"),
        (Prefix("-", Infix("**", a, Number(2))), "-a ** 2"),
        (Infix("*", Prefix("-", a), b), "-a * b"),
        (Attribute(Infix("@", a, b), "T"), "(a @ b).T"),
        (Method(Number(2), "sum"), "(2).sum()"),
        (Method(Number(0.5), "sum"), "(0.5).sum()"),
        (Infix("&", Infix(">", a, b), Infix("<", a, c)), "(a > b) & (a < c)"),
        (Infix("·", a, Infix("·", b, c)), "a·b·c"),
        (Infix("*", Sum(("j",), a), b), "(Σ_j a) * b"),
        (Listing((a,)), "(a,)"),
        (Listing((a,), "[]"), "[a]"),
        (Number(2.0), "2"),
        (Number(2.0, point=True), "2.0"),
        (Number(float("-inf")), "-inf"),
        (Verbatim("0, 1:"), "0, 1:"),
        (Subscript(a, (NEW_DIMENSION, Slice(None, None, Number(2)))), "a[None, ::2]"),
        (Indexed(a, (Multiples(((Name("i"), 2), (Name("k"), -1)), 1), Number(0))), "a[2i-k+1,0]"),
        (Multiples(((Name("i"), -1),), 3), "3-i"),
        (Multiples(((Name("i"), 3),), -1, "*"), "3*i-1"),
        (Multiples(((Quotient(Name("i"), 3, 4), 2),), 0), "2·(i//3%4)"),
        (Condition(Infix("<=", Name("i"), Number(2))), "[i ≤ 2]"),
        (Condition(Between(0, Name("i"), 2)), "[0 ≤ i < 2]"),
        (Derivative(a, (Indexed(b, (Name("i"),)), c)), "∂²a/∂b[i]∂c"),
    ],
)
def test_written(formula, expected):
    assert text(formula) == expected


def test_roles_stay_with_their_text():
    found = tokens(Infix("*", Number(2), Name("g", "seed")))
    assert [tuple(t) for t in found] == [("2", "number"), (" * ", ""), ("g", "seed")]


def test_deep_and_shared_formulas():
    chain, shared = a, a
    for _ in range(10_000):
        chain = Call("sin", (chain,))
    for _ in range(200):
        shared = Infix("*", shared, shared)
    assert text(chain).startswith("sin(sin(")
    assert size(chain) == 10_001
    assert size(shared) == 2**201 - 1
    assert text(shared).endswith("...")
    assert len(tokens(shared)) == tree.LONG + 1


@pytest.mark.parametrize(
    "whole",
    [
        Infix("+", a, b),
        Prefix("-", a),
        Call("f", (a,), (("k", b),)),
        Method(a, "f", (b,), (("k", c),)),
        Attribute(a, "T"),
        Subscript(a, (Number(0),)),
        Listing((a, b)),
        Indexed(a, (Name("i"),)),
        Derivative(a, (b, c)),
        Sum(("i",), a),
        Bracketed(a),
        Block(((a, b),), c),
        Verbatim("0"),
        Number(1),
        a,
    ],
    ids=lambda whole: type(whole).__name__,
)
def test_children_are_what_is_printed(whole):
    """In the order in which they are read."""
    printed = [token.text for token in tokens(whole) if token.text in "abc"]
    assert [child.text for child in children(whole)] == ([] if whole is a else printed)
