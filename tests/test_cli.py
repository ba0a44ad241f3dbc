"""The command line: commands, options, exit status, what pipes and terminals get.

tests/golden/ holds terminal output at width 80. `pytest tests/test_cli.py --rewrite-golden` writes
it anew; read the difference before it is committed.
"""

import json
import math
import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from console import Input, Result, Terminal, gradcli, process, shell
from support import one_in

import gradcli as package
from gradcli import batches, operators, public_names
from gradcli.cli import typer_app, well_formed
from gradcli.cli.help import GROUPS, WIDEST, width_of_help
from gradcli.cli.main import COMMANDS, run
from gradcli.cli.options import OPTIONS
from gradcli.cli.streams import Streams
from gradcli.errors import GradcliError
from gradcli.explanation.choices import ON_REQUEST
from gradcli.explanation.operator_groups import all_families
from gradcli.operators import lookup

GOLDEN = Path(__file__).parent / "golden"
SQUARE = ("a*a", "-v", "a=[[1,2,3],[4,5,6]]", "-g", "a")
FLAGSHIP = ("x@a", "--grad", "[[1,2,3,4],[5,6,7,8]]")
NETWORK = (
    *("h = relu(x @ W + b); out = h.sum(dim=1)", "-v", "x=[[1,2],[3,-1]]"),
    *("-v", "W=[[1,0,-1],[2,1,1]]", "-v", "b=[0,1,-1]", "-g", "[1, 10]"),
)
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
SECTIONS = {
    "inputs": "Inputs",
    "forward": "Forward",
    "seed": "Seed",
    "jacobian": "Jacobian of",
    "cost": "Cost",
    "backward": "Backward",
    "gradient": "Gradient of",
    "checks": "Checked",
    "code": "In PyTorch",
    "notes": "Notes",
}


def answered(*args: str, **how) -> Result:
    """A command line that is answered, without a word on standard error."""
    result = gradcli(*args, **how)
    assert (result.status, result.err) == (0, "")
    return result


def refused(*args: str, code: str = "option", **how) -> Result:
    """A command line that cannot be met: one message, nothing on standard output."""
    result = gradcli(*args, **how)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith(f"error[{code}]: ")
    return result


# ---- commands ------------------------------------------------------------------------------------


def test_explain_and_the_bare_expression_are_one():
    assert answered(*SQUARE).out == answered("explain", *SQUARE).out


def test_in_full_explain_begins_with_the_answer():
    first = answered(*SQUARE, "--full").lines[0]
    assert first.startswith("a.grad = [[2, 8, 18], [32, 50, 72]]")
    assert "2 * g * a" in first


def test_in_full_explain_has_its_sections_in_order():
    out = answered(*SQUARE, "--full").out
    shown = [title for name, title in SECTIONS.items() if name not in ON_REQUEST]
    places = [out.index(f"\n{title}") for title in shown]
    assert places == sorted(places)


def test_the_flagship_runs_as_it_stands():
    out = answered("explain", *FLAGSHIP).out
    assert "x.grad = g @ a.T" in out
    assert "kron(eye(x.shape[0]), a).T" in out
    assert "x.grad[0,0] = 1·a[0,0] + 2·a[0,1] + 3·a[0,2] + 4·a[0,3]" in out
    assert "assumed: the 3 of x and a is arbitrary" in out


def test_grad_prints_json():
    assert answered("grad", "a*a", "-v", "a=[1,2]", "-g", "a").out == "[2.0, 8.0]\n"
    assert answered("grad", *SQUARE).json == [[2, 8, 18], [32, 50, 72]]
    assert answered("grad", "x*y", "-v", "x=2", "-v", "y=3").json == {"x": 3, "y": 2}


def test_jacobian():
    out = answered("jacobian", "x@a", "-s", "x=2x2,a=2x2", "-w", "x").out
    assert out.startswith("Jacobian of out with respect to x")
    assert "out[1,1]" in out
    assert "kron" in out
    assert "Backward" not in out


def test_a_row_that_is_too_wide_for_a_table_is_a_list_of_its_entries():
    program = "log(x[0] * x[1] + exp(x[2] * x[3])) * sin(x[1])"
    out = answered("jacobian", program, "-s", "x=4").out
    assert "…" not in out
    entries = re.findall(r"x\.grad\[\d\] = ((?:.|\n {16})*)\n", out)
    x = (0.5, 1.2, 0.3, 0.7)
    texts = [" ".join(e.replace("·", "*").split()) for e in entries]
    numbers = [eval(text, {**vars(math), "x": x}) for text in texts]
    u = math.exp(0.21)
    below = 0.6 + u
    slope = math.log(below) * math.cos(1.2)
    over = math.sin(1.2) / below
    assert numbers == pytest.approx(
        [over * 1.2, slope + over * 0.5, over * u * 0.7, over * u * 0.3]
    )


def test_jacobian_as_json():
    matrix = answered("jacobian", "x*x", "-v", "x=[1,2]", "-f", "json").json["jacobian"]["x"]
    assert matrix["matrix"] == [[2, 0], [0, 4]]


def test_formula_is_a_line_for_each_input():
    assert answered("formula", "x @ a", "-s", "x=2x3", "-w", "x").out == "g @ a.T\n"
    assert answered("formula", "x @ a", "-s", "x=2x3").lines == [
        "x.grad = g @ a.T", "a.grad = x.T @ g",
    ]  # fmt: skip
    masked = gradcli("formula", "(x > 0) * y", "-s", "x=3,y=3")
    assert masked.lines == ["x.grad = None", "y.grad = g * (x > 0)"]


def test_formula_in_other_formats():
    made = answered("formula", "x @ a", "-s", "x=2x3", "-f", "json")
    assert made.json == {"x": "g @ a.T", "a": "x.T @ g"}
    made = gradcli("formula", "(x > 0) * y", "-s", "x=3,y=3", "-f", "json")
    assert made.json == {"x": None, "y": "g * (x > 0)"}
    made = answered("formula", "x @ a", "-s", "x=2x3", "-f", "markdown")
    formulas = ["```python", "x.grad = g @ a.T", "a.grad = x.T @ g", "```"]
    assert made.lines[4:8] == formulas
    colored = answered("formula", "x @ a", "-s", "x=2x3", "-f", "terminal", "--color", "always").out
    assert ESCAPE.sub("", colored) == "x.grad = g @ a.T\na.grad = x.T @ g\n"
    assert colored != ESCAPE.sub("", colored)


def test_formulas_are_never_wrapped():
    text = "softmax(first_long_name @ second_long_name + third_long_name, dim=-1)"
    made = answered("formula", text, "-s", "first_long_name=2x3,third_long_name=4", "--width", "40")
    assert [line.partition(" = ")[0] for line in made.lines] == [
        "z", "z.grad", "first_long_name.grad", "second_long_name.grad", "third_long_name.grad",
    ]  # fmt: skip


@pytest.mark.sweep
def test_formulas_of_several_inputs_are_a_derivation():
    net = ("h = relu(x @ W); out = cross_entropy(h @ V, y)", "-s", "x=4x3,W=3x5,V=5x2")
    said = gradcli("formula", *net).lines
    assert said == [
        "z = x @ W",
        "z_1 = h @ V",
        "z_1.grad = (softmax(z_1, dim=1) - one_hot(y, z_1.shape[1])) / y.numel()",
        "h.grad = z_1.grad @ V.T",
        "z.grad = h.grad * (h > 0)",
        "V.grad = h.T @ z_1.grad",
        "x.grad = z.grad @ W.T",
        "W.grad = x.T @ z.grad",
    ]
    made = answered(*net, "-f", "json").json["derivation"]
    assert [f"{line['name']} = {line['formula']}" for line in made] == said


@pytest.mark.sweep
def test_one_sharing_in_every_format():
    """Formula, JSON, terminal and program of a network with a penalty have the same names."""
    layers = "h = relu(x @ W1 + b1); h2 = relu(h @ W2 + b2); logits = h2 @ W3 + b3"
    net = f"{layers}; loss = cross_entropy(logits, y) + lam * (W1**2).sum()"
    arguments = (net, "-s", "x=4x3,W1=3x5,W2=5x4,W3=4x2")
    said = gradcli("formula", *arguments).lines
    assert (
        "logits.grad = (softmax(logits, dim=1) - one_hot(y, logits.shape[1])) / y.numel()" in said
    )
    assert "W1.grad = 2 * lam * W1 + x.T @ z.grad" in said
    made = answered(*arguments, "-f", "json").json
    assert [f"{line['name']} = {line['formula']}" for line in made["derivation"]] == said
    assert made["grad"]["b3"]["formula"].startswith("(softmax(logits, dim=1) - one_hot(y, ")
    shown = answered(*arguments).out
    program = gradcli("code", *arguments).out
    for line in said[4:7]:
        assert line in shown
        assert f"assert_close({line.replace(' = ', ', ')})" in program
    assert "z = x @ W1 + b1\nh = torch.relu(z)\n" in program


@pytest.mark.sweep
def test_a_formula_in_json_without_a_closed_form_is_a_derivation():
    """The formula of one input of a long program: its statements, in order."""
    layers = "; ".join(f"h{k} = tanh(h{k - 1} * a + exp(-h{k - 1}))" for k in range(1, 13))
    program = f"h0 = x; {layers}; h12.sum()", "-s", "x=3,a=3"
    made = gradcli("formula", *program, "-f", "json")
    assert made.err == ""
    *before, last = made.json["x"].split("; ")
    said = gradcli("formula", *program).lines
    assert f"x.grad = {last}" in said
    assert [line for line in said if line in before] == before
    x, a = 0.3, 0.7
    names = {"exp": math.exp, "tanh": math.tanh, "ones_like": lambda _: 1.0, "a": a, "x": x}
    h, slope = x, 1.0
    for k in range(1, 13):
        inner = h * a + math.exp(-h)
        names[f"z{k}"], slope = inner, slope * (a - math.exp(-h)) * (1 - math.tanh(inner) ** 2)
        names[f"h{k}"] = h = math.tanh(inner)
    code = "\n".join([*before, f"last = {last}"]).replace(".grad", "_grad")
    exec(code, names)
    assert names["last"] == pytest.approx(slope, rel=1e-9)


# ---- one screen ----------------------------------------------------------------------------------


def test_one_screen():
    """The numbers of lines that a reader has room for."""
    assert len(answered("explain", *FLAGSHIP).lines) <= 40
    assert len(answered("a*b", "-v", "a=2.", "-v", "b=3.").lines) <= 20
    layers = "h1 = relu(x @ W1 + b1); h2 = relu(h1 @ W2 + b2); logits = h2 @ W3 + b3"
    network = f"{layers}; cross_entropy(logits, y) + 0.01 * (W1**2).sum()"
    shapes = {"x": "4,3", "W1": "3,5", "b1": "5", "W2": "5,4", "b2": "4", "W3": "4,2", "b3": "2"}
    values = [arg for n, s in shapes.items() for arg in ("-v", f"{n}=randn({s})")]
    assert len(answered(network, *values, "-v", "y=[0,1,0,1]").lines) <= 45


def test_an_lstm_cell_with_separate_gates_fits_a_screen():
    gate = "sigmoid(x @ W{0} + h @ U{0} + b{0})"
    gates = "; ".join(f"{n} = {gate.format(n)}" for n in "ifo")
    z = "z = tanh(x @ Wz + h @ Uz + bz)"
    said = answered(f"{gates}; {z}; c1 = f * c + i * z; h1 = o * tanh(c1)")
    assert len(said.lines) <= 45
    assert "x.grad and h.grad are sums over four paths: through z_4, z_3, z_2 and z_1." in said.out
    assert "bi, bf, bo and bz were broadcast: their gradients sum over dimension 0." in said.out


def test_paths_do_not_name_the_output_as_a_value_on_the_way():
    """W has its penalty in the loss itself."""
    layers = "h = tanh(x @ W); k = tanh(h @ V); loss = (k ** 2).sum() + (W ** 2).sum()"
    said = " ".join(answered(layers, "-s", "x=2x3,W=3x3,V=3x3").out.split())
    assert re.search(
        r"W.grad is the sum over two paths: through \w+, and directly from loss\.", said
    )


def test_a_block_hides_no_line_that_another_uses():
    chain = "; ".join(f"h{k + 1} = tanh(h{k} * a)" for k in range(17))
    out = answered(chain, "-s", "h0=2,a=2").out
    assert "more (--full shows all)" not in out
    assert all(f"h{k}.grad = " in out for k in range(1, 17))


def test_what_is_followed_is_not_offered():
    square = ("out = a*a", "-v", "a=[1.,2]", "-g", "a")
    assert '--element "a[1]"' in answered(*square).lines[-1]
    assert "--element" not in answered(*square, "--element", "a[0]").lines[-1]


def test_a_note_stands_once():
    """Both relus are of one array, whose second column is negative."""
    out = answered("(relu(x) + relu(x)).sum()", "-v", "x=[[1.,-1],[2,-2]]").out
    assert out.count("is 0 for every row") == 1
    two = "h = relu(x); k = relu(y); (h * k).sum()"
    out = answered(two, "-v", "x=[[1.,-1],[2,-2]]", "-v", "y=[[-1.,1],[-2,2]]").out
    assert "k[:,0] and h[:,1] are 0 for every row" in out


def test_a_matrix_of_zeros_is_said_to_be():
    out = answered("torch.floor(x)", "-v", "x=[1.5,-2.2]").out
    assert "Every entry is zero." in out
    assert "0 of its" not in out


def test_what_made_an_answer_nan_stands_before_it():
    out = answered("log(softmax(x, dim=0))", "-v", "x=[1000.,0,-1000]", "-g", "[1,0,0]").out
    assert out.index("not-finite") < out.index("formula-differs") < out.index("Gradient\n")
    out = answered("x.prod()", "-v", "x=[0.,2,3]").out  # out / x is nan at 0
    assert out.index("formula-not-finite") < out.index("Gradient\n")
    out = answered("x / y", "-v", "x=1.", "-v", "y=0.").out  # infinite, as it should be
    assert out.index("Gradients\n") < out.index("not-finite")


def test_formulas_of_several_inputs_use_the_names_of_reductions():
    out = answered("cosine_similarity(x, y, dim=0)", "-s", "x=3,y=3").out
    assert "x.grad = (y / n1 - x * out / n) / n" in out
    assert out.count(".norm()") == 2  # their definitions
    lines = answered("layer_norm(x, (4,), w)", "-s", "x=2x4,w=4").lines
    assert lines.count("  z = layer_norm(x, (4,))") == 1
    assert any("w.grad[j] = Σ_i g[i,j] z[i,j]" in line for line in lines)


def test_an_element_is_written_in_symbols_where_its_formula_is():
    loss = "p = sigmoid(x @ w); loss = -(y * log(p) + (1 - y) * log(1 - p)).mean()"
    out = answered(loss, *("-v", "x=[[1.,2],[3,4]]", "-v", "w=[0.1,0.2]", "-v", "y=[1.,0]")).out
    assert "x.grad[0,0] = (p[0] - y[0])·w[0] / 2 = (-0.37754)·0.1 / 2 = -0.018877" in out
    out = answered("softplus(x)", "-v", "x=[-1.,0,30]").out  # sigmoid(-1) = 1 / (1 + e)
    assert "x.grad[0] = g[0]·sigmoid(x[0]) = 0.26894·g[0]" in out


def test_a_mask_that_is_an_index_is_its_condition():
    for mask in ("(x > 0) & (x < 1)", "(x > 0) | (x < -1)"):  # x < -1 holds nowhere
        out = answered(f"x[{mask}].sum()", "-v", "x=[-1.,0.5,2]").out
        assert f"x.grad[i] = [{mask.replace('x', 'x[i]')}]" in out
    out = answered("max_pool2d(x, 2).sum()", "-s", "x=1x1x4x4").out
    assert "p is max_pool2d(x, 2, return_indices=True)[1]." in out


def test_what_is_multiplied_by_a_number_has_the_name_of_the_rest():
    out = answered("b @ inv(A) @ b", "-s", "A=3x3,b=3", "--assume", "A=symmetric").out
    assert "t = inv(A) @ b" in out
    assert "b.grad = 2 * t " in out


def test_a_table_that_would_cut_its_entries_is_a_sentence():
    long = ("hessian", "exp(X@w).sum()", "-s", "X=5x3,w=3", "-w", "w")
    out = answered(*long).out
    assert "X.T @ diag(exp(X @ w)) @ X" in out
    assert "too long for a table: --full shows them" in out
    assert "…" not in out
    assert "│" in answered(*long, "--full").out
    assert "│" not in answered("a*b*c*d*e*f0*h", "-s", "a=2").out


def test_sizes_are_not_imagined_where_an_operator_has_its_own():
    """cross() is of vectors of three elements."""
    out = answered("jacobian", "cross(a,b)", "-s", "a=3,b=3").out
    assert "1000" not in out
    assert "δ[j,0] is 1 where j is 0, and 0 elsewhere." in out


@pytest.mark.sweep
@pytest.mark.parametrize("count", [300, 490])
def test_formulas_of_long_programs_are_derived_where_searches_end(count):
    """None means that no gradient flows; x, which adds up over every statement, has no formula."""
    steps = "\n".join(f"h{k} = sin(h{k - 1}) + 1 * x" for k in range(1, count))
    program = f"h0 = x\n{steps}\nh{count - 1}.sum()", "-s", "x=2", "--limit", "seconds=1"
    said = gradcli("formula", *program).lines
    assert said[0] == f"h{count - 1}.grad = ones_like(h{count - 1})"
    assert said[1:-1] == [f"h{k}.grad = h{k + 1}.grad * cos(h{k})" for k in range(count - 2, 0, -1)]
    assert said[-1] == "x.grad = (no readable formula)"
    unsaid = gradcli("formula", *program, "-f", "json")
    assert unsaid.json == {"x": None}
    assert unsaid.err.startswith("note: ")


@pytest.mark.parametrize(
    ("program", "shapes", "line"),
    [
        ("K = exp(-cdist(X, X)**2 / 2); y @ K @ y", "X=4x2,y=4", "y.grad = 2 * K @ y"),
        (
            "L = cholesky(S); z = solve_triangular(L, (x - m).unsqueeze(1), upper=False); "
            "0.5 * z.pow(2).sum() + log(diagonal(L)).sum()",
            "S=3x3,x=3,m=3",
            "x.grad = inv(S) @ (x - m)",  # of (x - m) @ inv(S) @ (x - m) / 2
        ),
    ],
)
def test_closed_forms_stand_where_a_derivation_is_longer(program, shapes, line):
    assert line in gradcli("formula", program, "-s", shapes).lines


def test_an_answer_says_what_it_assumed():
    said = answered("b @ inv(A) @ b", "-s", "A=3x3,b=3", "--assume", "A=symmetric").lines
    assert said[1].strip() == "assumed: A is symmetric"


def test_formulas_say_none_where_no_gradient_flows():
    said = gradcli("formula", "(a * 2).sum() + 0 * b.detach().sum()", "-s", "a=2,b=2").lines
    assert "b.grad = None" in said


def test_formulas_of_several_inputs_share_their_statements():
    said = gradcli("formula", "cosine_similarity(x, y, dim=1)", "-s", "x=2x3,y=2x3").lines
    assert said[:2] == ["t = x.norm(dim=1, keepdim=True)", "u = y.norm(dim=1, keepdim=True)"]
    assert [line.partition(" = ")[0] for line in said[2:]] == ["x.grad", "y.grad"]


def test_a_title_opens_operands_that_are_too_long():
    loss = "binary_cross_entropy(xhat, x, reduction='sum')"
    text = f"xhat = sigmoid(z); {loss} - 0.5 * (1 + logvar - mu ** 2 - exp(logvar)).sum()"
    said = answered(text, "-s", "x=2x4,z=2x4,mu=2x3,logvar=2x3").lines
    assert said[0].startswith(f"out = {loss} - 0.5 * ·")


def test_steps_have_the_names_of_the_derivation():
    net = ("h = relu(x @ W + b); h @ V", "-s", "x=4x3,W=3x5,V=5x2", "--show", "backward")
    said = answered(*net).out
    assert "h = relu(·)    receives h.grad" in said
    assert "z = · + b" in said
    assert "z.grad @ W.T" in said


STEPS = {  # the lines that say what a step sends, in the shape of its numbers
    ("h = relu(x @ W + b); h @ V", "x=2x3,W=3x2,V=2x2"): ["to z h.grad * (h > 0)"],
    ("x.sum(dim=1)", "x=2x3"): ["to x g.unsqueeze(1).expand_as(x)"],
    ("x.mean(dim=0)", "x=2x3"): ["to x (g / x.shape[0]).expand_as(x)"],
}


@pytest.mark.parametrize("program", STEPS)
def test_a_step_has_the_shape_of_its_numbers_and_the_conditions_of_the_formula(program):
    text, shapes = program
    said = answered(text, "-s", shapes, "--show", "backward").lines
    lines = [" ".join(line.split()) for line in said]
    assert {*STEPS[program]} <= {*lines}


def test_a_condition_is_written_in_one_way():
    out = answered("relu(x) * w", "-s", "x=2x3,w=2x3", "--full").out
    assert "x.grad[i,j] = [x[i,j] > 0] g[i,j] w[i,j]" in out
    _, _, of_x = out.partition("Jacobian of out with respect to x")
    assert "relu(x[" not in of_x.partition("Jacobian of out with respect to w")[0]


NAMED = {  # statements for what a formula repeats
    ("x.amax(dim=1)", "x=2x3"): "t = x == out.unsqueeze(1)",
    (
        "K = X @ X.T + s*eye(3); L = cholesky(K); r = y - m; "
        "a = cholesky_solve(r.unsqueeze(1), L); 0.5 * (r @ a.squeeze(1)) + log(diagonal(L)).sum()",
        "X=3x2,y=3,m=3",
    ): "u = L.T @ L.grad",
}


@pytest.mark.parametrize("program", one_in(2, NAMED))
def test_what_a_formula_repeats_has_a_name(program):
    text, shapes = program
    assert NAMED[program] in [s.strip() for s in answered(text, "-s", shapes).lines]
    assert NAMED[program] in gradcli("formula", text, "-s", shapes).out


REDUCTIONS = {  # a reduction's name, the gradient in terms of it by its definition, and entry [1,0]
    ("x / x.norm()", "x=3"): ("n = x.norm()", "(g - out * (g @ out)) / n", "-out[0]·out[1]/n"),
    ("normalize(x, dim=0)", "x=3"): ("n = x.norm()", "(g - g @ out * out) / n", "-out[1]·out[0]/n"),
    ("x / x.sum()", "x=3"): ("s = x.sum()", "(g - g @ out) / s", "-out[1] / s"),
}


@pytest.mark.parametrize("program", REDUCTIONS)
def test_a_reduction_has_one_name_in_formula_index_element_and_jacobian(program):
    text, shapes = program
    definition, formula, entry = REDUCTIONS[program]
    name = definition[0]
    lines = [line.strip() for line in answered(text, "-s", shapes).lines]
    assert lines.count(definition) == 1
    assert f"x.grad = {formula}    (3,)" in lines
    for start in ("x.grad[i] = ", "x.grad[0] = "):
        (line,) = [line for line in lines if line.startswith(start)]
        assert line.endswith(f") / {name}")
    (row,) = [line for line in lines if line.startswith("g[1] │ out[1] │ ")]
    assert entry in row
    assert "left out" not in "".join(lines)  # three columns fit 80 characters
    assert definition in gradcli("jacobian", text, "-s", shapes).out


def test_arrays_that_do_not_fit_are_norms():
    """40 ones; the norm of 40 times 0.5 is sqrt(40) / 2."""
    values = ("-v", "a=full((5,8), 0.123456)", "-v", "b=full((5,8), 0.5) * (arange(8) >= 0)")
    lines = [" ".join(line.split()) for line in answered("a * b", *values, "-g", "ones(5,8)").lines]
    assert "g = ones(5,8) 5×8 all 1" in lines
    assert "a.grad = g * b 5×8 all 0.5" in lines
    values = ("-v", "a=ones(5,8)", "-v", "b=10000.5 + arange(40.).reshape(5,8)")
    out = answered("a * b", *values, "-g", "ones(5,8)", "-w", "a").out
    assert "a.grad = g * b    5×8    norm 6.337e+04" in out  # sqrt of the sum of squares
    assert "…" not in out


def test_a_kink_has_the_name_that_the_derivation_adds():
    values = ("-v", "x=[[1.,2],[3,-4]]", "-v", "W=[[1.,0,1],[0,1,-1]]", "-v", "b=[0.5,0,1]")
    out = answered("h = relu(x @ W + b); h.sum(dim=1)", *values, "-g", "[1,10]").out
    assert "z = x @ W + b has no name in your program." in out
    assert "z[0,2] is exactly 0, where relu has no derivative" in out  # 1 - 2 + 1


def test_a_long_chain_is_shown_by_its_ends():
    steps = [f"h{k} = tanh(h{k - 1} * 1.5)" for k in range(1, 200)]
    said = answered("; ".join(["h0 = x @ W", *steps, "h199.sum()"]), "-s", "x=2x3,W=3x3")
    assert len(said.lines) < 50
    assert "h0.grad = 1.5 * h1.grad * (1 - h1 ** 2)" in said.out
    assert "x.grad = h0.grad @ W.T" in said.out


def test_assumptions_shorten_formulas():
    quadratic = ("x @ A @ x", "-s", "x=3", "-w", "x")
    assert answered("formula", *quadratic).out == "(A + A.T) @ x\n"
    for word in ("symmetric", "posdef", "diagonal", "orthogonal,symmetric"):
        made = answered("formula", *quadratic, "--assume", f"A={word}")
        assert made.out == "2 * A @ x\n"
    assert "2 * A @ x" in answered(*quadratic, "--assume", "A=symmetric").out


def test_formula_tells_where_no_gradient_flows():
    result = gradcli("formula", "hinge_embedding_loss(x, sign(y))")
    assert result.lines[-1] == "y.grad = None"
    assert result.err.startswith("note: no gradient flows from out to y: PyTorch leaves its ")


def test_nothing_is_assumed_of_shapes_that_were_given():
    err = gradcli("formula", "(x[:, None] - x[None]).norm(dim=-1)", "-s", "x=2x3").err
    assert "divides by 0" in err
    assert "assumed" not in err


def test_formula_tells_what_it_took_for_a_matrix():
    told = "assumed: x (2,), A 2×2 (for a matrix: -s x=2x3)\n"
    assert gradcli("formula", "x @ A @ x").err == told
    assert gradcli("formula", "x @ A @ x", "-s", "x=3").err == ""


def test_jacobians_and_hessians_tell_the_shapes_that_were_inferred():
    assert gradcli("jacobian", "a * x").err == "assumed: a (2,), x (2,) (-s gives others)\n"
    assert gradcli("hessian", "x @ A @ x").err == "assumed: x (2,), A 2×2 (-s gives others)\n"
    assert gradcli("jacobian", "a * x", "-s", "a=3,x=3").err == ""


def test_the_rank_of_an_input_is_told_where_a_formula_depends_on_it():
    """x.reshape(-1) sends g back to a vector, and g.reshape(x.shape) to a matrix."""
    square = "assumed: x 2×2 (where not square: -s x=2x3)\n"
    for text in ("x.diagonal()", "trace(x)"):
        assert gradcli("formula", text).err == square
        assert gradcli("formula", text, "-s", "x=2x3").err == ""
    assert "assumed" not in gradcli("formula", "det(x)").err
    told = "assumed: x (2,) (for a matrix: -s x=2x3)\n"
    assert gradcli("formula", "x.reshape(-1)").err == told
    assert gradcli("check", "x.reshape(-1)").err == told
    assert gradcli("formula", "x.reshape(-1)", "-s", "x=2").err == ""
    told = "assumed: x 2×2 (for a batch of matrices: -s x=2x2x2)\n"
    assert gradcli("formula", "group_norm(x, 2)").err == told
    assert gradcli("formula", "group_norm(x, 2)", "-s", "x=2x4").err == ""
    assert "for a batch of matrices: -s x=2x3x4" in gradcli("formula", "x.flatten(1)").err
    for same_for_all in ("softmax(x, -1)", "sin(x)", "x.T", "x.mean()"):
        assert gradcli("formula", same_for_all).err == ""


def test_several_values_in_one_option():
    one = answered("grad", "(a * b).sum()", "-v", "a=[1,2], b=where(ones(2) == 1, 3, 4)")
    assert one.json == {"a": [3, 3], "b": [1, 2]}
    err = gradcli("grad", "a * b", "-v", "a=[1] b=[2]").err
    assert err.splitlines()[-1] == "  each value needs its own option: -v a=[1] -v b=[2]"


def test_what_wants_a_probability_is_tried_with_one():
    assert gradcli("jacobian", "quantile(x, q)", "-s", "x=3,q=()").status == 0


def test_errors_of_batch_have_the_id_and_name_fields():
    lines = ['{"id": 17, "expr": "x", "shape": 1}', '{"id": 3}', '{"id": 4, "expr": "x * x"}']
    answers = gradcli("batch", "-", stdin="\n".join(lines)).lines
    unknown, missing, unseeded = map(json.loads, answers)
    assert (unknown["id"], missing["id"], unseeded["id"]) == (17, 3, 4)
    assert unknown["error"]["hint"] == "did you mean shapes?"
    assert 'a seed of that shape with "grad"' in unseeded["error"]["hint"]


def test_a_batch_goes_on_after_an_exception_that_nothing_foresees(monkeypatch):
    real = batches._answer

    def broken(fields, limits):
        return real(fields, limits) if fields["expr"] == "x * x" else [][1]

    monkeypatch.setattr(batches, "_answer", broken)
    lines = [{"id": 1, "expr": "x"}, {"id": 2, "expr": "x * x", "values": {"x": 3}}]
    first, second = package.batch(map(json.dumps, lines))
    assert (first["id"], first["ok"], first["error"]["code"]) == (1, False, "internal")
    assert first["error"]["message"] == "IndexError: list index out of range"
    assert second["grad"] == {"x": 6.0}


def test_assumptions_in_batch():
    request = {"expr": "x @ A @ x", "shapes": {"x": [3]}, "wrt": ["x"], "want": ["formula"]}
    for given in ({"A": "symmetric"}, {"A": ["symmetric", "posdef"]}, "A=symmetric"):
        line = json.dumps(request | {"assume": given})
        assert answered("batch", "-", stdin=line).json["formula"] == {"x": "2 * A @ x"}
    made = gradcli("batch", "-", stdin=json.dumps(request | {"assume": {"A": 1}}))
    assert (made.status, made.json["error"]["code"]) == (1, "assume")


def test_assumptions_in_python():
    shapes = {"x": (3,), "A": (3, 3)}
    made = package.formula("x @ A @ x", shapes=shapes, wrt="x", assume={"A": "symmetric"})
    assert made == "2 * A @ x"
    explained = package.explain("x @ A @ x", shapes=shapes, assume="A=symmetric")
    assert explained.grad["x"]["formula"] == "2 * A @ x"
    for assume, right in (("A=symmetric", True), (None, False)):
        how = {"shapes": shapes, "wrt": "x", "claim": "x = 2 * A @ x", "assume": assume}
        assert package.check("x @ A @ x", **how)[-1]["ok"] is right


def test_assumptions_of_a_check():
    asked = ("check", "x @ A @ x", "-w", "x", "--claim", "x = 2 * A @ x")
    assert (gradcli(*asked).status, gradcli(*asked, "--assume", "A=symmetric").status) == (1, 0)


def test_graph():
    out = answered("graph", "h = relu(x @ W); h.sum()").out
    assert ".sum()" in out.splitlines()[0]
    assert "W" in out
    mermaid = answered("graph", "x*y", "-f", "mermaid").out
    assert mermaid.startswith("flowchart TD\n")
    assert mermaid.count("-->") == 2
    dot = answered("graph", "x*y", "-f", "dot").out
    assert dot.startswith("digraph gradcli {")
    assert dot.rstrip().endswith("}")
    assert answered("graph", "x*y", "-f", "json").json[-1]["op"] == "mul"


def test_check_agrees():
    out = answered("check", "softmax(x, dim=-1)", "-s", "x=2x3").out
    assert "seed times Jacobian" in out
    assert "finite differences" in out


def test_check_that_disagrees_exits_with_1(monkeypatch):
    from gradcli.explanation import checks

    monkeypatch.setattr(checks, "TOLERANCE", -1.0)
    result = gradcli("check", "x*x", "-v", "x=3.0")
    assert result.status == 1
    assert "disagrees" in result.out
    assert not result.err


def test_ops():
    assert "softmax(" in answered("ops", "--full").out
    page = answered("ops", "tanh").out
    assert "g * (1 - out ** 2)" in page
    assert "g_out * exp(x)" in answered("ops", "logcumsumexp_backward", "--width", "200").out
    assert "softmax" in answered("ops", "soft").out
    assert "nll_loss(" in answered("ops", "log likelihood").out  # words of a meaning
    assert "did you mean" in refused("ops", "softmx", code="unknown-function").err
    for name in ("torch.fft.rfft", "torch.linalg.eig", "torch.masked.sum", "torch.func.grad"):
        refused("ops", name, code="unsupported")
    several = gradcli("ops", "sort").out
    assert several.startswith("sort(input, dim=-1, descending=False, *, stable=False)")
    assert "sort_values(x, dim=-1, descending=False)" in several


def test_ops_fits_a_screen():
    lines = answered("ops").lines
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    shown = {name.strip(" .") for line in lines[1:13] for name in line[20:].split(",")} - {""}
    assert len(shown) > 80
    for name in shown:
        assert lookup(name) is not None


def test_every_family_of_operators_is_in_a_group():
    grouped = {module for family in all_families() for module in family.modules}
    indexed = {module for modules in operators._index().values() for module in modules}
    named = {f for f in indexed if any(n in public_names.functions() for n in _names_in(f))}
    assert named <= grouped


def _names_in(family: str) -> list[str]:
    return [name for name, modules in operators._index().items() if family in modules]


def test_ops_searches_names_aliases_and_meanings():
    assert answered("ops", "hinge").lines[1].startswith("  hinge_embedding_loss(")
    assert "arccos(" in answered("ops", "arcco").out
    meant = answered("ops", "orthogonal").out
    assert "With orthogonal in their meaning" in meant
    assert "qr(" in meant
    assert answered("ops", "lower triangular").lines[1].startswith("  cholesky(")


@pytest.mark.parametrize(
    ("word", "first"),
    [
        ("losses", "Regression losses"),
        ("activation", "Activation functions"),
        ("Gamma", "Gamma function"),
        ("lu solving", "Linear systems from LU factors"),
        ("linear algebra", "Inverses and linear systems"),
    ],
)
def test_ops_shows_a_family(word, first):
    assert answered("ops", word).lines[0] == first


def test_families_hold_what_pytorch_has():
    listed = answered("ops", "--full", "--width", "200").out
    for name in ("relu(", "sort(", "svd(", "F.softmax(", "batch_norm("):
        assert f"  {name}" in listed
    for name in ("gelu_backward", "sort_values", "svd_left", "zero_pivot"):
        assert name not in listed


def test_examples():
    names = [line.split()[0] for line in answered("examples").lines if line[:1].strip()]
    assert "argument" in names
    for name in names:
        assert "Gradient" in answered("examples", name).out
    assert "did you mean" in refused("examples", "argment").err
    assert json.loads(answered("examples", "square", "-f", "json").out)["schema"] == "gradcli/1"


def test_questions_end_lines_between_words():
    for line in answered("examples", "--width", "60").lines:
        assert len(line) <= 60 or line.lstrip().startswith("gradcli ")
    question, *_ = answered("examples", "rest", "--width", "60").lines
    assert question == "Where does the seed come from? From the rest of the"


def test_batch():
    lines = [{"id": 1, "expr": "x*x", "values": {"x": 3}}, {"id": 2, "expr": "x +"}]
    text = "\n".join(map(json.dumps, lines))
    result = gradcli("batch", "-", stdin=text)
    assert result.status == 1
    first, second = map(json.loads, result.lines)
    assert (first["ok"], first["grad"]) == (True, {"x": 6})
    assert (second["ok"], second["error"]["code"]) == (False, "syntax")
    assert gradcli("batch", "-", stdin=json.dumps(lines[0])).status == 0
    assert gradcli("batch", "-", "-o", "-", stdin=text).out == result.out
    assert gradcli("batch", "-", stdin="").status == 0
    refused("batch", "/nowhere/x.jsonl", code="file")


def test_help():
    result = process("--help")
    for command in COMMANDS:
        assert re.search(rf"^  {command} +[A-Z][^.]*.*\.$", result.out, re.MULTILINE)
    for group in GROUPS:
        assert f"\n{group}:\n" in result.out
    assert result.out.count("\n  gradcli ") == 3
    assert max(map(len, result.lines)) <= 80
    assert "..." not in result.out.partition("Explain:")[2]
    for other in ("-h", "help"):
        assert process(other) == result


def test_gradcli_alone_says_what_to_type():
    result = answered()
    assert result.out.count("\n  gradcli ") == 3
    assert len(result.lines) <= 8
    assert "gradcli --help" in result.out


def test_examples_of_the_help_are_answered():
    lines = [line for c in ("--help", *COMMANDS) for line in process(c, "-h").lines]
    commands = [line.strip() for line in lines if line.startswith("  gradcli ")]
    assert len(commands) > len(COMMANDS)
    elsewhere = (
        "train.py",
        "answer.json",
        "--against",
        "serve",
        "mcp",
    )  # what is not here, or stays
    for command in commands:
        if not any(part in command for part in elsewhere):
            assert gradcli(*shlex.split(command)[1:]).status == 0, command


def test_an_expression_that_begins_like_the_help():
    assert "h.grad" in answered("-h*y", "-s", "h=2,y=2", "-g", "y").out
    assert process("x*y", "-h") == process("explain", "--help")
    assert gradcli("grad", "h*h", "-v", "h=3", "-g", "-h").out == "-18.0\n"
    assert "h.grad = -g" in answered("--", "-h").out


def test_help_in_a_wide_terminal():
    width, ctx = 120, SimpleNamespace(find_object=lambda _: wide)
    wide = Streams(None, Terminal(True), Terminal(), {"COLUMNS": str(width)})
    assert width_of_help(ctx) == WIDEST < width


def test_help_of_one_command():
    assert process("help", "grad") == process("grad", "--help")


def test_a_short_option_may_be_a_value():
    assert gradcli("grad", "s*s", "-v", "s=3", "-g", "-s").out == "-18.0\n"


def by_typer(arguments: list[str]) -> tuple | None:
    """The function of a command and what it is given, as typer reads a command line; None where it
    calls none.
    """
    calls = []

    def recorder(function):
        return lambda streams, given: calls.append((function, vars(given)))

    recorded = {n: c._replace(function=recorder(c.function)) for n, c in COMMANDS.items()}
    silent = Streams(Input(b""), Terminal(), Terminal(), {})
    with suppress(GradcliError):
        typer_app.call(arguments, silent, recorded)
    return calls[0] if calls else None


def samples(name: str) -> list[str]:
    """Texts for an option."""
    option = OPTIONS[name]
    if option.type is int:
        return [f"{n}" for n in option.within if n is not None] or ["0", "12"]
    return [*option.choices] if option.choices else ["x", "x=[1, 2]", "a - b", "é"]


def command_lines(command: str) -> Iterator[list[str]]:
    """With each option of a command, by each of its names, alone and with others."""
    arguments = [n for n in COMMANDS[command].names if not OPTIONS[n].names]
    first = [command, *("x @ a" for n in arguments if OPTIONS[n].required)]
    yield from (first, [command, *("-" for _ in arguments)])
    for name in COMMANDS[command].names:
        for word in OPTIONS[name].names:
            if OPTIONS[name].type is bool:
                yield from ([*first, word], [command, word, *first[1:]])
                continue
            for text in samples(name):
                yield from ([*first, word, text], [command, word, text, *first[1:], word, text])
                if word.startswith("--"):
                    yield [*first, f"{word}={text}"]


@pytest.mark.parametrize("command", one_in(6, COMMANDS))
def test_a_command_line_without_a_mistake_is_read_as_typer_reads_it(command):
    for arguments in command_lines(command):
        read, values = well_formed.read(arguments, COMMANDS)
        assert (read.function, values) == by_typer(arguments), arguments


def test_an_expression_alone_is_read_as_typer_reads_it():
    arguments = ["x * y", "--full", "--value", "x=2", "--seed", "g"]
    read, values = well_formed.read(arguments, COMMANDS)
    assert (read.function, values) == by_typer(arguments)
    assert (values["values"], values["grad"]) == (["x=2"], ["g"])


@pytest.mark.parametrize(
    "arguments",
    [
        (), ("explain",), ("--help",), ("x*y", "-h"), ("x*y", "z"), ("x*y", "--no"), ("x*y", "-q"),
        ("x*y", "--full=yes"), ("x*y", "-p"), ("x*y", "-p", "two"), ("x*y", "-p", "99"),
        ("x*y", "-p3"), ("x*y", "--color", "blue"), ("x*y", "--color="), ("x*y", "-g", "--full"),
        ("--", "x*y"), ("grad", "x*y", "--full"), ("explan", "x*y"), ("grad", "-x*y"),
    ],
)  # fmt: skip
def test_what_may_be_a_mistake_is_left_to_typer(arguments):
    assert well_formed.read(arguments, COMMANDS) is None


@pytest.mark.parametrize("command", one_in(4, COMMANDS))
def test_help_of_every_command(command):
    result = process(command, "--help")
    assert (result.status, result.err) == (0, "")
    assert re.match(rf"Usage: gradcli {command} .*\[OPTIONS\]\n", result.out)
    assert max(map(len, result.lines)) <= 80
    assert process(command, "-h") == result


def test_version():
    assert process("--version").out == f"gradcli {package.__version__}\n"


def test_shell_completion():
    named = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}  # no shell is around each test
    assert "complete" in process("--show-completion", "bash", **named).out
    words = process(_GRADCLI_COMPLETE="complete_bash", COMP_WORDS="gradcli gr", COMP_CWORD="1")
    assert {"grad", "graph"} <= set(words.out.split())


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("x@a --show ja", ["jacobian"]),
        ("x@a --show answer,ja", ["answer,jacobian"]),
        ("'relu(x @ W) + b' --wrt ", ["x", "W", "b"]),
        ("'relu(x @ W) + b' -w x,", ["x,W", "x,b"]),
        ("grad x@a -v ", ["x=", "a="]),
        ("seed-for x@a --target ", ["x=", "a="]),
        ("code x@a --target t", ["torch", "torch-function"]),
        ("x@a -f m", ["markdown"]),
        ("graph x@a -f m", ["markdown", "mermaid"]),
        ("ops softp", ["softplus"]),
        ("examples squ", ["square", "square-ones"]),
        ("check x --against torch,", ["torch,jax"]),
        ("'x@' -w ", []),
    ],
)
def test_what_stands_after_an_option_is_completed(typed, words):
    count = len(shlex.split(f"gradcli {typed}_")) - 1
    line = {"COMP_WORDS": f"gradcli {typed}", "COMP_CWORD": str(count)}
    found = process(_GRADCLI_COMPLETE="complete_bash", **line).out.split()
    assert found == words


# ---- the expression ------------------------------------------------------------------------------


def test_standard_input_holds_the_expression():
    assert answered("grad", "-", "-v", "a=[1,2]", "-g", "a", stdin="a*a\n").json == [2, 8]
    text = "h = x * 2\nh.sum()\n"
    assert answered("grad", "-", "-v", "x=[1,2]", stdin=text).json == [2, 2]


def test_standard_input_holds_a_value():
    assert answered("grad", "(x*x).sum()", "-v", "x=@-", stdin="[1, 2]").json == [2, 4]
    assert answered("grad", "(x*x).sum()", "-v", "x=@-", stdin="1 2\n3 4\n").json == [
        [2, 4],
        [6, 8],
    ]


def test_standard_input_can_be_read_only_once():
    assert "only once" in refused("grad", "-", "-v", "x=@-", stdin="x").err
    assert "only once" in refused("grad", "x*y", "-v", "x=@-", "-v", "y=@-", stdin="1").err


def test_expressions_that_begin_with_a_minus():
    assert answered("grad", "-v", "x=3", "--", "-x * x").json == -6
    assert "x.grad = -2 * x = -6" in answered("-v", "x=3", "--", "-x * x").out
    assert answered("grad", "-x * x", "-v", "x=3").json == -6
    assert answered("grad", "-v", "x=3", "-(x * x)", "-w", "x").json == -6
    assert "no such option: --shap" in refused("-(x * x)", "--shap", "x=2").err
    assert "x.grad = -2 * x = -6" in answered("-x*x", "-v", "x=3").out
    assert "no such option: -x" in refused("-x", "-v", "x=3").err
    assert "no such option: -x" in refused("x", "-x*x", "-v", "x=3").err
    assert 'gradcli -- "-x * y"' in refused("-x").err


def test_an_expression_named_like_a_command_is_explained_with_the_command():
    assert "grad.grad" in answered("explain", "grad * 2").out


# ---- options -------------------------------------------------------------------------------------


def test_shape():
    assert "x 2×5" in answered("explain", "x@a", "-s", "x=2x5,a=5x4").out
    assert "x 2×5" in answered("explain", "x@a", "-s", "x=(2,5)", "-s", "a=[5,4]").out
    refused("x", "-s", "x", code="shape-option")


def test_values_in_their_spellings():
    for value in ("[[1,2],[3,4]]", "tensor([[1., 2.], [3., 4.]])", "[[1 2]\n [3 4]]"):
        assert answered("grad", "(x*x).sum()", "-v", f"x={value}").json == [[2, 4], [6, 8]]
    assert answered("grad", "(x*x).sum()", "-v", "x=arange(3)").json == [0, 2, 4]


def test_values_from_files(tmp_path):
    (tmp_path / "x.json").write_text("[1, 2]")
    (tmp_path / "x.csv").write_text("1,2\n3,4\n")
    assert answered("grad", "(x*x).sum()", "-v", f"x=@{tmp_path}/x.json").json == [2, 4]
    assert answered("grad", "(x*x).sum()", "-v", f"x=@{tmp_path}/x.csv").json == [[2, 4], [6, 8]]


def test_wrt():
    assert answered("grad", "x*y", "-v", "x=2", "-v", "y=3", "-w", "y").json == 2
    assert list(
        answered("grad", "x*y*z", *("-v", "x=2", "-v", "y=3", "-v", "z=1", "-w", "z,x")).json
    ) == [
        "z",
        "x",
    ]


def test_names_in_several_options():
    asked = ("x*y*z", "-v", "x=2,y=3,z=1")
    assert list(answered("grad", *asked, "-w", "z", "-w", "x,z").json) == ["z", "x"]
    shown = answered("explain", *asked, "--show", "answer", "--show", "inputs").out
    assert shown == answered("explain", *asked, "--show", "answer,inputs").out


def test_seeds():
    values = ("-v", "x=[[1,2],[3,4]]")
    assert answered("grad", "2*x", *values, "-g", "onehot(0,1)").json == [[0, 2], [0, 0]]
    assert answered("grad", "2*x", *values, "-g", "onehot((-1, 0))").json == [[0, 0], [2, 0]]
    assert answered("grad", "2*x", *values, "-g", "ones_like(out)").json == [[2, 2], [2, 2]]
    assert answered("grad", "2*x", *values, "-g", "2*out").json == [[8, 16], [24, 32]]
    assert "g is ∂loss/∂out" in answered("explain", "2*x", *values, "-g", "2*out").out
    assert "g is ∂total/∂loss" in answered("explain", "loss = 2*x", *values, "-g", "x").out


def test_loss_is_no_value_of_the_program():
    """The seed ∂total/∂out is the gradient of a result that the program does not have."""
    text = "loss = tanh(x); y = exp(loss) * x + loss; z = sin(y) * y; z * loss + y"
    page = answered("explain", text, "-v", "x=[1,2]", "-g", "[1,2]").out
    assert "g is ∂total/∂out" in page
    assert "z.grad is ∂total/∂z" in page


def test_formats():
    assert answered(*SQUARE, "-f", "json").json["schema"] == "gradcli/1"
    assert answered(*SQUARE, "-f", "markdown").out.startswith(
        "```python\nout = a*a\nout.backward(a)"
    )
    assert "\n**Answer:** `a.grad" in answered(*SQUARE, "-f", "markdown", "--full").out
    assert answered(*SQUARE, "-f", "plain").out == answered(*SQUARE).out
    assert "json, got jsn" in refused(*SQUARE, "-f", "jsn").err


def test_output(tmp_path):
    file = tmp_path / "answer.txt"
    written = answered(*SQUARE).out
    result = gradcli(*SQUARE, "-o", str(file))
    assert result == (0, "", f"wrote {written.count(chr(10))} lines to {file}\n")
    assert file.read_text("utf-8") == written
    assert gradcli(*SQUARE, "-o", str(file), terminal=True).out == ""
    assert "\x1b" not in file.read_text("utf-8")
    assert gradcli("grad", *SQUARE, "-o", str(file)).err == f"wrote 1 line to {file}\n"
    assert json.loads(file.read_text()) == [[2, 8, 18], [32, 50, 72]]
    result = refused(*SQUARE, "-o", str(tmp_path / "no" / "answer.txt"), code="file")
    assert "No such file or directory" in result.err
    refused(*SQUARE, "-o", str(tmp_path), code="file")


@pytest.mark.parametrize(("ending", "begin", "called"), [
    ("html", "<!DOCTYPE html>", "an HTML page"),
    ("md", "```python", "Markdown"),
    ("tex", "% gradcli", "LaTeX"),
    ("SVG", "<svg ", "an SVG picture"),
    ("json", "{", "JSON"),
    ("txt", "out = a*a", ""),
])  # fmt: skip
def test_a_file_is_in_the_format_of_its_ending(tmp_path, ending, begin, called):
    file = tmp_path / f"answer.{ending}"
    found = gradcli(*SQUARE, "-o", str(file))
    written = file.read_text("utf-8")
    lines = written.count("\n")
    assert written.startswith(begin)
    counted = f"{lines} line{'s' * (lines != 1)}"
    assert found.err == f"wrote {f'{called} ({counted})' if called else counted} to {file}\n"
    gradcli(*SQUARE, "-f", "plain", "-o", str(file))
    assert file.read_text("utf-8") == answered(*SQUARE).out


def test_a_document_of_latex_is_asked_by_the_ending(tmp_path):
    file = tmp_path / "answer.tex"
    gradcli(*SQUARE, "--standalone", "-o", str(file))
    assert "\\documentclass" in file.read_text("utf-8")


@pytest.mark.parametrize("name", SECTIONS)
def test_show_one_section(name):
    out = answered(*SQUARE, "--show", name).out
    assert out.startswith(SECTIONS[name])
    for other in set(SECTIONS) - {name}:
        assert f"\n{SECTIONS[other]}" not in f"\n{out}".replace(f"\n{SECTIONS[name]}", "")


def test_show_says_what_it_adds():
    added = "--show adds backward and code to the short answer's sections."
    assert answered(*SQUARE, "--show", "answer,code,backward").lines[-1].strip() == added
    for names in ("code", "backward,code", "answer,jacobian"):
        assert "--show adds" not in answered(*SQUARE, "--show", names).out


def test_what_signs_mean_is_said_once():
    out = answered(
        "h = relu(x @ W + b); h @ V", "-s", "x=2x3,W=3x2,V=2x2", "--show", "jacobian"
    ).out
    assert out.count("is 1 where it holds and 0 elsewhere") == 1
    assert out.count("are equal, and 0 elsewhere") == 1
    assert out.count("If every dimension were 1000") == 1


def test_show_several_sections():
    assert answered(*SQUARE, "--show", "answer").out.count("\n") == 1
    assert "Backward" in answered(*SQUARE, "--show", "notes, backward").out
    assert "did you mean gradient?" in refused(*SQUARE, "--show", "gradint").err
    assert "the sections are answer" in refused(*SQUARE, "--show", "zzz").err


def test_the_help_names_all_sections():
    from gradcli.explanation.choices import SECTIONS as all_sections

    assert ", ".join(all_sections) in OPTIONS["show"].help


def test_element():
    out = answered(*SQUARE, "--element", "a[1,2]").out
    assert "a.grad[1,2] = g[1,2]·a[1,2] + g[1,2]·a[1,2] = 6·6 + 6·6 = 72" in out
    assert answered(*SQUARE, "--element", "a.grad[-1,-1]").out == out
    refused(*SQUARE, "--element", "b[0]")
    refused(*SQUARE, "--element", "a[0,7]", code="index")
    refused(*SQUARE, "--element", "a[0]", code="index")
    assert (
        "x.grad[1] = g[1] x.mean() + (g * x).mean()"
        in answered("x * x.mean()", "--shape", "x=3", "--element", "x[1]").out
    )
    # by hand: the two rows of x @ a that a[1,2] enters, with the seeds 3 and 7
    seeded = ("x @ a", "-s", "a=3x4", "--grad", "[[1,2,3,4],[5,6,7,8]]", "--element", "a[1,2]")
    for more in ((), ("--full",)):
        lines = [line.strip() for line in answered(*seeded, *more).lines]
        section = lines[lines.index("Following a[1,2]") :]
        assert section[1] == "out[0,2] = x[0,0]·a[0,2] + x[0,1]·a[1,2] + x[0,2]·a[2,2]"
        assert section[4:8:2] == ["g │          │ a[1,2]", "3 │ out[0,2] │ x[0,1]"]
        assert section[7] == "7 │ out[1,2] │ x[1,1]"
        assert "In its column of the Jacobian 2 of 8 entries are not zero." in section
    network = "h = tanh(x @ W); k = tanh(h @ V); (k @ U).sum()", "-s", "x=2x3,W=3x2,V=2x2,U=2x2"
    steps = answered(*network, "--element", "W[1,0]").out.partition("Following W[1,0]")[2]
    assert "k.grad[0,0] = U[0,0] + U[0,1]\n" in steps
    assert "h.grad[0,0] = z_1.grad[0,0]·V[0,0] + z_1.grad[0,1]·V[0,1]\n" in steps
    assert "z.grad[0,0] = h.grad[0,0]·(1 - h[0,0]·h[0,0])\n" in steps
    assert "W.grad[1,0] = x[0,1]·z.grad[0,0] + x[1,1]·z.grad[1,0]\n" in steps
    assert "k[0,0] = tanh(z_1[0,0])\n" in steps
    # by hand: row 0 is not let through, z[1,0] = 2·3 = 6, and only row 1 leads back to W
    dead = "h = relu(x @ W); h2 = tanh(h @ V); (h2 * h2).sum()"
    values = ("-v", "x=[[-1.],[2.]]", "-v", "W=[[3.]]", "-v", "V=[[0.25]]")
    way = answered(dead, *values, "--element", "W[0,0]").out
    assert way.count("W.grad[0,0] = ") == 1
    assert "z[1,0] = x[1,0]·W[0,0] = 2·3 = 6\n" in way
    assert "W.grad[0,0] = x[1,0]·z.grad[1,0] = " in way
    assert "[0,0]·z.grad[0,0]" not in way
    # sigmoid(-1) = 0.268941..., and 1 above the cut at 20
    soft = ("softplus(x)", "-v", "x=[-1.,30]")
    assert "= 0.26894·g[0]\n" in answered(*soft).out
    assert (
        "There are no intermediate elements between A and out"
        in answered("logdet(A)", "-s", "A=2x2", "--element", "A[0,0]").out
    )
    condition = "A condition in brackets, as [x[i] > 0], is 1 where it holds"
    assert condition in answered("relu(x) * y", "-s", "x=3,y=3").out
    unit = answered("x / x.norm()", "-s", "x=3", "--element", "x[1]", "--full").out
    assert "x.grad[1] = (g[1] - out[1]·(g[0]·out[0] + g[1]·out[1] + g[2]·out[2])) / n" in unit
    assert "n = x.norm()" in unit
    assert "≠ 0" not in unit
    rows = answered("layer_norm(x, (4,))", "-s", "x=2x4", "--element", "x[1,2]").out
    element = "(g[1,2] - g[1].mean() - out[1,2] (g * out)[1].mean()) / s[1,0]"
    assert f"x.grad[1,2] = {element}" in rows
    assert "(3 / 4 - out[1,2] ** 2 / 4) / s[1,0]" in rows  # sizes of an element are numbers
    assert "keepdim=True)[1" not in rows
    third = answered("x / 3 * x", "-v", "x=[1.,2.]", "-g", "[1.,1.]", "--element", "x[0]").lines
    assert next(line for line in third if "x.grad[0]" in line).endswith(" = 0.66667")
    assert '--element "w[2]"' in answered("x.detach() * w", "--shape", "x=3").out


SATURATED = {  # by hand: both labels are met to the last digit, or none is
    ("cross_entropy(z, y)", "z=[[1000.,-1000.]]", "y=[0]"): "softmax(z, dim=1) is within",
    ("cross_entropy(z, y)", "z=[[1000.,-1000.]]", "y=[1]"): "",
    (
        "binary_cross_entropy_with_logits(z, y)",
        "z=[800.,-800.]",
        "y=[1.,0.]",
    ): "sigmoid(z) is within",
    ("log(softmax(z, dim=0)).sum()", "z=[1000.,0,-1000]"): "is 0 in single precision at [1]",
    ("log(sigmoid(z)).sum()", "z=[-200.,1]"): "sigmoid(z) is 0 in single precision at [0]",
    ("log(sigmoid(z)).sum()", "z=[-80.,1]"): "",
}


@pytest.mark.parametrize("program", SATURATED)
def test_a_saturated_loss_is_told_where_no_gradient_flows(program):
    expr, *values = program
    expected = SATURATED[program]
    out = answered(expr, *(word for v in values for word in ("-v", v))).out
    assert ("saturated  " in out) == bool(expected)
    assert expected in out
    if expr.startswith("cross") and expected:
        assert (
            "z.grad[0,0] = p[0,0] - 1 = 1 - 1 = 0\n" in out
        )  # no sum that comes to another number


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        (("-s", "a=2"), "at random values"),
        (("-v", "a=[1.,2.]"), "with a random seed"),
        (("-v", "a=[1.,2.]", "-g", "[1.,1.]"), None),
    ],
)
def test_checks_say_what_was_random(arguments, where):
    for more in ((), ("--full",)):
        out = answered("a * a", *arguments, *more).out
        assert ("random" in out.split("✓", 1)[1].split("More:")[0].split("In PyTorch")[0]) == bool(
            where
        )
        assert where is None or where in out


def test_digits_of_grad():
    third = ("grad", "x / 3", "-v", "x=[1.,2e7,nan]", "-g", "[1,1,1]")
    assert answered(*third, "-p", "3").json == [0.333] * 3
    square = ("grad", "x * x / 3", "-v", "x=[1.,2e7,inf]", "-g", "[1,1,1]")
    assert answered(*square, "-p", "3").json == [0.667, 13300000.0, "inf"]
    assert answered(*square).json[0] == 2 / 3


def test_precision():
    args = ("x / 3", "-v", "x=1.0", "--show", "forward")
    assert "0.333\n" in answered(*args, "-p", "3").out
    assert "0.3333333\n" in answered(*args, "-p", "7").out
    refused(*args, "-p", "0")
    refused(*args, "-p", "x")


def test_full():
    args = ("2 * x", "-v", "x=arange(100).reshape(10, 10)", "-g", "ones_like(out)")
    short, long = answered(*args), answered(*args, "--full")
    assert len(long.out) > 2 * len(short.out)
    assert "all 1" in short.out  # the seed
    assert "out[9,9]" in long.out
    assert any("x[0,0]" in line and "x[9,9]" in line for line in long.lines)


def test_lines_of_code_are_never_cut():
    values = [k + 0.125 for k in range(20)]
    out = answered("x * 1.0", "-v", f"x={values}", "-g", "ones_like(out)", "--show", "code").out
    assert f" x = torch.tensor({values}, requires_grad=True) " in re.sub(r"\s+", " ", out)


def test_dtype():
    args = ("grad", "x / 3", "-v", "x=1.0")
    assert answered(*args).json == 1 / 3
    narrow = answered("grad", "(x / 3).sum()", "-v", "x=[1.0]", "--dtype", "float32").json[0]
    assert narrow == pytest.approx(1 / 3, abs=1e-7)
    assert narrow != 1 / 3
    refused(*args, "--dtype", "float16")


def test_random_seed():
    args = ("grad", "(x * x).sum()", "-v", "x=randn(3)")
    assert answered(*args).out == answered(*args, "--random-seed", "0").out
    assert answered(*args).out != answered(*args, "--random-seed", "1").out
    refused(*args, "--random-seed", "-1")


def test_several_values_without_brackets():
    assert "need brackets: [1,2]" in refused("x", "-v", "x=1,2", code="value").err


def test_limit():
    refused("(x * 2).sum()", "-v", "x=ones(50)", "--limit", "elements=20", code="limit")
    refused("x", "--limit", "elephants=3")
    refused("x", "--limit", "elements")
    refused("x", "--limit", "elements=-3")


def test_debug_shows_a_traceback():
    assert "Traceback" not in refused("sofmax(x)", code="unknown-function").err
    result = gradcli("sofmax(x)", "--debug")
    assert result.status == 2
    assert result.err.startswith("Traceback")
    assert "error[unknown-function]" in result.err


# ---- what cannot be understood -------------------------------------------------------------------


def test_unknown_commands_and_options():
    assert "did you mean explain?" in refused("explian", "x").err
    assert "did you mean jacobian?" in refused("jacobain", "x*x").err
    assert "no such option: --shap" in refused("x", "--shap", "x=2").err
    assert "gradcli explain --help" in refused("x", "--nonsense").err
    assert "missing argument" in refused("grad").err
    assert "requires an argument" in refused("x", "-s").err
    assert "option '-s' requires an argument" in refused("formula", "-x*t", "-s").err
    assert "begins with - comes after --" in refused("formula", "-w*t", "-s", "t=3").err
    assert "begins with -" not in refused("formula", "-s", "t=3").err
    assert "--order must be an integer from 1 to 9, got two" in refused("x", "--order", "two").err
    assert "--width must be an integer from 40 to 10000, got 3" in refused("x", "--width=3").err
    assert "must be an integer, got 1.5" in refused("x", "--random-seed", "1.5").err
    assert "--color must be one of auto, always, never, got" in refused("x", "--color=").err
    assert 'with spaces in quotes: "x * y"' in refused("grad", "x", "*", "y").err
    assert 'with spaces in quotes: "x * y"' in refused("x", "*", "y").err
    assert "quotes" not in refused("ops", "exp", "log").err
    refused("x", "y z", "w")


def test_a_message_has_a_code_a_place_and_a_cure():
    result = refused("sofmax(x, dim=-1)", "-s", "x=3", code="unknown-function")
    first, line, caret, cure = result.err.splitlines()
    assert first == "error[unknown-function]: there is no function sofmax"
    assert (line, caret) == ("  sofmax(x, dim=-1)", "  ^^^^^^")
    assert cure.startswith("  did you mean softmax?")


def test_errors_as_json():
    result = gradcli("x*sofmax(x)", "-f", "json")
    assert (result.status, result.err) == (2, "")
    assert result.json == {
        "ok": False,
        "error": {
            "code": "unknown-function",
            "message": "there is no function sofmax",
            "hint": result.json["error"]["hint"],
            "span": [2, 8],
            "in": "expr",
            "text": "x*sofmax(x)",
        },
    }
    for args in (["--zzz", "-fjson"], ["--format=json", "-g", "q"], ["--format", "json", "y"]):
        result = gradcli("jacobian", "x*x", *args)
        assert (result.status, result.err, result.json["ok"]) == (2, "", False)
    assert gradcli("x*x", "-g", "q", "--format", "json").json["error"]["in"] == "grad"


def test_errors_in_a_terminal_end_lines_between_words():
    err = Terminal(True)
    streams = Streams(Input(b""), Terminal(), err, {"COLUMNS": "50", "NO_COLOR": "1"})
    assert run(["sofmax(x, dim=-1) + aaaaaaaaaaaaaa * bbbbbbbbbbbbbbbbbbbbbbb"], streams) == 2
    assert max(map(len, err.getvalue().splitlines())) <= 50
    cure = gradcli("sofmax(x, dim=-1)").err.splitlines()[-1].split()
    assert err.getvalue().split()[-len(cure) :] == cure


def test_interrupted(monkeypatch):
    def stop(*_args, **_named):
        raise KeyboardInterrupt

    monkeypatch.setattr("gradcli.request.pose", stop)
    result = gradcli("x*x")
    assert (result.status, result.out) == (130, "")
    assert "Traceback" not in result.err


def test_ctrl_c_in_an_import_is_no_traceback(tmp_path):
    (tmp_path / "numpy.py").write_text("print('here', flush=True)\nimport time; time.sleep(60)\n")
    command = "coproc $GRADCLI grad x*x -v x=1; read -u ${COPROC[0]}; kill -INT $COPROC_PID"
    result = shell(f"trap - INT; {command}; wait $COPROC_PID; exit $?", PYTHONPATH=str(tmp_path))
    assert (result.status, result.err) == (130, "")


@pytest.mark.parametrize(
    ("word", "cure"),
    [
        ("expln", "did you mean explain?"),
        ("raed", "did you mean read?"),
        ("softmax", "gradcli ops softmax shows softmax()"),
        ("softmx", "gradcli ops softmax shows softmax()"),
        ("foo", "gradcli explain foo"),
    ],
)
def test_a_word_alone_is_no_expression(word, cure):
    err = refused(word).err
    assert f"there is no command {word}\n" in err
    assert cure in err


def test_a_letter_and_what_has_a_shape_are_expressions():
    assert "x.grad = g" in answered("x").out
    assert "foo.grad = g" in answered("foo", "-s", "foo=3").out
    assert "foo.grad = g" in answered("explain", "foo").out


def test_a_seed_has_no_name():
    err = refused("x*a", "-v", "a=[1,2]", "-g", "a=1", code="value").err
    assert "a=1 assigns to a" in err
    assert "write 1; the value of an input is -v a=1" in err
    refused("x*a", "-v", "a=[1,2]", "-g", "out = 1", code="value")
    answered("x*a", "-v", "a=[1,2]", "-g", "b = 2 * a; b")


def test_what_numpy_warns_of_stays_inside():
    args = ("grad", "histc(x).sum() * y", "-v", "x=[1e308,-1e308]", "-v", "y=1")
    err = refused(*args, code="arguments").err
    assert "too far apart" in err
    assert process(*args).err == err


@pytest.mark.parametrize(
    ("request_", "place"),
    [
        ({"expr": "x\t*\tsofmax(x)"}, "sofmax"),
        ({"expr": "\ufeff\n\n   y = x\t+ 1\r\n   y * sofmax(y)"}, "sofmax"),
        ({"expr": "x", "values": {"x": "\t[1,\tq]"}}, "q"),
        ({"expr": "x*x", "grad": "\tsofmax(x)"}, "sofmax"),
    ],
)
def test_a_span_counts_the_characters_that_were_typed(request_, place):
    (answer,) = package.batch([request_])
    text = request_
    for key in answer["error"].get("in", "expr").split("."):
        text = text[key]
    assert text[slice(*answer["error"]["span"])] == place


@pytest.mark.parametrize(
    "args",
    [
        ("jvp", "inv(X)"),
        ("jvp", "inv(X)", "-f", "json"),
        ("jvp", "inv(X)", "-f", "markdown"),
        ("hessian", "(X @ X).sum()", "-s", "X=2x2"),
        ("jacobian", "kron(X, X)", "-s", "X=2x2", "-f", "markdown"),
        ("explain", "α * β + é", "--full"),
        ("explain", "α * β + é", "-f", "json"),
        ("graph", "α + 1", "-f", "dot"),
        ("check", "x @ a", "--claim", "x = g @ aᵀ"),
        ("check", "x @ a", "--claim", "x = g @ a"),
        ("seed-for", "x * x", "-v", "x=[1,0]", "--target", "x=[1,2]"),
        ("ops", "logdet"),
        ("sofmax(x)…", "--debug"),
    ],
)
def test_nothing_but_ascii_and_no_escapes(args):
    result = gradcli(*args, "--ascii")
    shown = result.out + result.err
    assert shown
    assert shown.isascii()
    assert not re.search(r"\\[uUx][0-9a-f]{2}", shown)


def test_a_notebook_prints_text(monkeypatch, capsys):
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    print(package.explain("x.sum()", shapes={"x": (2,)}))
    assert "x.grad = " in capsys.readouterr().out


# ---- pipes and terminals -------------------------------------------------------------------------


@pytest.mark.parametrize("args", [SQUARE, FLAGSHIP, NETWORK, ("softmax(x, dim=-1)", "-s", "x=2x3")])
def test_a_pipe_gets_plain_text_of_80_columns(args):
    result = answered(*args)
    assert "\x1b" not in result.out
    assert all(len(line) <= 80 for line in result.lines)
    assert not any(line != line.rstrip() for line in result.lines)


def test_a_terminal_gets_colours():
    shown = answered(*SQUARE, terminal=True, TERM="xterm", COLUMNS="80").out
    assert "\x1b[" in shown
    assert ESCAPE.sub("", shown) == answered(*SQUARE).out


def test_a_note_is_plain_behind_its_bold_name():
    args = ("explain", "relu(x)", "-v", "x=[0.0,1.0]", "--show", "notes", "--color", "always")
    shown = answered(*args, "-f", "terminal", "--width", "200").out
    assert re.search(r"\x1b\[1mkink +\x1b\[0mx\[0\] is exactly 0", shown)


@pytest.mark.parametrize(
    ("args", "terminal", "variables", "colored"),
    [
        ((), True, {}, True),
        ((), False, {}, False),
        ((), True, {"NO_COLOR": "1"}, False),
        ((), True, {"NO_COLOR": ""}, True),
        ((), True, {"TERM": "dumb"}, False),
        ((), False, {"FORCE_COLOR": "1"}, True),
        ((), False, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (("--color", "always"), False, {}, True),
        (("--color", "always"), False, {"NO_COLOR": "1"}, True),
        (("--color", "never"), True, {"FORCE_COLOR": "1"}, False),
        (("--color", "auto"), True, {}, True),
    ],
)
def test_colour(args, terminal, variables, colored):
    out = answered(*SQUARE, *args, terminal=terminal, **variables).out
    assert ("\x1b[" in out) == colored


@pytest.mark.parametrize(
    ("args", "variables", "colored"),
    [
        ((), {}, False),
        ((), {"FORCE_COLOR": "1"}, True),
        ((), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (("--color", "always"), {}, True),
        (("--color=always",), {"NO_COLOR": "1"}, True),
        (("--color", "never"), {"FORCE_COLOR": "1"}, False),
        (("--color", "always", "--color", "never"), {}, False),
    ],
)
def test_errors_have_colour(args, variables, colored):
    err = gradcli("x@", *args, **variables).err
    assert err.startswith(
        "\x1b[1;38;5;131merror[syntax]:\x1b[0m " if colored else "error[syntax]: "
    )


@pytest.mark.sweep
@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize(
    "args",
    [
        SQUARE,
        FLAGSHIP,
        NETWORK,
        ("softmax(x, dim=-1)", "-s", "x=2x3"),
        ("x @ y", "-v", "x=randn(20, 20)", "-v", "y=randn(20, 20)"),
        ("cross_entropy(x, y)", "-v", "x=[[1,2,3],[1,1,1]]", "-v", "y=[2,0]"),
    ],
    ids=["square", "flagship", "network", "softmax", "large", "loss"],
)
def test_no_line_is_wider_than_the_terminal(args, width):
    shown = answered(*args, terminal=True, COLUMNS=str(width)).out
    lines = ESCAPE.sub("", shown).splitlines()
    assert max(map(len, lines)) <= width
    assert (
        answered(*args, "--width", str(width)).lines
        == answered(*args, "-f", "plain", terminal=True, COLUMNS=str(width), NO_COLOR="1").lines
    )


@pytest.mark.parametrize("variables", [{"LANG": "C"}, {"LC_ALL": "C"}, {"LC_ALL": "POSIX"}])
@pytest.mark.parametrize("args", [SQUARE, FLAGSHIP, NETWORK, ("softmax(x, dim=-1)", "-s", "x=2x3")])
def test_only_ascii_in_the_c_locale(args, variables):
    assert answered(*args, **variables).out.isascii()


def test_ascii():
    assert answered(*SQUARE, "--ascii").out == answered(*SQUARE, LANG="C").out
    assert answered(*FLAGSHIP, "--ascii").out.isascii()
    assert answered("graph", "x*y", "--ascii").out.isascii()
    assert answered("ops", "--ascii").out.isascii()
    assert package.explain("α").to(full=True).splitlines()[0] == "α.grad = g"
    assert gradcli("é*", LANG="C").err.isascii()
    assert not answered(*SQUARE, LANG="C", LC_ALL="en_US.UTF-8").out.isascii()


CLOSED_OUT = "standard output cannot be written: it is closed"
CLOSED_IN = "standard input cannot be read: it is closed"
FULL = "cannot be written: No space left on device"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("$GRADCLI grad 'x*x' -v x=2. >&-", CLOSED_OUT),
        ("echo '{}' | $GRADCLI batch - >&-", CLOSED_OUT),
        ("$GRADCLI --help >&-", CLOSED_OUT),
        ("$GRADCLI explain --help >&-", CLOSED_OUT),
        ("$GRADCLI --version >&-", CLOSED_OUT),
        ("$GRADCLI grad - <&-", CLOSED_IN),
        ("$GRADCLI grad 'x*x' -v x=@- <&-", CLOSED_IN),
        ("$GRADCLI batch - <&-", CLOSED_IN),
        ("$GRADCLI grad 'x*x' -v x=2. >/dev/full", f"standard output {FULL}"),
        ("$GRADCLI --help >/dev/full", f"standard output {FULL}"),
        ("echo '{}' | $GRADCLI batch - >/dev/full", f"standard output {FULL}"),
        ("echo '{}' | $GRADCLI batch - -o /dev/full", f"/dev/full {FULL}"),
    ],
)
def test_streams_that_take_or_give_nothing(command, said):
    done = shell(command)
    assert (done.status, done.out, done.err) == (2, "", f"error[file]: {said}\n")


def test_messages_that_nobody_can_read():
    for command in ("grad 'x*' -v x=2. 2>&-", "grad 'x*' -v x=2. 2>/dev/full"):
        assert shell(f"$GRADCLI {command}") == (2, "", "")
    assert shell("$GRADCLI grad 'x*x' -v x=2. 2>&- <&-") == (0, "4.0\n", "")
    for lost in ("2>&-", "2>/dev/full"):
        command = f"f=$(mktemp); $GRADCLI grad 'x*x' -v x=2. -o $f {lost}; cat $f; rm $f"
        assert shell(command) == (0, "4.0\n", "")


def test_a_closed_pipe_ends_quietly():
    for command in (
        "$GRADCLI 'a*a' -v 'a=[[1,2,3],[4,5,6]]' -g a | head -3",
        "$GRADCLI 'x*2' -v 'x=randn(7,7)' --full | head -1",
        "$GRADCLI grad '(x*2).sum()' -v 'x=randn(300,300)' | head -c 10",
        'yes \'{"expr": "x*x", "values": {"x": 3}}\' | head -2000 | $GRADCLI batch - | head -2',
        "$GRADCLI ops | head -1",
    ):
        result = shell(command)
        assert not result.err
        assert result.status in ((0, 141) if command.startswith("yes") else (0,))
        assert result.out


def test_the_line_of_the_interface_with_jq():
    command = '$GRADCLI grad "a*a" -v "a=[[1,2,3],[4,5,6]]" -g a | (jq -c . || cat)'
    result = shell(command)
    assert json.loads(result.out) == [[2, 8, 18], [32, 50, 72]]


def test_a_process_of_its_own():
    assert process("grad", "-", "-v", "x=3", stdin="x*x").out == "6.0\n"
    failed = process("grad", "x +")
    assert (failed.status, failed.out) == (2, "")
    assert failed.err.startswith("error[syntax]")
    assert process("a*a", "-s", "a=2", LC_ALL="C", PYTHONUTF8="0").out.isascii()


# ---- a Jacobian too large to be shown ------------------------------------------------------------

KRONECKER = ("jacobian", "x @ a", "-s", "x=4x4,a=4x4", "-w", "x")


def test_a_large_jacobian_is_drawn():
    out = gradcli(*KRONECKER).out
    assert "  ████············\n  ████············\n  ····████········\n" in out
    assert "A cell is 2×2 entries: · all zero, █ none zero." in out
    assert "∂out[i,j] / ∂x[k,l] = δ[i,k] a[l,j]" in out


def test_in_ascii_and_in_markdown():
    assert "  ####............\n" in gradcli(*KRONECKER, "--ascii").out
    assert "\n```text\n████············\n" in gradcli(*KRONECKER, "-f", "markdown").out


def test_a_band_and_a_triangle():
    out = gradcli("jacobian", "x[1:] - x[:-1]", "-v", "x=arange(15) * 1.0").out
    assert "banded: 28 of its 210" in out
    assert "▒" in out
    out = gradcli("jacobian", "x.cumsum(0)", "-s", "x=20").out
    assert "tril(ones(x.shape[0], x.shape[0]))" in out


def test_what_goes_round_is_counted():
    assert "x.grad[1,0] = g[0,0]" in gradcli("jacobian", "x.roll(1, 0)", "-s", "x=2x2").out


def test_what_is_shown_whole_or_holds_no_zero_is_not_drawn():
    assert "A cell is" not in gradcli("jacobian", "x @ a", "-s", "x=2x3,a=3x4", "-w", "x").out
    assert "A cell is" not in gradcli("jacobian", "A @ x", "-s", "A=20x3", "-w", "x").out
    assert "A cell is" not in gradcli(*KRONECKER, "--full").out


def test_a_claim_about_labels_that_nobody_gave():
    """The best-known gradient of all: softmax less the labels, divided by their number."""
    to_z = "z = (softmax(z, 1) - one_hot(t, z.shape[1])) / t.shape[0]"
    found = gradcli("check", "cross_entropy(z, t)", "--claim", to_z)
    assert found.status == 0
    assert "✓ right" in found.out
    assert gradcli("check", "cross_entropy(z, t)", "--claim", to_z[:-13]).status == 1


# ---- golden output -------------------------------------------------------------------------------

PAGES = {
    "square": SQUARE,
    "flagship": (*FLAGSHIP, "-w", "x"),
    "network": NETWORK,
    "softmax": ("softmax(x, dim=-1)", "-s", "x=2x3"),
    "refused-seed": ("a*a", "-v", "a=[1,2,3]"),
    "cross-entropy": ("cross_entropy(x, y)", "-v", "x=[[1,2,3],[1,1,1]]", "-v", "y=[2,0]"),
}


@pytest.mark.parametrize("name", PAGES)
def test_golden(name, request):
    file = GOLDEN / f"{name}.txt"
    # how far finite differences miss is the machine's, not gradcli's
    misses = r"(exact|\d+e-\d\d at most, at \S+?)(?=[;\n])"
    out = re.sub(misses, "… at most", answered(*PAGES[name]).out)
    if request.config.getoption("--rewrite-golden"):
        GOLDEN.mkdir(exist_ok=True)
        file.write_text(out, "utf-8")
    assert out == file.read_text("utf-8")


@pytest.mark.parametrize(
    "expr", ["cholesky(A)", "log(det(A))", "logdet(A).exp()", "log(x - y)", "log(-x)"]
)
def test_a_check_finds_values_of_its_own(expr):
    """No one gave a value: what is drawn must be in the domain, or nothing is checked."""
    shapes = {"A": "3x3", "x": "3", "y": "3"}
    given = ",".join(f"{name}={s}" for name, s in shapes.items() if re.search(rf"\b{name}\b", expr))
    outcomes = json.loads(gradcli("check", expr, "-s", given, "-f", "json").out)["checks"]
    assert [c["ok"] for c in outcomes] == [True, True]


def test_a_check_that_finds_no_values_says_that_it_tried():
    """-A * A has a diagonal below 0 for every A."""
    assert "random values were tried" in gradcli("check", "cholesky(-A * A)", "-s", "A=2x2").err


@pytest.mark.sweep
def test_a_formula_that_is_too_long_is_said_to_be():
    """A sum of more terms than anybody reads."""
    steps = "; ".join(f"h{k} = sin(h{k - 1}) * x" for k in range(1, 105))
    asked = f"h0 = x; {steps}; h104", "-v", "x=[1.0, 2.0]"
    said = "note: the formula of x.grad is too long to be read.\n"
    unread = "x.grad = (no readable formula)\n"
    for format, text in (("json", '{"x": null}\n'), ("plain", unread)):
        found = gradcli("formula", *asked, "-f", format)
        assert found.out.endswith(text)
        assert said in found.err
    explained = json.loads(gradcli(*asked, "-f", "json").out)
    assert explained["grad"]["x"]["formula"] is None
    assert "no-formula" in [note["code"] for note in explained["notes"]]
    with pytest.warns(UserWarning, match="too long"):
        assert package.formula(asked[0], values={"x": [1.0, 2.0]}) is None


@pytest.mark.parametrize(
    ("expr", "others", "is_said"),
    [("e ** x", [], True), ("e**-(x**2) / 2", [], True), ("e ** x", ["-v", "e=2."], False),
     ("x ** e", [], False), ("e * x", [], False), ("e = exp(x); e ** x", [], False)],
)  # fmt: skip
def test_e_is_an_input(expr, others, is_said):
    assert ("e-is-an-input" in gradcli(expr, *others).out) == is_said


@pytest.mark.parametrize(
    ("expr", "other"),
    [("sum(x)", True), ("sum (2 * x)", True), ("h = sum(x); h * h", True), ("x.sum()", False),
     ("torch.sum(x)", False), ("sum(x, dim=1)", False), ("sum(x[0])", False)],
)  # fmt: skip
def test_a_sum_that_means_something_else_to_python(expr, other):
    """In Python sum(x) of a 2x3 tensor has shape (3,), and sum(x[0]) is the sum of a row."""
    assert ("python-sum" in gradcli(expr, "-s", "x=2x3").out) == other


@pytest.mark.oracle
@pytest.mark.parametrize("loss", ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"])
def test_losses_of_other_shapes_that_pytorch_warns_of(loss):
    torch = pytest.importorskip("torch")
    with pytest.warns(UserWarning, match="Using a target size"):
        getattr(torch.nn.functional, loss)(torch.ones(3, 1), torch.zeros(3))
    found = gradcli(f"{loss}(x, y)", "-s", "x=3x1,y=3").out
    assert "broadcast-loss" in found
    assert "broadcast to (3, 3)" in found
    assert "broadcast-loss" not in gradcli(f"{loss}(x, y)", "-s", "x=3,y=3").out
