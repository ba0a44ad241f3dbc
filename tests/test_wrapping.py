"""Programs in a number of columns."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcli.render.wrapping import wrapped

MATRIX = "q = torch.tensor([[1.54099, -0.29342, -2.17878], [0.56843, -1.08452, -1.39859]])"
SUM = "out = torch.softmax(q @ k.T + m, dim=-1) @ v + torch.softmax(q @ k.T + m, dim=-1) @ v"


def test_a_matrix_by_its_rows():
    assert wrapped(MATRIX, 60).split("\n") == [
        "q = torch.tensor([[1.54099, -0.29342, -2.17878],",
        "                  [0.56843, -1.08452, -1.39859]])",
    ]


def test_a_matrix_whose_rows_do_not_fit_beside_its_function():
    assert wrapped(MATRIX, 40).split("\n") == [
        "q = torch.tensor(",
        "    [[1.54099, -0.29342, -2.17878],",
        "     [0.56843, -1.08452, -1.39859]])",
    ]


def test_rows_of_a_matrix_that_are_long_have_a_line_each():
    rows = ["[1.54099, -0.29342]", "[0.56843, -1.08452]", "[0.40334, 0.83802]"]
    assert wrapped(f"f([{', '.join(rows)}])", 50).split("\n") == [
        f"f([{rows[0]},", f"   {rows[1]},", f"   {rows[2]}])"
    ]  # fmt: skip


def test_a_sum_gets_brackets():
    assert wrapped(SUM, 60).split("\n") == [
        "out = (torch.softmax(q @ k.T + m, dim=-1) @ v",
        "       + torch.softmax(q @ k.T + m, dim=-1) @ v)",
    ]


def test_arguments_that_do_not_fit_beside_their_function():
    program = "normalized = layer_norm(states, (5,), weight, bias); normalized.backward(seeds,True)"
    assert wrapped(program, 28).split("\n") == [
        "normalized = layer_norm(",
        "    states, (5,), weight,",
        "    bias)",
        "normalized.backward(seeds,",
        "    True)",
    ]


def test_a_comment_moves_below():
    assert wrapped("a.grad  # [[1.0, 2.0], [3.0, 4.0]]", 24).split("\n") == [
        "a.grad",
        "# [[1.0, 2.0],",
        "#  [3.0, 4.0]]",
    ]


@pytest.mark.parametrize(
    ("line", "width", "expected"),
    [
        (" 7  f(x) # the first words", 20, [" 7  f(x)", "    # the first", "    # words"]),
        ("12  # one two three", 14, ["12  # one two", "    # three"]),
        ("f(x, 'a # b', y)  #c d", 18, ["f(x, 'a # b', y)", "# c d"]),
        ('f("it\'s # 3", y, z) # c', 20, ['f("it\'s # 3", y, z)', "# c"]),
    ],
)
def test_words_and_numbers_of_lines(line, width, expected):
    assert wrapped(line, width).split("\n") == expected


def test_what_has_no_place_to_break_stays():
    line = "x.grad = " + "y" * 100
    assert wrapped(line, 40) == line


TERMS = st.recursive(
    st.sampled_from(["x", "1.25", "-0.125", "'a, b'", "alpha_beta"]),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map(lambda e: f"f({', '.join(e)})"),
        st.lists(inner, min_size=1, max_size=4).map(lambda e: f"[{', '.join(e)}]"),
        st.tuples(inner, st.sampled_from("+-*/@"), inner).map(" ".join),
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("width", [20, 50, 80])
@given(value=TERMS)
def test_a_program_stays_the_same_program(width, value):
    line = f"out = {value}"
    found = wrapped(line, width)
    assert ast.dump(ast.parse(found)) == ast.dump(ast.parse(line))
