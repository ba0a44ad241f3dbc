"""language/arguments/literals.py: prints and files read back; what is no array says why."""

import io
import json
import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import gradcli
from gradcli.errors import GradcliError
from gradcli.language.arguments.literals import read_array
from gradcli.language.arguments.values import Reader
from gradcli.limits import Limits

inf, nan = float("inf"), float("nan")


def read(text, stdin=None, **limits):
    stream = None if stdin is None else io.BytesIO(stdin)
    return read_array(text, limits=Limits(limits, files=True), stdin=stream, origin="--value a")


def refusal(text, stdin=None, **limits):
    with pytest.raises(GradcliError) as caught:
        read(text, stdin, **limits)
    return caught.value


def same(found, expected):
    """Equal in dtype, shape and every element, nan and the sign of zero included."""
    assert found is not None
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(found, expected)
    if found.dtype == np.float64:
        np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[1,2,3],[4,5,6]]", [[1, 2, 3], [4, 5, 6]]),
        ("1.5", 1.5),
        ("-2", -2),
        ("\N{MINUS SIGN}2.5", -2.5),
        ("1e-3", 0.001),
        (".5", 0.5),
        ("1.", 1.0),
        ("inf", inf),
        ("-inf", -inf),
        ("nan", nan),
        ("[NaN, Infinity, -Infinity]", [nan, inf, -inf]),
        ('["inf", "-inf", "nan"]', [inf, -inf, nan]),
        ("[float('inf'), -float('inf'), np.inf]", [inf, -inf, inf]),
        ("True", True),
        ("[true, false]", [True, False]),
        ("[True, 2]", [1, 2]),
        ("[1, 2.5]", [1, 2.5]),
        ("(1, 2)", [1, 2]),
        ("(1,)", [1]),
        ("(1)", 1),
        ("((1, 2))", [1, 2]),
        ("[1, 2,]", [1, 2]),
        ("[[1 2] [3 4]]", [[1, 2], [3, 4]]),
        ("[[1. 2.]\n [3. 4.]]", [[1.0, 2.0], [3.0, 4.0]]),
        ("[ 1 -2]", [1, -2]),
        ("array([[1., 2.]])", [[1.0, 2.0]]),
        ("np.array([1, 2], dtype=float32)", [1.0, 2.0]),
        ("np.float64(2.0)", 2.0),
        ("[np.float64(1.5), np.int64(2)]", [1.5, 2.0]),
        ("Array([1., 2.], dtype=float32, weak_type=True)", [1.0, 2.0]),
        ("tensor(3)", 3),
        ("tensor([ True, False])", [True, False]),
        ("tensor([[1., 2.],\n        [3., 4.]], requires_grad=True)", [[1.0, 2.0], [3.0, 4.0]]),
        ("tensor([1.], dtype=torch.float64, grad_fn=<MulBackward0>)", [1.0]),
        ("tensor([1.], device='cuda:0')", [1.0]),
        ("torch.tensor([1, 2], dtype=torch.float32)", [1.0, 2.0]),
        ("torch.FloatTensor([[1, 2]])", [[1.0, 2.0]]),
        ("torch.BoolTensor([1, 0])", [True, False]),
        ("tensor([1.0000e-05, 2.0000e-03])", [1e-05, 0.002]),
        ("tensor(1.00000e-05 *\n       [ 1.0000,  2.0000])", [1e-05, 2e-05]),
        ("nn.Parameter(torch.tensor([1., 2.]))", [1.0, 2.0]),
        ("Parameter containing:\ntensor([1., 1.], requires_grad=True)", [1.0, 1.0]),
        ("(tensor([2., 4.]),)", [[2.0, 4.0]]),
        ("[tensor(1.), tensor(2.)]", [1.0, 2.0]),
        ("tf.Tensor(\n[[1. 2.]], shape=(1, 2), dtype=float32)", [[1.0, 2.0]]),
    ],
)
def test_lists_and_prints(text, expected):
    same(read(text), np.array(expected))
    same(read(f"\n {text} \n"), np.array(expected))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[]", np.zeros(0)),
        ("[[], []]", np.zeros((2, 0))),
        ("tensor([])", np.zeros(0)),
        ("tensor([], size=(0, 3))", np.zeros((0, 3))),
        ("tensor([], size=(2, 0), dtype=torch.int64)", np.zeros((2, 0), np.int64)),
        ("array([], shape=(2, 0, 3), dtype=float64)", np.zeros((2, 0, 3))),
        ("array([], dtype=bool)", np.zeros(0, bool)),
    ],
)
def test_nothing_has_a_shape(text, expected):
    same(read(text), expected)


def test_whole_numbers_that_int64_does_not_hold():
    same(read(str(2**63 - 1)), np.array(2**63 - 1))
    same(read(str(-(2**63))), np.array(-(2**63)))
    same(read(f"[1, {2**63}]"), np.array([1.0, 2.0**63]))
    same(read(f"array([1, {2**63}], dtype=uint64)"), np.array([1.0, 2.0**63]))


@pytest.mark.parametrize(
    "value",
    [2**63, 2**64 - 1, 2**64, -(2**63) - 1, [2**63], [2**64], np.array([2**63], np.uint64)],
    ids=str,
)
def test_python_s_whole_numbers_that_int64_does_not_hold(value):
    same(Reader(Limits(), 0, None).literal(value, "x"), np.array(value, dtype=np.float64))


OLD_PRINTS = {
    "Variable containing:\n 10  10  10\n 26  26  26\n[torch.FloatTensor of size 2x3]\n": [
        [10, 10, 10],
        [26, 26, 26],
    ],
    "\n 1\n 2\n[torch.cuda.LongTensor of size 2 (GPU 0)]": [1, 2],
    "1.00000e-05 *\n  1.0000\n  2.0000\n[torch.FloatTensor of size 2]": [1e-05, 2e-05],
    "\n(0,.,.) = \n  1  2\n\n(1,.,.) = \n  5  6\n[torch.IntTensor of size 2x1x2]": [
        [[1, 2]],
        [[5, 6]],
    ],
}


@pytest.mark.parametrize(("text", "expected"), OLD_PRINTS.items())
def test_prints_of_old_pytorch(text, expected):
    same(read(text), np.array(expected))
    same(read("@-", text.encode()), np.array(expected))


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "info",
        "-x",
        "x[..., 0]",
        "ones(2,3)",
        "ones(2,3",
        "torch.ones(2)",
        "arange(6).reshape(2,3)",
        "2*ones(3)",
        "(a + b).T",
        "(x).double()",
        "1 -2",
        "(1 -2)",
        "[1, 2 -3]",
        "[1/2, 3]",
        "[x, 1]",
        "[1, 2] * 2",
        "[1, 2][0]",
        "inf * x",
        "torch.tensor([1., 2.]).sum()",
        "tensor([1, x])",
        "softmax(x, reduction='none')",
        "-" * 10_000 + "x",
        "1" + "+x" * 100_000,
    ],
)
def test_expressions_are_left_to_the_caller(text):
    assert read(text) is None


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("[1, 2", "never closed", "["),
        ("[1, 2]]", "no bracket that this ] closes", "]"),
        ("[1, 2)", "[ is closed by )", ")"),
        ("[1,,2]", "missing before this comma", ","),
        ("[,1]", "missing before this comma", ","),
        ("[1, 2 3]", "a comma is missing", "3"),
        ("[1 2, 3]", "a comma is missing", "3"),
        ("1 2", "several values", "1 2"),
        ("1, 2", "several values", "1, 2"),
        ("[1, 2], [3, 4]", "several values", "[3, 4]"),
        ("[[1,2],[3]]", "row 1 has 1 element, and row 0 has 2 elements", "[3]"),
        ("[[1,2],[3,4],[5,6,7]]", "row 2 has 3 elements, and row 0 has 2", "[5,6,7]"),
        ("[[[1],[2]],[[3],[4,5]]]", "row [1, 1] has 2 elements, and row [1, 0] has 1", "[4,5]"),
        ("[[[1],[2]],[[3]]]", "row 1 has shape (1, 1), and row 0 has shape (2, 1)", "[[3]]"),
        ("[[1],2]", "row 1 is a number, and row 0 has 1 element", "2"),
        ("1,000", "`000` is not a number", "000"),
        ("[1x]", "`1x` is not a number", "1x"),
        ("1.5.2", "`1.5.2` is not a number", "1.5.2"),
        ("'abc'", "is not a number", "'abc'"),
        ("[1, 'a']", "is not a number", "'a'"),
        ("[1, None]", "`None` is not a number", "None"),
        ("None", "`None` is not a number", "None"),
        ("1+2j", "`1+2j` is not a number", "1+2j"),
        ("tensor([1.+2.j])", "is not a number", "1.+2.j"),
        ("[0, ..., 9]", "abridged", "..."),
        ("array([   0,    1, ..., 1999], shape=(2000,))", "abridged", "..."),
        ("tensor()", "no value in these brackets", "tensor()"),
        ("torch.Tensor(3)", "undefined values", "torch.Tensor(3)"),
        ("tensor([1.], size=(2,))", "shape (2,) is declared", "tensor([1.], size=(2,))"),
        ("1 2\n[torch.FloatTensor of size 3]", "2 numbers for the shape (3,)", "1 2"),
        ("[" * 70 + "1" + "]" * 70, "32 dimensions", "[" * 70 + "1" + "]" * 70),
        ("", "no value", ""),
    ],
)
def test_no_values(text, message, place):
    error = refusal(text)
    assert error.code == "value"
    assert message in error.message
    assert error.hint
    assert error.span.origin == "--value a"
    assert error.span.text[error.span.start : error.span.end] == place


def test_hints():
    assert "1000" in refusal("1,000").hint
    assert "complex" in refusal("[1j]").hint
    for dtype in ("complex64", "torch.cfloat"):
        assert f"`{dtype}` is complex" in refusal(f"tensor([1, 2], dtype={dtype})").message
    assert "set_printoptions" in refusal("tensor([0, ..., 9])").hint


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("[" * 100_000, {}),
        ("(" * 100_000 + "x", {}),
        ("[" * 100_000 + "]" * 100_000, {}),
        ("[1, 2, 3]", {"length": 5}),
        ("[1, 2, 3]", {"elements": 2}),
        ("tensor([], size=(0, 99999999999))", {}),
    ],
)
def test_limits(text, limits):
    assert refusal(text, **limits).code == "limit"


@pytest.mark.parametrize(
    "text",
    [
        "1" * 500_000 + "x",
        "[" + "1 " * 500_000 + "x",
        "[1" + " " * 500_000 + "x",
        "tensor([1], " + "a" * 500_000,
        "tensor([1], a=" + "(" * 500_000,
    ],
)
def test_refusals_are_quick(text):
    assert refusal(text).code == "value"


def test_a_million_numbers():
    assert read(f"[{'1,' * 10**6}]").shape == (10**6,)
    assert read(f"[{'1.5 ' * 10**6}]", length=10**7).shape == (10**6,)


# Round trips: NumPy and PyTorch print, gradcli reads.

SHAPES = array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
FLOATS = arrays(np.float64, SHAPES)
ARRAYS = FLOATS | arrays(np.int64, SHAPES) | arrays(np.bool_, SHAPES)
# Only repr says the dtype and all the sizes of an array without elements.
FILLED = ARRAYS.filter(lambda array: array.size)


def without_signs_of_nan(array):
    """No print tells nan from -nan."""
    return np.where(np.isnan(array), np.nan, array) if array.dtype == np.float64 else array


@given(ARRAYS)
def test_repr_of_numpy_reads_back(array):
    array = without_signs_of_nan(array)
    with np.printoptions(floatmode="unique", threshold=10**6):
        same(read(repr(array)), array)


@given(FILLED, st.sampled_from([20, 75, 1000]))
def test_str_of_numpy_reads_back(array, width):
    array = without_signs_of_nan(array)
    with np.printoptions(floatmode="unique", threshold=10**6, linewidth=width):
        same(read(str(array)), array)


@given(FILLED)
def test_json_reads_back(array):
    array = without_signs_of_nan(array)
    same(read(json.dumps(array.tolist())), array)
    same(read(str(array.tolist())), array)
    same(read("@-", json.dumps(array.tolist()).encode()), array)


@given(st.floats() | st.integers(-(2**63), 2**63 - 1) | st.booleans())
def test_numbers_read_back(number):
    expected = np.array(number)
    same(read(repr(number)), without_signs_of_nan(expected))
    same(read(repr(expected[()])), without_signs_of_nan(expected))


@pytest.fixture(scope="module")
def torch():
    torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")
    torch.set_printoptions(precision=17, threshold=10**6)
    yield torch
    torch.set_printoptions(profile="default")


@pytest.mark.oracle
class TestAgainstTorch:
    @given(array=ARRAYS, width=st.sampled_from([20, 80]))
    def test_str_of_torch_reads_back(self, torch, array, width):
        array = without_signs_of_nan(array)
        torch.set_printoptions(precision=17, threshold=10**6, linewidth=width, sci_mode=True)
        tensor = torch.tensor(array)
        same(read(str(tensor)), array)
        if array.dtype == np.float64:
            same(read(str(tensor.requires_grad_())), array)
            same(read(str(torch.nn.Parameter(tensor.detach()))), array)
            same(read(str(tensor * 1)), array)


# Files.


def test_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    a = np.array([[1.0, 2.5], [3.0, -inf]])
    np.save("a.npy", a)
    np.savez("one.npz", a=a)
    np.savez_compressed("two.npz", a=a, b=a + 1)
    np.savetxt("a.txt", a, header="x y")
    np.savetxt("a.csv", a, delimiter=",")
    np.savetxt("a.tsv", a, delimiter="\t")
    (tmp_path / "a.json").write_text(json.dumps(a.tolist()))
    (tmp_path / "print.txt").write_text(repr(a))
    for name in (
        "a.npy",
        "one.npz",
        "one.npz:a",
        "two.npz:a",
        "a.txt",
        "a.csv",
        "a.tsv",
        "a.json",
        "print.txt",
    ):
        same(read(f"@{name}"), a)
    same(read("@two.npz:b"), a + 1)
    same(read(f" @{tmp_path / 'a.npy'} "), a)


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [("f2", "f8"), ("f4", "f8"), (">f8", "f8"), ("i1", "i8"), ("u8", "i8"), ("?", "?")],
)
def test_dtypes_of_npy(dtype, expected):
    stream = io.BytesIO()
    np.save(stream, np.array([[0, 1]], dtype))
    same(read("@-", stream.getvalue()), np.array([[0, 1]], expected))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1\n2\n3\n", [1, 2, 3]),
        ("1 2 3", [1, 2, 3]),
        ("5", 5),
        ("1,2\n3,4.5\n", [[1, 2], [3, 4.5]]),
        ("1, 2\r\n3, 4\r\n", [[1, 2], [3, 4]]),
        ('"1","2"\n', [1, 2]),
        ("\ufeff1 2\n\n# comment\n3 4 # more\n", [[1, 2], [3, 4]]),
        ("1e3 nan\n-inf 007\n", [[1000, nan], [-inf, 7]]),
        ("[[1, 2], [3, 4]]", [[1, 2], [3, 4]]),
        ("tensor([1., 2.])", [1.0, 2.0]),
    ],
)
def test_rows_and_lists_on_standard_input(text, expected):
    same(read("@-", text.encode()), np.array(expected))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("h,w\n1,2\n", "standard input, line 1, character 1: this is not a number"),
        ("1,2\n3\n", "line 2 has 1 element, and line 1 has 2 elements"),
        ("1,2\n3,\n", "standard input, line 2, character 1: a number is missing"),
        ("1\n\nx\n", "standard input, line 3, character 1: this is not a number"),
        ("0 1 ... 9", "abridged"),
        ("null", "this is not a number"),
        ("[1, x]", "line 1, character 5: this is not a number"),
        ("1 2\n3 qq`zz`qq", "line 2, character 3: this is not a number"),
        ("root:x:0:0", "line 1, character 1: this is not a number"),
        ("", "no numbers in standard input"),
    ],
)
def test_no_rows(text, message):
    error = refusal("@-", text.encode())
    assert (error.code, error.span) == ("value", None)
    assert message in error.message
    assert not re.search("root|qq|zz", f"{error.message} {error.hint}")


def test_a_header_is_named():
    error = refusal("@-", b"height,width\n1,2\n")
    assert "header" in error.hint
    assert "height" not in error.message


def test_files_that_cannot_be_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("objects.npy", np.array([{}]), allow_pickle=True)
    np.save("complex.npy", np.array([1j]))
    np.savez("two.npz", a=1, b=2)
    np.savez("none.npz")
    (tmp_path / "bad.npz").write_bytes(b"no archive")
    (tmp_path / "bad.npy").write_bytes((tmp_path / "complex.npy").read_bytes()[:40])
    (tmp_path / "model.pt").write_bytes(pickle.dumps([1.0], protocol=4))
    for name, code, message in (
        ("objects.npy", "file", "pickled"),
        ("complex.npy", "value", "complex128"),
        ("two.npz", "file", "2 arrays"),
        ("two.npz:c", "file", "no array c"),
        ("none.npz", "file", "0 arrays"),
        ("bad.npz", "file", "not a .npz archive"),
        ("bad.npy", "file", "not a .npy file"),
        ("model.pt", "file", "neither UTF-8 text"),
        ("missing.npy", "file", "No such file"),
        (".", "file", "directory"),
        ("", "file", "needs the name"),
        ("-", "file", "no standard input"),
    ):
        error = refusal(f"@{name}")
        assert (error.code, message in error.message) == (code, True), error
    assert "a, b" in refusal("@two.npz").hint
    assert "did you mean two.npz" in refusal("@too.npz").hint


def test_permission(tmp_path, monkeypatch):
    def deny(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", deny)
    error = refusal("@secret.npy")
    assert error.code == "file"
    assert "Permission denied" in error.message


def test_limits_of_files():
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        stream, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
    )
    assert refusal("@-", stream.getvalue()).code == "limit"
    assert refusal("@-", b"1 2 3", length=3).code == "limit"
    assert refusal("@-", b"1 2 3", elements=2).code == "limit"


@pytest.mark.parametrize("count", [400, 5000])
def test_whole_numbers_that_are_no_floats(count, tmp_path, monkeypatch):
    """Python refuses them: float(10**400) is an OverflowError, and json reads no 5,000 digits."""
    monkeypatch.chdir(tmp_path)
    digits = "9" * count
    (tmp_path / "a.json").write_text(f"[{digits}, 1]")
    (tmp_path / "a.txt").write_text(f"{digits} 1")
    for text in ("@a.json", "@a.txt", f"[-{digits}, 1]"):
        assert refusal(text).message.startswith(f"an integer of {count} digits does not fit")
    for text in (f"[{digits}.0, 1]", "[1e999, 1]", "-1e999", "tensor([1e999])"):
        assert refusal(text).message.endswith("does not fit in a double")
    reader = Reader(Limits(), 0, None)
    for value in (10**count, [10**count, 1]):
        with pytest.raises(GradcliError):
            reader.literal(value, "x")


@pytest.mark.skipif(np.finfo(np.longdouble).max <= np.finfo(float).max, reason="no long double")
def test_a_long_double_that_is_too_large_is_an_error():
    value = np.array([np.longdouble("1e4000"), 1])
    with pytest.raises(GradcliError, match="does not fit in a double"):
        gradcli.grad("x.sum()", values={"x": value})
    found = gradcli.grad("x.sum()", values={"x": np.array([np.inf, 1], np.longdouble)})
    np.testing.assert_array_equal(found, [1, 1])
