"""The structure of Jacobians against their numbers, for every example in the table."""

from functools import partial, reduce

import numpy as np
import pytest
from support import Case, Checks, case, one_hot_jacobian, swept

from gradcli.explanation.analysis import Analysis
from gradcli.explanation.blocks import ZERO
from gradcli.explanation.entries import in_symbols
from gradcli.explanation.formulas.formula_writer import FormulaWriter
from gradcli.graphs import OPS
from gradcli.language.arguments.option_texts import read_shapes
from gradcli.language.posing import pose
from gradcli.notation import tree
from gradcli.notation.formulas.spelling import read
from gradcli.notation.indices.collect import Simplifier
from gradcli.notation.indices.expressions import delta, factors_of, product_of
from gradcli.notation.jacobians import bands, jacobian_entry
from gradcli.notation.jacobians.composed import Composition
from gradcli.notation.jacobians.jacobian_entry import JacobianEntry, along_diagonal
from gradcli.notation.jacobians.layouts import Layout
from gradcli.notation.jacobians.patterns import SELECTIONS, by_pattern, is_confirmed, picture
from gradcli.notation.jacobians.structure import Structure, jacobian_structure

checks = Checks()


def structures(c: Case):
    """For every input: its structure from deltas, the same held against numbers, the numbers."""
    for x, grad in c.grads.items():
        J = one_hot_jacobian(c, grad, (c.p.out.numel, x.numel))
        alone = jacobian_structure(c.p.out, x, grad, c.seed, c.names)
        checked = jacobian_structure(c.p.out, x, grad, c.seed, c.names, J)
        yield alone, checked, J


@pytest.mark.parametrize("example", swept(8, others=8, firsts=4))
def test_example(example):
    checks.run(case(example))


@checks
def structure_is_that_of_the_numbers(c):
    for alone, checked, J in structures(c):
        for s in (alone, checked):
            assert s.total == J.size
            assert s.nonzero is None or np.count_nonzero(J) <= s.nonzero
            agrees(s.name, J)
            if s.formula is not None:
                np.testing.assert_allclose(s.matrix(c.array, J.shape), J, rtol=1e-9, atol=1e-11)
        if alone.nonzero is not None and checked.name not in SELECTIONS:
            # deltas are never contradicted
            assert checked == alone
        assert checked.name == alone.name or alone.name == "dense" or alone.nonzero is None


def agrees(name: str, J: np.ndarray) -> None:
    rows, columns = J.shape
    eye = np.eye(rows, columns)
    if name in ("identity", "scaled identity", "diagonal"):
        assert rows == columns
        assert not J[eye == 0].any()
        assert name != "identity" or np.allclose(J, eye)
        assert name != "scaled identity" or np.allclose(J, J[0, 0] * eye)
    elif name == "zero":
        assert not J.any()
    elif name == "row":
        assert rows == 1
    elif name in ("permutation", "selection"):
        assert set(np.unique(J)) <= {0, 1}
        assert (J.sum(1) == 1).all()
        assert name == "selection" or (J.sum(0) == 1).all()
    elif name == "generalized permutation":
        assert rows == columns
        assert (np.count_nonzero(J, 0) <= 1).all()
        assert (np.count_nonzero(J, 1) <= 1).all()
    elif name == "transposed selection":
        assert set(np.unique(J)) <= {0, 1}
        assert (J.sum(0) == 1).all()
        assert (J.sum(1) <= 1).all()
    elif name == "banded":
        offsets = np.diff(np.nonzero(J), axis=0)
        least = min(rows, columns)
        assert 2 * (np.abs(offsets).max() + 1) <= least or 2 * (np.ptp(offsets) + 1) <= least + 1
    elif name == "cyclically banded":
        round_about = [np.diag(np.roll(J, -k, axis=1)) for k in range(rows)]
        met = [d for d in round_about if d.any()]
        assert 2 * len(met) <= rows == columns
        assert all(d.all() for d in met)
    elif name == "lower-triangular":
        assert not np.triu(J, 1).any()
    elif name == "upper-triangular":
        assert not np.tril(J, -1).any()
    elif name == "symmetric low-rank update":
        np.testing.assert_allclose(J, J.T)
    elif name == "skew-symmetric":
        np.testing.assert_allclose(J, -J.T)
    elif name == "permuted block-diagonal":
        assert components(J[J.any(1)]) > 1 or not J.any(0).all()
    elif name == "kronecker":
        assert is_kronecker(J)
    elif name == "permuted kronecker":
        orders = [np.arange(rows).reshape(k, -1).T.ravel() for k in divisors(rows)]
        assert any(is_kronecker(J[order]) for order in orders)
    else:
        assert name in ("block-diagonal", "low-rank update", "dense")


def is_kronecker(J: np.ndarray) -> bool:
    """Whether it is kron(a, b), b being its first block that is not 0."""
    rows, columns = J.shape
    for m, n in ((m, n) for m in divisors(rows) for n in divisors(columns)):
        blocks = [b for row in np.split(J, m) for b in np.split(row, n, axis=1)]
        b = next((b for b in blocks if b.any()), blocks[0])
        at = np.unravel_index(np.abs(b).argmax(), b.shape)
        a = np.array([block[at] for block in blocks]).reshape(m, n) / (b[at] or 1)
        if 1 < m * n < J.size and np.allclose(np.kron(a, b), J):
            return True
    return False


def divisors(n: int) -> list[int]:
    return [k for k in range(1, n + 1) if n % k == 0]


def components(J: np.ndarray) -> int:
    """How many parts a matrix falls into, of rows and columns that share entries."""
    touching = (J != 0).astype(int) @ (J != 0).T > 0
    for _ in range(len(J)):
        touching = touching.astype(int) @ touching > 0
    return len({tuple(row) for row in touching})


N, X = "x.shape[0]", "x.numel()"
ALONG_ROWS = "kron(ones(x.shape[0], x.shape[0]), eye(x.shape[1]))"
NAMED = [
    ("a * a", "a=2x3", "a", "diagonal", "diag((2 * a).flatten())", 6),
    ("x @ a", "x=2x3,a=3x4", "x", "kronecker", "kron(eye(x.shape[0]), a).T", 24),
    ("x @ a", "x=2x3,a=3x4", "a", "kronecker", "kron(x, eye(a.shape[1]))", 24),
    ("A @ x @ B", "A=2x3,x=3x4,B=4x2", "x", "kronecker", "kron(A, B.T.contiguous())", 48),
    ("x @ x", "x=3x3", "x", "dense", "kron(eye(x.shape[0]), x).T + kron(x, eye(x.shape[1]))", 45),
    ("A @ x", "A=2x3,x=3", "x", "dense", "A", 6),
    ("A @ x", "A=2x3,x=3", "A", "kronecker", "kron(eye(A.shape[0]), x)", 6),
    ("softmax(x, 0)", "x=3", "x", "symmetric low-rank update", "diag(out) - outer(out, out)", 9),
    ("softmax(W.T @ x, 0)", "W=3x4,x=3", "x", "dense", "(diag(out) - outer(out, out)) @ W.T", 12),
    ("softmax(x, 1)", "x=2x3", "x", "block-diagonal", "diag(out[i]) - outer(out[i], out[i])", 18),
    ("log_softmax(x, 0)", "x=3", "x", "low-rank update", "eye(x.shape[0]) - exp(out)", 9),
    ("x * x.sum()", "x=3", "x", "low-rank update", "x.sum() * eye(x.shape[0]) + x[:, None]", 9),
    ("x + x.sum()", "x=3", "x", "symmetric low-rank update", "eye(x.shape[0]) + 1", 9),
    ("repeat_interleave(x, 2)", "x=3", "x", "selection", "kron(eye(x.shape[0]), ones(2, 1))", 6),
    ("(X @ w - y)**2", "X=4x3,w=3,y=4", "w", "dense", "2 * diag(X @ w - y) @ X", 12),
    ("x + y", "x=2x3,y=2x3", "x", "identity", "eye(x.numel())", 6),
    ("x.reshape(3, 2)", "x=2x3", "x", "identity", "eye(x.numel())", 6),
    ("2 * x + 1", "x=3", "x", "scaled identity", "2 * eye(x.shape[0])", 3),
    ("x.T", "x=2x3", "x", "permutation", f"eye({X})[arange({X}).reshape(x.shape).T.flatten()]", 6),
    ("x.flip(0)", "x=3", "x", "permutation", "eye(x.shape[0]).flip(0)", 3),
    ("x[1:]", "x=4", "x", "selection", "eye(x.shape[0])[1:]", 3),
    ("x[:, 0]", "x=2x3", "x", "selection", "kron(eye(x.shape[0]), eye(x.shape[1])[[0]])", 2),
    ("x.sum(0)", "x=2x3", "x", "kronecker", "kron(ones(1, x.shape[0]), eye(x.shape[1]))", 6),
    ("x.mean(1)", "x=2x3", "x", "kronecker",
     "kron(eye(x.shape[0]), ones(1, x.shape[1])) / x.shape[1]", 6),
    ("x - x.mean()", "x=4", "x", "symmetric low-rank update", "eye(x.shape[0]) - 1 / x.numel()",
     16),
    ("x.sum()", "x=2x3", "x", "row", "ones(1, x.numel())", 6),
    ("x.cumsum(0)", "x=4", "x", "lower-triangular", "tril(ones(x.shape[0], x.shape[0]))", 10),
    ("x.flip(0).cumsum(0).flip(0)", "x=4", "x", "upper-triangular",
     "triu(ones(x.shape[0], x.shape[0]))", 10),
    ("relu(x)", "x=3", "x", "diagonal", "diag((out > 0).double())", 3),
    ("a / b", "a=3,b=3", "b", "diagonal", "diag(-a / b ** 2)", 3),
    ("outer(a, b)", "a=2,b=3", "a", "kronecker", "kron(eye(a.shape[0]), b[:, None])", 6),
    ("inv(x)", "x=2x2", "x", "kronecker", "-kron(out.contiguous(), out.T.contiguous())", 16),
    ("bmm(a, b)", "a=2x2x2,b=2x2x2", "a", "block-diagonal", "b[i].T", 16),
    ("x * 0 + y", "x=2,y=2", "x", "zero", "zeros(out.shape[0], x.shape[0])", 0),
    ("cat([a, b])", "a=2,b=3", "a", "transposed selection", "eye(out.shape[0])[:, :2]", 2),
    ("x[1:] - x[:-1]", "x=6", "x", "banded", "eye(x.shape[0])[1:] - eye(x.shape[0])[:-1]", 10),
    ("x - x.roll(1)", "x=4", "x", "cyclically banded", f"eye({N}) - eye({N}).roll(1, 0)", 8),
    ("x - x.roll(1)", "x=3", "x", "dense", f"eye({N}) - eye({N}).roll(1, 0)", 6),
    ("x[1:] - x[:-1]", "x=4", "x", "banded", f"eye({N})[1:] - eye({N})[:-1]", 6),
    ("x[1:] - x[:-1]", "x=3", "x", "dense", f"eye({N})[1:] - eye({N})[:-1]", 4),
    ("x[:, :2] @ w", "x=2x3,w=2x2", "x", "kronecker",
     "kron(eye(x.shape[0]), w.T @ eye(x.shape[1])[:-1])", 8),
    ("log_softmax(x, 0)", "x=2x3", "x", "permuted block-diagonal",
     f"eye(x.numel()) - {ALONG_ROWS} @ diag(exp(out).flatten())", 12),
    ("log_softmax(x, 0)", "x=3x2", "x", "permuted block-diagonal",
     f"eye(x.numel()) - {ALONG_ROWS} @ diag(exp(out).flatten())", 18),
    ("log_softmax(x, 1)", "x=2x3", "x", "block-diagonal", "eye(x.shape[1]) - exp(out[i])", 18),
]  # fmt: skip


@pytest.mark.parametrize(("text", "shapes", "name", "kind", "formula", "nonzero"), NAMED)
def test_named(text, shapes, name, kind, formula, nonzero):
    c = Case(pose(text, shapes=read_shapes([shapes])), random_seed=False)
    x, grad = c.of(name)
    found = jacobian_structure(c.p.out, x, grad, c.seed, c.names)
    written = None if found.formula is None else tree.text(found.formula)
    assert (found.name, written, found.nonzero) == (kind, formula, nonzero)
    assert found.total == c.p.out.numel * x.numel


def test_large_is_never_built():
    c = Case(pose("x @ a", shapes={"x": (1000, 1000), "a": (1000, 1000)}), random_seed=False)
    x, grad = c.of("x")
    found = jacobian_structure(c.p.out, x, grad, c.seed, c.names)
    assert (found.name, found.nonzero, found.total) == ("kronecker", 10**9, 10**12)
    assert tree.text(found.formula) == "kron(eye(x.shape[0]), a).T"


@pytest.mark.parametrize(
    ("text", "name", "nonzero"),
    [
        ("x.T", "permutation", 10**6),
        ("x.flip(0, 1)", "permutation", 10**6),
        ("x[1:]", "selection", 999_000),
        ("softmax(x, -1)", "block-diagonal", 10**9),  # 1000 blocks of 1000 by 1000
        ("layer_norm(x, (1000,))", "block-diagonal", 10**9),
        ("x.cumsum(1)", "kronecker", 1000 * 1000 * 1001 // 2),  # a triangle for each row
        ("x.diff(dim=0)", "kronecker", 2 * 999 * 1000),
        ("x.tril()", "diagonal", 1000 * 1001 // 2),
    ],
)
def test_large_ones_are_counted_too(text, name, nonzero):
    c = Case(pose(text, shapes={"x": (1000, 1000)}), random_seed=False)
    x, grad = c.of("x")
    found = jacobian_structure(c.p.out, x, grad, c.seed, c.names)
    assert (found.name, found.nonzero) == (name, nonzero)


@pytest.mark.parametrize("drawn", [True, False])
@pytest.mark.parametrize(
    ("text", "shapes", "nonzero"),
    [
        ("x * x", "x=2x3", 6),
        ("x[::2]", "x=5", 3),
        ("pad(x, (1, 1))", "x=3", 3),
        ("x.repeat(2)", "x=3", 2 * 3),
        ("x.diff()", "x=5", 2 * 4),
        ("x + x.roll(1)", "x=4", 2 * 4),
        ("x.cumsum(0)", "x=4", 4 + 3 + 2 + 1),
        ("x.tril()", "x=3x3", 3 + 2 + 1),
        ("x.triu(1)", "x=3x4", 3 + 2 + 1),
        ("trace(x)", "x=3x3", 3),
        ("x.unfold(0, 3, 1)", "x=5", 3 * 3),
        ("avg_pool1d(x, 2)", "x=1x6", 2 * 3),
        ("conv1d(x, w)", "x=1x1x5,w=1x1x2", 2 * 4),
        ("softmax(x, -1)", "x=2x3", 2 * 3 * 3),
        ("x @ a", "x=2x3,a=3x4", 3 * 2 * 4),
        ("x @ x", "x=3x3", 9 * (3 + 3 - 1)),  # a row and a column, with one element in common
        ("outer(x, y)", "x=2,y=3", 2 * 3),
        ("x.sum(1)", "x=2x3", 2 * 3),
    ],
)
def test_places_are_counted_with_a_pattern_and_without(text, shapes, nonzero, drawn, monkeypatch):
    if not drawn:
        monkeypatch.setattr(JacobianEntry, "pattern", lambda *_: None)
    c = Case(pose(text, shapes=read_shapes([shapes])), random_seed=False)
    x, grad = c.of("x")
    assert jacobian_structure(c.p.out, x, grad, c.seed, c.names).nonzero == nonzero


@checks
def no_place_is_missed_without_a_pattern(c):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(JacobianEntry, "pattern", lambda *_: None)
        for x, grad in c.grads.items():
            J = one_hot_jacobian(c, grad, (c.p.out.numel, x.numel))
            alone = jacobian_structure(c.p.out, x, grad, c.seed, c.names)
            assert alone.nonzero is None or alone.nonzero >= np.count_nonzero(J)


def test_a_picture():
    pattern = np.zeros((5, 4), bool)
    pattern[:2, :2] = pattern[4, 2] = True
    assert picture(pattern, 2) == ((2, 0), (0, 0), (0, 1))  # the last cells are one entry high
    assert picture(pattern, 1)[0] == (2, 2, 0, 0)


def test_blocks_are_put_on_the_diagonal():
    c = Case(pose("softmax(x, 1)", values={"x": [[0.0, 1, 2], [3, 1, 0]]}), random_seed=False)
    x, grad = c.of("x")
    s = jacobian_structure(c.p.out, x, grad, c.seed, c.names)
    out = c.value(c.p.out)
    expected = np.zeros((6, 6))
    for k in (0, 3):
        row = out[k // 3]
        expected[k : k + 3, k : k + 3] = np.diag(row) - np.outer(row, row)
    np.testing.assert_allclose(s.matrix(c.array, (6, 6)), expected)
    block = "diag(out[i]) - outer(out[i], out[i])"
    assert s.text == f"block_diag(*[{block} for i in range(x.shape[0])])"


TWO_CORNERS = np.fliplr(np.diag([1, 0, 0, 0, 0, 0, 1]))


@pytest.mark.parametrize(
    ("matrix", "name"),
    [
        (np.eye(7) + np.roll(np.eye(7), 1, axis=1), "cyclically banded"),
        (2 * np.eye(7) + TWO_CORNERS, "dense"),
        (np.eye(7, k=1) + np.eye(7, k=-1), "banded"),
    ],
)
def test_a_band_that_goes_round_is_filled(matrix, name):
    assert by_pattern(matrix != 0, units=False) == name


@pytest.mark.parametrize(
    ("rows", "columns", "first", "last", "ok"),
    [
        (3, 3, -1, 1, True),  # 7 of 9 entries, and narrow at larger sizes
        (3, 5, 0, 2, True),
        (2, 4, 0, 2, False),  # all but two corners
        (6, 6, -5, 4, False),  # all but one
        (6, 6, -3, 3, True),
        (6, 6, -4, 4, False),
    ],
)
def test_numbers_confirm_a_band_that_leaves_out_diagonals(rows, columns, first, last, ok):
    matrix = np.tril(np.triu(np.ones((rows, columns)), first), last)
    assert is_confirmed("banded", matrix) is ok


def test_to_confirm_a_structure_without_a_check_is_an_error():
    with pytest.raises(KeyError):
        is_confirmed("tridiagonal", np.eye(3))


def test_a_zero_among_its_numbers_does_not_end_a_band_that_goes_round():
    matrix = np.eye(6) + np.roll(np.eye(6), 1, axis=1)
    matrix[0, 1] = 0
    assert is_confirmed("cyclically banded", matrix)
    assert not is_confirmed("cyclically banded", np.ones((6, 6)))


def test_numbers_tell_one_kronecker_product_from_a_sum():
    a, b = np.arange(1.0, 7).reshape(2, 3), np.array([[2.0, -1], [0, 3]])
    one, other = np.kron(a, b), np.kron(a**2, b.T)
    turned = one.reshape(2, 2, 6).swapaxes(0, 1).reshape(4, 6)
    for matrix, plain, permuted in (
        (one, True, True),
        (-turned, False, True),
        (one + other, False, False),
        (a, False, False),
    ):
        assert is_confirmed("kronecker", matrix) is plain
        assert is_confirmed("permuted kronecker", matrix) is permuted


ROWS = tree.Infix(
    "*",
    tree.Subscript(tree.Name("w"), (tree.ALL, tree.NEW_DIMENSION)),
    tree.Call("eye", (tree.Number(3),)),
)
TWICE = tree.Infix("*", tree.Number(2), tree.Call("eye", (tree.Number(3),)))


@pytest.mark.parametrize(
    ("before", "after", "product"),
    [
        (tree.Name("A"), TWICE, "2 * A"),
        (TWICE, tree.Name("A"), "2 * A"),
        (tree.Name("A"), ROWS, "A @ (w[:, None] * eye(3))"),  # it weighs the columns of A
        (tree.Name("A"), read("B / x.shape[0]"), "A @ B / x.shape[0]"),
        (tree.Name("A"), read("B / eigh(x).eigenvectors[0]"), "A @ (B / eigh(x).eigenvectors[0])"),
    ],
)
def test_numbers_alone_pass_a_matrix(before, after, product):
    seed = OPS["input"](name="g", shape=(3,), dtype="float")
    middle = seed.sin()
    composed = Composition(lambda layout, _: before if layout.grad is middle else after)
    assert tree.text(composed(Layout(seed, middle.cos(), seed))) == product


def test_a_sum_may_be_deeper_than_the_stack():
    seed = OPS["input"](name="g", shape=(2,), dtype="float")
    total = reduce(lambda a, b: a + b, (seed * k for k in range(3_000)))
    assert Composition(lambda *_: None)(Layout(seed, total, seed)) is None


def test_a_sum_that_adds_itself_up_is_not_multiplied_out():
    seed = OPS["input"](name="g", shape=(2,), dtype="float")
    total = seed.sin() + seed
    for _ in range(100):
        total = total + total
    assert Composition(lambda *_: None)(Layout(seed, total, seed)) is None


@pytest.mark.parametrize("third", ["i", "z"])
def test_ties_to_a_third_letter_are_kept(third):
    tied = product_of([delta("j", "l"), delta(third, "j")])
    assert {*factors_of(along_diagonal(tied, ["j"], ["l"]))} == {delta("j", "l"), delta("j", third)}


def test_numbers_overrule():
    c = Case(pose("2 * x", shapes={"x": (3,)}), random_seed=False)
    x, grad = c.of("x")
    wrong = np.arange(9.0).reshape(3, 3)
    found = jacobian_structure(c.p.out, x, grad, c.seed, c.names, wrong)
    assert found == Structure("dense", None, 8, 9)


@pytest.mark.parametrize(("program", "by_numpy", "shapes"), [
    ("x.repeat(2) * y", lambda x, y: np.tile(x, 2) * y, {"x": (3,), "y": (6,)}),
    ("x.repeat(2, 1) * y", lambda x, y: np.tile(x, (2, 1)) * y, {"x": (2, 3), "y": (4, 3)}),
    ("kron(x, y)", lambda x, y: np.kron(x, y), {"x": (2, 2), "y": (2, 3)}),
    ("kron(eye(2), x) @ y", lambda x, y: np.kron(np.eye(2), x) @ y, {"x": (2, 2), "y": (4,)}),
    ("x.repeat_interleave(2) * y", lambda x, y: np.repeat(x, 2) * y, {"x": (3,), "y": (6,)}),
    ("y[::2] * x.flip(0)", lambda x, y: y[::2] * x[::-1], {"x": (3,), "y": (6,)}),
])  # fmt: skip
def test_what_is_zero_by_its_place_is_a_dot_in_a_table_of_symbols(program, by_numpy, shapes):
    """A sum of one delta, as δ[1,3i], has no term where 3 does not divide 1."""
    a = Analysis(pose(program, shapes=shapes))
    ones = {name: np.ones(shape) for name, shape in shapes.items()}
    for x in a.problem.wrt:
        steps = np.eye(x.node.numel).reshape(-1, *x.shape)
        changes = [by_numpy(**ones | {x.name: 1 + step}) - by_numpy(**ones) for step in steps]
        entry, count = in_symbols(a, FormulaWriter(a), x), x.node.numel
        shown = [[entry(k, c) is ZERO for k in range(a.problem.out.numel)] for c in range(count)]
        np.testing.assert_array_equal(shown, np.reshape(changes, (count, -1)) == 0)


@pytest.mark.parametrize(("program", "given", "rows"), [
    ("x[t]", {"t": [1, -1]}, ["·1··", "···1"]),
    ("x.index_add(0, t, y)", {"t": [1, 1]}, ["1···", "·1··", "··1·", "···1"]),
    ("where(m, 3 * x, 2 * x)", {"m": [True, False, False, True]}, ["3···", "·2··", "··2·", "···3"]),
    ("x * m", {"m": [True, False, False, True]}, ["1···", "····", "····", "···1"]),
])  # fmt: skip
def test_labels_and_masks_that_are_given_are_numbers_in_a_table_of_symbols(program, given, rows):
    a = Analysis(pose(f"z * ({program})", shapes={"x": (4,)}, values=given, wrt=["x"]))
    entry = in_symbols(a, FormulaWriter(a), a.problem.inputs["x"])
    shown = [[entry(k, c).text for c in range(4)] for k in range(len(rows))]
    times = {"·": "·", "1": "z[{}]", "2": "2·z[{}]", "3": "3·z[{}]"}
    assert shown == [[times[c].format(k) for c in row] for k, row in enumerate(rows)]


def test_products_that_are_too_long_to_be_expanded_leave_the_structure(monkeypatch):
    for module in (bands, jacobian_entry):
        monkeypatch.setattr(module, "Simplifier", partial(Simplifier, budget=-1))
    for alone, _, J in structures(
        Case(pose("softmax(x, 0) * log_softmax(x, 0)", values={"x": [3.0, 1, 4]}))
    ):
        assert alone.nonzero is None or alone.nonzero >= np.count_nonzero(J)
