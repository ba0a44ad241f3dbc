"""Nothing typed hangs or crashes: every request ends soon, with an answer or with one message."""

import json
import re
import time

import pytest
from console import gradcli, shell
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import one_in

from gradcli.errors import CODES, GradcliError
from gradcli.language.posing import pose
from gradcli.limits import DEFAULTS, NO_MEMORY

HANGS = 60  # seconds of the processor; nothing here takes 5
MANY = 100_000
X = ("-v", "x=1.0")
VECTOR = ("-v", "x=[1,2,3]")


@pytest.fixture(autouse=True)
def default_seconds(monkeypatch):
    """What is searched for ends, and sooner than for everybody: tests/conftest.py raises the
    limit.
    """
    monkeypatch.setitem(DEFAULTS, "seconds", 0.5)


REFUSED_CALL = r"note: .* raises an error in PyTorch, .*\n"  # and gradcli answers it


def ends(*args: str, stdin: str = "") -> str:
    """Run a command line, which has to end with status 0 or 2; returns the error's code."""
    start = time.process_time()
    result = gradcli(*args, stdin=stdin)
    assert time.process_time() - start < HANGS
    assert result.status in (0, 2)
    if result.status == 0:
        assert not result.err or re.fullmatch(REFUSED_CALL, result.err)
        return ""
    if "json" in args:
        assert not result.err
        return result.json["error"]["code"]
    assert not result.out
    assert result.err.startswith("error[")
    assert NO_MEMORY not in result.err  # it is refused before
    assert result.err.count("error[") == 1
    assert len(result.err) < 2000
    code = result.err[len("error[") : result.err.index("]")]
    assert code in CODES
    return code


# ---- length and depth ----------------------------------------------------------------------------

DEEP = {
    "brackets": "(" * MANY + "x" + ")" * MANY,
    "open brackets": "[" * MANY,
    "lists": "[" * MANY + "x" + "]" * MANY,
    "calls": "f(" * MANY + "x" + ")" * MANY,
    "braces": "{" * MANY,
    "a sum": "+".join(["x"] * MANY),
    "powers": "**".join(["x"] * MANY),
    "methods": "x" + ".sin()" * MANY,
    "attributes": "x" + ".T" * MANY,
    "minus": "+" + "-" * MANY + "x",
    "not": "~" * MANY + "x",
    "subscripts": "x" + "[0]" * MANY,
    "comparisons": "<".join(["x"] * MANY),
    "strings": "'" * MANY,
    "keywords": "x.sum(" + "dim=" * MANY + ")",
    "colons": "x[" + ":" * MANY + "]",
}


@pytest.mark.parametrize("name", one_in(4, DEEP))
def test_deep_expressions_are_refused_soon(name):
    assert ends("grad", DEEP[name], *X) in ("limit", "syntax")


@pytest.mark.sweep
@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_deep_values_are_refused_soon(text):
    assert ends("grad", "y.sum()", "-v", f"y={text}") in ("limit", "syntax", "value", "index")


def test_what_people_write_is_not_deep():
    assert not ends("grad", "+".join(["x"] * 500), *X)
    assert not ends("grad", "x" + ".sin()" * 80, *X)
    assert not ends("grad", "(" * 80 + "x" + ")" * 80, *X)


def test_a_long_value():
    assert not ends("grad", "y.sum()", "-v", f"y=[{','.join(['1.5'] * 200_000)}]")
    assert ends("grad", "y.sum()", "-v", f"y=[{'1,' * 5_000_000}1]") == "limit"


def test_many_statements():
    text = ";".join([f"a{k} = x * {k}" for k in range(10_000)] + ["out = a9999"])
    assert not ends("grad", text, *X)
    assert not ends("grad", "\n".join(["x = x * 2"] * 10_000 + ["x"]), *X)


@pytest.mark.sweep
def test_tens_of_thousands_of_statements():
    text = "\n".join(["x = x + 1"] * 30_000 + ["x"])
    assert not ends("grad", text, *X)


def test_names_that_stand_for_each_other():
    assert not ends("grad", "a = b; b = a; a", "-v", "b=1.0")
    assert not ends("grad", "a = a; a", "-v", "a=1.0")
    assert not ends("explain", "; ".join(["x = x * x"] * 60 + ["x"]))


@pytest.mark.parametrize("letters", [16, 40, 60])
def test_many_inputs_without_a_shape(letters):
    names = [f"x{k}" for k in range(letters)]
    ends("grad", "+".join(names))
    ends("grad", "@".join(names))


# ---- numbers -------------------------------------------------------------------------------------

NUMBERS = {
    "9**9**9**9": "limit",
    "9**(9**9)": "limit",
    "(-9)**(9**9)": "limit",
    "2**-99999": "",
    "2.0**99999": "",
    "10**400": "arguments",
    "(-10)**401": "arguments",
    "9" * 500: "arguments",
    "9" * 5000: "syntax",
    "0**-1": "arguments",
    "1e400": "",
    "(7**300 // 3)": "",
    "(7 % 0)": "arguments",
    "(1 / 0)": "arguments",
    "(-8) ** 0.5": "",
    "2**62 * 2**62": "",
}


@pytest.mark.parametrize(("number", "code"), NUMBERS.items(), ids=[n[:20] for n in NUMBERS])
def test_numbers(number, code):
    assert ends("grad", f"x * {number}", *X) == code
    ends("grad", "x", "-v", f"x={number}", "-g", "1")
    ends("grad", f"x.clamp(min={number})", *X)


# ---- sizes ---------------------------------------------------------------------------------------

SIZES = [
    "x * ones(10**9)",
    "x * zeros(10**6, 10**6)",
    "x * eye(10**6)",
    "x * full((10**6, 10**6), 2)",
    "x * randn(10**9)",
    "x * rand(10**5, 10**5)",
    "x * arange(10**12)",
    "x * arange(0, 1, 1e-12)",
    "x * linspace(0, 1, 10**10)",
    "x.repeat(10**9)",
    "x.expand(10**9, 3)",
    "x.expand(10**9, 3).sum()",
    "outer(ones(10**5), ones(10**5)) * x",
    "ones(10**5)[:, None] * ones(10**5) * x",
    "(ones(10**7)[:, None] @ ones(1, 10**7)) * x",
    "einsum('i,j,k,l,m,n,o->ijklmno', x, x, x, x, x, x, x) * ones(10**5)[:, None]",
    "split(ones(10**7), 1)[0] * x",
    "chunk(ones(10**7), 10**7)[0] * x",
    "unbind(ones(10**7))[0] * x",
    "conv2d(ones(1,1,3,3), ones(1,1,2,2), padding=10**9) * x",
    "x.diag() * ones(10**7, 3, 3)",
    "triu_indices(1, 10**9) * x",
    "tril_indices(10**5, 10**5) * x",
    "logspace(0, 1, 10**9) * x",
    "torch.range(0, 10**9) * x",
    *(
        f"{name}_window(10**9) * x"
        for name in ("hann", "hamming", "bartlett", "blackman", "kaiser")
    ),
    "histc(ones(3), 10**9) * x",
    "histc(ones(3), bins=10**9) * x",
    "bincount(tensor([10**9])) * x",
    "bincount(tensor([1]), minlength=10**9) * x",
    "combinations(ones(3), 10**9, with_replacement=True) * x",
    "combinations(ones(10**6), 5 * 10**5).sum() * x",
    "repeat_interleave(ones(2), tensor([10**9, 1])) * x",
    "np.repeat(ones(2), [10**9, 1]) * x",
    "round(ones(2), decimals=10**9) * x",
    "round(ones(2), decimals=-10**9) * x",
]


@pytest.mark.sweep  # reads many megabytes, several times
def test_no_more_is_read_than_may_be():
    assert shell("timeout 20 $GRADCLI grad - -v x=1 < /dev/zero").err.startswith("error[limit]")
    assert shell("timeout 20 $GRADCLI grad x*x -v x=@- < /dev/zero").err.startswith("error[limit]")
    assert shell("timeout 20 $GRADCLI render - < /dev/zero").err.startswith("error[limit]")
    assert shell("timeout 20 $GRADCLI render /dev/zero").err.startswith("error[limit]")
    assert shell("timeout 20 $GRADCLI mcp < /dev/zero").err.startswith("error[limit]")
    assert shell("yes 'x +' | timeout 20 $GRADCLI grad - -v x=1").err.startswith("error[limit]")


@pytest.mark.sweep
def test_a_tree_that_does_not_fit_into_memory_is_not_made():
    for text in ("+".join(["x"] * 1_000_000), "y = x\n" * 300_000):
        assert ends("grad", "-", "-v", "x=1", stdin=text) == "limit"


def test_a_text_of_very_many_lines_is_not_read():
    assert ends("read", "-", stdin="x = 1\n" * 20_001) == "limit"


def test_a_line_that_is_too_long_is_answered_and_passed_over():
    lines = ['{"expr": "x"}', "x" * 500, '{"expr": "y"}', "y" * 500]
    answers = gradcli("batch", "-", "--limit", "length=50", stdin="\n".join(lines)).lines
    codes = [json.loads(a)["error"]["code"] for a in answers]
    assert codes == ["implicit-seed", "limit", "implicit-seed", "limit"]


@pytest.mark.parametrize("text", SIZES)
def test_large_tensors_are_refused_before_they_are_made(text):
    values = ("-v", "x=1.0") if "x *" in text or "* x" in text else VECTOR
    assert ends("grad", f"({text}).sum()", *values) in ("limit", "shape", "arguments")


def test_few_combinations_of_many_elements_are_answered():
    assert pose("combinations(x, 19)", shapes={"x": (20,)}).out.shape == (20, 19)


def test_the_limit_is_named_with_what_raises_it():
    result = gradcli("grad", "(x * ones(10**9)).sum()", *X)
    assert "1,000,000,000 elements, and the limit is 20,000,000" in result.err
    assert "--limit elements=N raises it" in result.err
    assert gradcli("grad", "(x * ones(30)).sum()", *X, "--limit", "elements=20").status == 2
    assert gradcli("grad", "(x * ones(30)).sum()", *X, "--limit", "elements=40").status == 0


@pytest.mark.parametrize("command", ["explain", "grad", "jacobian", "check"])
def test_large_shapes(command):
    assert ends(command, "x * 2", "-s", "x=999999x999999") == "limit"


@pytest.mark.parametrize("text", ["x @ W", "softmax(x @ W, -1).sum()", "x.cumsum(0)[:, 5:9]"])
def test_shapes_are_of_any_size_where_nothing_is_computed(text):
    wrt = ("-s", "x=1000000x1000000", "-w", "x")
    assert not ends("formula", text, *wrt)
    assert not ends("graph", text, *wrt[:2])
    values = ("-v", "x=ones(10**6, 10**6)", "-w", "x")
    assert ends("formula", text, *values) == "limit"


def test_one_number_of_copies_makes_no_array_of_indices():
    assert not ends("formula", "x.repeat_interleave(10**8)", "-s", "x=3")


@pytest.mark.parametrize("text", ["x**2", "x @ x", "x.sum()", "softmax(x, dim=1)", "x.cumsum(0)"])
def test_large_matrices_are_explained(text):
    assert not ends("explain", text, "-v", "x=ones(200,200)")
    assert not ends("explain", text, "-s", "x=200x200")
    assert not ends("explain", text, "-s", "x=200x200", "-f", "json")


@pytest.mark.parametrize("given", [("-v", "x=randn(5000)"), ("-s", "x=5000")])
def test_an_element_is_left_out_where_its_masks_are_too_large(given):
    assert not ends("explain", "logcumsumexp(x, 0)", *given)
    assert not ends("explain", "logcumsumexp(x, 0)", *given, "--element", "x[3]")


ODD = [
    "x.sum(dim=nan)",
    "x.sum(dim=1.0)",
    "x.sum(dim=10**30)",
    "x.sum(dim=inf)",
    "x.sum(dim=-5)",
    "x.sum(dim=())",
    "x.sum(dim=(0, 0))",
    "x.sum(dim='a')",
    "x.sum(dim=None, keepdim=nan)",
    "ones(-1) * x",
    "zeros(-3) * x",
    "ones(nan) * x",
    "ones(2.5) * x",
    "eye(-1) * x",
    "randn(-1) * x",
    "rand(nan) * x",
    "full((-2,), 1) * x",
    "x.reshape(-1, -1)",
    "x.reshape(-5)",
    "x.reshape(10**40)",
    "x.reshape(0, -1)",
    "x.reshape(nan)",
    "x.repeat(-1)",
    "x.repeat(nan)",
    "x.expand(-3)",
    "x.expand(nan)",
    "x * arange(0, nan)",
    "x * arange(inf)",
    "x * arange(0, 5, 0)",
    "x * arange(5, 0)",
    "x * linspace(0, 1, -3)",
    "x * linspace(0, 1, nan)",
    "x * linspace(0, inf, 3)",
    "x[10**30]",
    "x[::0]",
    "x[::-1]",
    "x[[10**30]]",
    "x[[7]]",
    "x[1.5]",
    "x[nan]",
    "x[10**30:]",
    "x['a']",
    "x[x]",
    "x[..., ...]",
    "x[" + "None, " * 100 + "]",
    "x" + "[None]" * 70,
    "ones(" + "1, " * 100 + ") * x",
    "x.split(0)",
    "x.split(-1)[0]",
    "x.split(nan)[0]",
    "x.split([1] * 3)",
    "x.split([1, 1])[0]",
    "x.chunk(0)[0]",
    "x.chunk(-1)[0]",
    "x.flip(7)",
    "x.permute(0, 0)",
    "x.transpose(0, 9)",
    "x.unsqueeze(99)",
    "x.squeeze(99)",
    "x.tril(10**30)",
    "x.norm(p=nan)",
    "x.norm(p=-inf)",
    "x.norm(p='x')",
    "x.var(correction=10)",
    "x.clamp(min='a')",
    "x.gather(0, x)",
    "x.gather(0, tensor([9]))",
    "x.gather(5, tensor([0]))",
    "cross_entropy(x, tensor(9))",
    "cross_entropy(x, tensor([-7]))",
    "onehot(0)",
    "einsum('" + "i" * 1000 + "->i', x)",
    "einsum('...,...,...->', x, x)",
    "einsum('', x)",
    "einsum('ij,jk->il', x, x)",
    "einsum('->->', x)",
    "einsum('i->ii', x)",
    "einsum(x)",
    "einsum(1, x)",
    "einsum('é,é->', x, x)",
    "einsum('i i', x)",
    "einsum('.i', x)",
    "conv2d(ones(1,1,3,3), ones(1,1,2,2), stride=0) * x",
    "conv2d(ones(1,1,3,3), ones(1,1,2,2), stride=-1) * x",
    "conv2d(ones(1,1,3,3), ones(1,1,2,2), groups=0) * x",
    "conv2d(ones(1,1,3,3), ones(1,1,2,2), dilation=0) * x",
    "conv2d(ones(1,1,3,3), ones(1,1,2,2), padding=-1) * x",
    "conv2d(ones(1,1,3,3), ones(1,1,2,2), padding='x') * x",
    "layer_norm(x, (7,))",
    "x.log_softmax(9)",
    "x * ''",
    "x + None",
    "x + [1, 2, 3]",
    "x < 'a'",
    "1 + None",
    "1 < 'a'",
    "len(3) * x",
    "len('a') * x",
    "x.size(9) * x",
    "x.shape[9] * x",
    "max(x, x, x)",
    "tensor('a') * x",
    "tensor([]) * x",
    "stack([]) * x",
    "cat([1, 2]) * x",
    "inv(x)",
    "det(x)",
    "bmm(x, x)",
    "solve(x, x)",
    "x.max(dim=9).values",
    "leaky_relu(x, negative_slope='a')",
    "where(x, x, x)",
    "where(1, x, x)",
    "pow(2, 3) * x",
    "-'a' * x",
    "~1.5 * x",
    "'a'.sin()",
    "(1).sum() * x",
    "x.T.T.mT",
    "full_like(x, 'a')",
    "x(1)",
    "x.sum()()",
    "(x, x)",
    "[x]",
    "()",
    "...",
    "x[...]",
    "None",
    "True",
    "'a'",
    "x.shape",
    "torch",
    "torch.float32",
    "torch.pi * x",
    "x.dtype",
    "split(x, 1)",
    "x.sin",
    "sin",
    "F.F.F(x)",
]


@pytest.mark.parametrize("text", ODD, ids=lambda t: t[:40])
def test_odd_arguments(text):
    ends("grad", text, *VECTOR, "-g", "ones_like(out)")
    ends("explain", text, *VECTOR)
    ends("explain", text, "-s", "x=3")


EMPTY = ["x.sum()", "x.max()", "x.mean()", "x.prod()", "x * 2", "x.softmax(0)", "x.norm()", "x @ x"]


@pytest.mark.parametrize("text", EMPTY)
def test_no_elements(text):
    ends("explain", text, "-v", "x=[]")
    ends("explain", text, "-s", "x=0x3")
    ends("explain", text, "-v", "x=ones(0,0)")
    ends("explain", text, "-s", "x=3x0", "-f", "json")


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("x + y", "x=4x0,y=4x0"),
        ("x * y", "x=4x0,y=4x1"),
        ("(x + y).sum()", "x=4x0,y=4x0"),
        ("cat([x, y])", "x=0x3,y=2x3"),
        ("stack([x, y])", "x=4x0,y=4x0"),
        ("(x @ y) * 3", "x=0x3"),
        ("x @ y + z", "x=2x0"),
    ],
)
def test_a_size_of_0(text, given):
    ends("formula", text, "-s", given)


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("max_pool2d(relu(conv2d(x, w)), 2)", "x=1x1x6x6,w=1x1x3x3"),
        ("sort(leaky_relu(x)).values", "x=4"),
        ("leaky_relu(x).amax()", "x=5"),
        ("minimum((elu(x) ** 2).sum(), w)", "x=3x2,w=()"),
        ("cummax(clamp(x, -0.5, 0.7), 0).values", "x=4x3"),
        ("prelu(x, w).max()", "x=2x4,w=1"),
    ],
)
def test_choices_within_choices(text, given):
    ends("explain", text, "-s", given)
    ends("explain", text, "-s", given, "-f", "json")


@pytest.mark.sweep
@pytest.mark.parametrize("text", ["x.amax()", "cummax(x, 0).values"])
def test_extremes_of_many_elements(text):
    for size in (40, 1900):
        ends("explain", text, "-s", f"x={size}")
        ends("explain", text, "-s", f"x={size}", "-f", "json")


@pytest.mark.sweep
@pytest.mark.parametrize(
    "text",
    [
        "(x ** 9**5).sum()",
        "(1 + x)**1000",
        "x ** x ** x ** x",
        "x" + ".exp()" * 12,
        "x" + " * x" * 40,
        "; ".join(["x = sin(x) * x"] * 12 + ["x"]),
        "det(x)",
        "inv(x)",
        "x @ x @ x @ x",
        "x.cumsum(0).cumsum(0)",
        "x.prod()",
    ],
    ids=lambda t: t[:30],
)
def test_long_answers(text):
    ends("explain", text, "-s", "x=2x2")
    ends("explain", text, "-s", "x=6x6", "-f", "json")
    ends("explain", text, "-v", "x=2*eye(3)")


@pytest.mark.sweep
def test_an_element_with_factors_that_are_not_known_is_not_written_out_at_length():
    text = "t = cholesky_inverse(x.tril()) @ x.T; log1p(eigh(t @ t.T).eigenvectors ** 2)"
    values = "x=[[0.54, 0.97, -1.1], [-0.52, -0.65, -1.17], [-1.91, 0.67, -0.59]]"
    said = gradcli(text, "-v", values, "-g", "ones_like(out)", "--show", "gradient").out
    assert len(said) < 5_000


@pytest.mark.parametrize(
    "args",
    [
        ("x", "--element", f"x[{'1,' * MANY}]"),
        ("x", "--element", "x[" + "9" * 6000 + "]"),
        ("x", "-w", "x," * MANY),
        ("x", "-s", f"x={'2x' * MANY}2"),
        ("x", "-s", "x=" + "9" * MANY),
        ("x", "--show", "answer," * MANY),
        ("x", "--limit", "elements=" + "9" * MANY),
        ("x", "--random-seed", "9" * MANY),
        ("x", "-p", "9" * MANY),
        ("x", "--width", "9" * MANY),
        ("x", "-" * MANY),
        ("x", "-f", "x" * MANY),
        ("ops", "x" * MANY),
        ("examples", "x" * MANY),
        ("batch", "x" * MANY),
        ("x", "-o", "x" * MANY),
        ("x", "-v", "x=@" + "x" * MANY),
    ],
    ids=lambda args: " ".join(args)[:30],
)
def test_long_options(args):
    assert ends(*args)


# ---- anything at all -----------------------------------------------------------------------------

FUZZ = settings(
    max_examples=500,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
WORDS = (
    *"xyab()[],.;:=+-*/%@&|~<>!#'\"\n\\ {}0123456789",
    *(" ** ", "//", "==", "->", "...", " if ", " for ", "lambda ", "None", "nan", "inf", "1e9"),
    *("x.sum(", "dim=", "softmax(", "relu(", "torch.", "F.", ".T", ".shape", "reshape(", "ones("),
    *(
        "x[",
        "None,",
        "einsum('ij,jk->ik',",
        "where(",
        "cat([",
        "arange(",
        "keepdim=True",
        "é",
        "\t",
    ),
)
VALID = [
    "softmax(x @ y, dim=-1)",
    "h = relu(x @ y + b); out = h.sum(dim=1)",
    "torch.einsum('ij,kj->ik', x, y).mean()",
    "(x[0, 1:, None] * y.T).reshape(-1)",
    "cross_entropy(x, tensor([0, 1]))",
    "where(x > 0, x ** 2, -x).cumsum(dim=0)",
    "cat([x, x * 2], dim=1).view(2, -1).flip(0)",
    "a, b = x.split(1, dim=1); out = a * b",
]


def poses(text: str) -> None:
    """Pose a problem, which may fail in one way only: with words, and a place in the text."""
    found = refusal = None
    try:
        found = pose(text, shapes={}, values={"x": [[1.0, 2.0], [3.0, 4.0]]})
    except GradcliError as error:
        refusal = error
    if found:
        assert found.seed.node.shape == found.out.shape
    elif refusal and refusal.span:
        assert 0 <= refusal.span.start <= refusal.span.end <= len(refusal.span.text) + 1
    else:
        assert refusal is not None


@settings(FUZZ, max_examples=200)
@given(st.lists(st.sampled_from(WORDS), max_size=25).map("".join))
def test_any_text_is_understood_or_refused(text):
    poses(text)


@FUZZ
@given(
    st.sampled_from(VALID),
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 3), st.sampled_from(WORDS)), max_size=3),
)
def test_slips_of_the_pen_are_understood_or_refused(text, edits):
    for place, removed, added in edits:
        at = place % (len(text) + 1)
        text = text[:at] + added + text[at + removed :]
    poses(text)


@settings(FUZZ, max_examples=80)
@given(st.text(max_size=30))
def test_any_characters_are_understood_or_refused(text):
    poses(text)


@pytest.mark.sweep
@settings(FUZZ, max_examples=30)
@given(st.sampled_from(VALID), st.sampled_from(WORDS), st.integers(0, 60))
def test_what_can_be_posed_can_be_explained(text, added, place):
    at = place % (len(text) + 1)
    ends("explain", text[:at] + added + text[at:], "-v", "x=[[1.,2.],[3.,4.]]")


def test_brackets_that_mean_nothing_count_too():
    for depth, refused in ((100, False), (101, True), (150, True), (500, True)):
        result = gradcli("grad", "(" * depth + "x" + ")" * depth, "-v", "x=1.")
        assert (f"{depth} nesting, and the limit is 100" in result.err) == refused
    inside = "(" * 150 + "x" + ")" * 150
    assert gradcli("grad", inside, "-v", "x=1.", "--limit", "nesting=150").out == "1.0\n"
    assert gradcli("grad", f"x  # {'(' * 200}", "-v", "x=1.").out == "1.0\n"


def test_a_name_has_a_limit():
    for length, refused in ((10_000, False), (10_001, True), (3_900_000, True)):
        result = gradcli("grad", "-", "-v", "y=2.", "-w", "y", stdin=f"{'x' * length}.sum() * y")
        assert (f"{length:,} characters, and the limit is 10,000" in result.err) == refused
        assert ("--limit name=N raises it" in result.err) == refused
        assert len(result.err) < 20_000
    result = gradcli("grad", "x * y", "-v", "x=1.", "-v", f"y={'1' * 20_000}.")  # a number
    assert "a name" not in result.err


def test_what_no_limit_raises_says_so():
    result = gradcli("grad", "+".join("x" * 4000), "-v", "x=1.")
    assert "no --limit raises that" in result.err
    assert result.status == 2
