"""Formulas as LaTeX and MathML: as papers write them, and accepted by those who read them."""

import ast
import itertools
import re
import subprocess
import xml.etree.ElementTree as ET
from html import unescape

import pytest
from console import gradcli
from corpus import ALL
from latex_tools import PDFLATEX, SLIDES, checked, compiled, formulas_in, readers
from support import Example, explained, first_examples, one_in, swept

from gradcli.explanation import replies
from gradcli.explanation.blocks import (
    EQUALS,
    ZERO,
    Answer,
    Code,
    Document,
    Formula,
    Graph,
    GraphNode,
    Matrix,
    Note,
    Picture,
    Prose,
    Row,
    Section,
    Step,
    Table,
    Tensor,
    element,
    plain,
    verbatim,
    words,
)
from gradcli.explanation.blocks import Block as AnyBlock
from gradcli.explanation.choices import Choices
from gradcli.notation.formulas.spelling import read
from gradcli.notation.tree import (
    Between,
    Call,
    Condition,
    Derivative,
    Indexed,
    Infix,
    LeftOut,
    Multiples,
    Name,
    Number,
    Quotient,
    Sum,
    Tree,
    Verbatim,
)
from gradcli.notation.typeset.latex import latex, latex_lines
from gradcli.notation.typeset.mathml import mathml
from gradcli.render.environment import Environment
from gradcli.render.formats import render, render_documents
from gradcli.render.names import FORMATS

NETWORK = "h = relu(x @ W1 + b1); loss = cross_entropy(h @ W2, y) + lam * (W1 ** 2).sum()"
SHAPES = "x=4x3,W1=3x5,b1=5,W2=5x2,y=4,lam=()"


# ---- as papers write -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("x.T @ g", r"x^{\top} g"),
        ("(a * b) @ c.T", r"(a \odot b) c^{\top}"),
        ("2 * g * a", r"2 g \odot a"),
        ("a * b / 4", r"\frac{a \odot b}{4}"),
        ("g * (h > 0)", r"g \odot \mathbf{1}[h > 0]"),
        ("(a > 0) & ~(b <= 1)", r"\mathbf{1}[a > 0 \land \lnot (b \le 1)]"),
        ("outer(u, v)", r"u v^{\top}"),
        ("inv(S)", "S^{-1}"),
        ("inv(S).T", r"S^{-\top}"),
        ("inv(S.T)", r"(S^{\top})^{-1}"),
        ("(A @ B).T", r"(A B)^{\top}"),
        ("A @ (B + C)", "A (B + C)"),
        ("W1", "W_1"),
        ("x_hat", r"x_{\text{hat}}"),
        ("lam * 2", r"\lambda \cdot 2"),
        ("Δt_max", r"\mathit{\Delta t}_{\text{max}}"),
        ("xλ2", r"\mathit{x\lambda}_2"),
        ("λμ", r"\mathit{\lambda\mu}"),
        ("-inf", r"-\infty"),
        ("qr(x, full_q=True)", r"\operatorname{qr}(x, \text{full}\_\text{q} = \text{True})"),
        ("h.grad", r"\frac{\partial L}{\partial h}"),
        ("logits", r"\mathit{logits}"),
        ("x ** 2", "x^2"),
        ("(-x) ** 2", "(-x)^2"),
        ("x[0, 1] ** 2", "x_{01}^2"),
        ("W1[0, 10]", "{W_1}_{0, 10}"),
        ("exp(-x)", "e^{-x}"),
        ("sqrt(x)", r"\sqrt{x}"),
        ("abs(x)", r"\left\lvert x \right\rvert"),
        ("where(x > 0, g, 0)", r"\mathbf{1}[x > 0] \odot g"),
        (
            "where(x > 0, a, b)",
            r"\begin{cases} a & \text{if}~x > 0 \\ b & \text{otherwise} \end{cases}",
        ),
        ("a - (b - c)", "a - (b - c)"),
        ("a + -b", "a + (-b)"),
        ("a @ -b", "a (-b)"),
        ("1e-05 * x", "10^{-5} x"),
        ("2.5e-10 * x", r"2.5 \cdot 10^{-10} x"),
        ("softmax(z, dim=1)", r"\operatorname{softmax}_1(z)"),
        ("kron(A, B)", r"A \otimes B"),
        ("sin(a / b)", r"\sin\left(\frac{a}{b}\right)"),
    ],
)  # fmt: skip
def test_as_papers_write(formula, expected):
    assert latex(read(formula)) == expected


i, k, x, y = map(Name, "ikxy")


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        (Indexed(x, (i, k)), "x_{ik}"),
        (Indexed(Name("W1"), (i, k)), "{W_1}_{ik}"),
        (Indexed(x, (Multiples(((i, 1), (k, -1)), 0), k)), "x_{i - k, k}"),
        (Indexed(x, (Indexed(y, (i,)), k)), "x_{y_i, k}"),
        (Quotient(i, 3, 4), r"\left\lfloor \frac{i}{3} \right\rfloor \bmod 4"),
        (Sum(("j",), Infix(" ", x, y)), r"\sum_j x y"),
        (Condition(Infix(">=", i, Number(1))), r"\mathbf{1}[i \ge 1]"),
        (Condition(Between(0, i, 2)), r"\mathbf{1}[0 \le i < 2]"),
        (Infix("/", Name("∂out"), Name("∂x")), r"\frac{\partial \mathit{out}}{\partial x}"),
        (Derivative(y, (Indexed(x, (i,)), x)), r"\frac{\partial^2 y}{\partial x_i \partial x}"),
        (Infix("·", Verbatim("(-2)"), Verbatim("0.5")), r"(-2) \cdot 0.5"),
        (Infix("+", x, LeftOut(24)), r"x + \cdots~\text{(24 terms)}"),
        (Infix("*", x, y, (0, 2)), "x y"),
        (Infix("*", x, y, (1, 2)), r"x \odot y"),
        (Infix("@", x, y, (1, 1)), r"x^{\top} y"),
        (Verbatim("[[1, 2], [3, 4]]"), r"\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}"),
        (
            read("stack([stack([x, tensor(0.0)]), tensor([1.0, 0.0])])"),
            r"\begin{bmatrix} x & 0 \\ 1 & 0 \end{bmatrix}",
        ),
        (read("2 * stack([y, -x])"), r"2 \begin{bmatrix} y \\ -x \end{bmatrix}"),
        (Verbatim("'a_b$'"), r"\text{'a}\_\text{b}\$\text{'}"),
    ],
)
def test_indices_and_conditions(formula, expected):
    assert latex(formula) == expected


def test_wide_matrices_need_no_preamble():
    made = latex(Verbatim(str([list(range(12))])))
    assert made.startswith(r"\left[\begin{array}{cccccccccccc} 0 & 1")


def test_mathml_keeps_roles_and_escapes():
    made = mathml(Infix("<", Name("g", "seed"), Call("f", (Name("W1", "input:W1"),))))
    element = ET.fromstring(made)
    roles = [e.get("data-role") for e in element.iter() if e.get("data-role")]
    assert roles == ["seed", "input:W1"]


@pytest.mark.parametrize(("formula", "forms"), [
    (Infix("*", Number(-2.5), x), [None]),
    (Infix("+", Infix("*", x, Number(-2.5)), x), ["prefix"]),
    (Infix("-", x, Number(2.5)), [None]),
])  # fmt: skip
def test_a_minus_after_a_sign_belongs_to_its_number(formula, forms):
    """MathML takes a minus that is not the first of its row for a difference."""
    element = ET.fromstring(mathml(formula))
    assert [e.get("form") for e in element.iter() if e.text == "−"] == forms


def test_deep_formulas_are_cut():
    chain, shared = x, x
    for _ in range(10_000):
        chain = Call("sin", (chain,))
    for _ in range(200):
        shared = Infix("*", shared, shared)
    for formula in (chain, shared):
        assert latex(formula).startswith(r"\text{")
        ET.fromstring(mathml(formula))


# ---- the commands --------------------------------------------------------------------------------


def test_formula():
    found = gradcli("formula", NETWORK, "-s", SHAPES, "-f", "latex").lines
    assert found[0] == f"% gradcli formula '{NETWORK}' -s '{SHAPES}' -f latex"
    assert (found[1], found[-1]) == (r"\begin{align*}", r"\end{align*}")
    assert found[2] == r"z &= x W_1 + b_1 \\"
    assert (
        r"\frac{\partial L}{\partial W_2} &= h^{\top} \frac{\partial L}{\partial \mathit{logits}}"
        not in found
    )
    assert r"\frac{\partial L}{\partial \lambda} &= \operatorname{sum}(W_1^2) \\" in found
    assert r"\frac{\partial L}{\partial x} &= \frac{\partial L}{\partial z} W_1^{\top} \\" in found
    assert not any("textcolor" in line for line in found)


def test_one_formula_has_its_name():
    found = gradcli("formula", "a * a", "-s", "a=2x3", "-f", "latex").lines
    assert found[2] == r"\frac{\partial L}{\partial a} &= 2 g \odot a"


def test_pages():
    section = gradcli(NETWORK, "-s", SHAPES, "-f", "latex").out
    assert section.split("\n")[1] == r"\section*{Explanation}"
    assert "documentclass" not in section
    alone = gradcli(NETWORK, "-s", SHAPES, "-f", "latex", "--standalone").out
    assert alone.startswith(f"% gradcli '{NETWORK}' -s '{SHAPES}' --standalone -f latex\n")
    assert r"\documentclass{article}" in alone
    slides = gradcli(NETWORK, "-s", SHAPES, "-f", "latex", "--overlay").out
    assert r"\documentclass{beamer}" in slides
    assert r"\uncover<+->" in slides


@pytest.mark.parametrize("option", ["--standalone", "--overlay"])
def test_pages_are_latex(option):
    result = gradcli("a * a", option)
    assert result.status == 2
    assert f"{option} is for -f latex" in result.err


def test_what_is_typed_is_no_command():
    found = gradcli("x_ * 2", "-s", "x_=2", "-f", "latex", "--full").out
    assert r"x\_" in found


# ---- the corpus ----------------------------------------------------------------------------------


def shown(example: Example) -> list[str]:
    """The formulas of an example in LaTeX, in all that is said of it."""
    answer = replies.explanation(explained(example), Choices(full=True))
    return formulas_in(render(answer, "latex", Environment()))


def forms(text: str) -> list[Tree]:
    """The formulas of some statements."""
    values = (s.value for s in ast.parse(text).body if isinstance(s, ast.Assign | ast.Expr))
    return [read(ast.unparse(value)) for value in values]


def test_no_display_is_longer_than_mathjax_takes():
    """Its maxBuffer is 5 * 1024 characters, with what the commands stand for."""
    given = ["group_norm(x, 2, w, b)", "-s", "x=1x4x2,w=4,b=4", "--full", "-f", "latex"]
    shown = formulas_in(gradcli(*given).out)
    assert sum(map(len, shown)) > 5120 > max(map(len, shown))


@readers
@pytest.mark.parametrize("example", swept(12, others=16, firsts=6))
def test_formulas_of_examples_are_read(reader, example):
    assert checked(reader, shown(example)) == []


@readers
def test_a_picture_of_a_jacobian_is_read(reader):
    made = gradcli("jacobian", "x.flip(0)*x", "-s", "x=60", "-f", "latex").out
    assert "smallmatrix" in made
    assert checked(reader, formulas_in(made)) == []


@readers
@pytest.mark.parametrize("part", one_in(8, range(8)))
def test_identities_are_read(reader, part):
    written = [latex(form) for identity in ALL[part::8] for form in forms(identity.form)]
    assert checked(reader, written) == []


def test_mathml_of_identities_is_xml():
    for identity in ALL:
        for form in forms(identity.form):
            ET.fromstring(mathml(form))


@pytest.mark.sweep
@pytest.mark.skipif(not PDFLATEX, reason="needs pdflatex")
def test_latex_compiles_examples(tmp_path):
    found = [f for example in first_examples()[::8] for f in shown(example)]
    made = [f if f.startswith("\\begin{align*}") else f"\\[ {f} \\]" for f in found]
    assert compiled("\n\n".join(made), tmp_path) == []


@pytest.mark.sweep
@pytest.mark.skipif(not PDFLATEX, reason="needs pdflatex")
@pytest.mark.parametrize("more", [(), ("--full",)])
def test_documents_compile(more, tmp_path):
    made = gradcli(NETWORK, "-s", SHAPES, "-f", "latex", "--standalone", *more).out
    assert compiled(made, tmp_path) == []


# ---- every block in every format -----------------------------------------------------------------

LINE = (Formula(Name("alpha1")), EQUALS, Formula(Infix("+", Name("beta2"), Number(7))))
TEXT = words("gamma3 _is_ ", Formula(Name("delta4", "seed")), " & so on")
ROW = Row((LINE, plain("2×3"), Tensor([1.5, 2.5], "answer")))
NODES = GraphNode(plain("zeta6"), ()), GraphNode(plain("eta7"), (0,))
BLOCKS: dict[type, tuple[AnyBlock, tuple[str, ...]]] = {
    Table: (Table((ROW, Row((TEXT,), 1))), ("alpha", "gamma3", "1.5")),
    Matrix: (
        Matrix(Formula(Name("g")), (verbatim("11"), verbatim("12")),
               (element(Name("out"), (0,)), element(Name("out"), (1,))),
               (element(Name("x"), (0,)),),
               ((verbatim("13"),), (ZERO,)), Formula(Name("x.grad")), (verbatim("14"),),
               Formula(Infix("·", Name("g"), Name("J"))), (2, 3), (1, 0), "input:x"),
        ("11", "12", "13", "14", "3 rows"),
    ),
    Picture: (Picture(((0, 1), (2, 0)), legend=words("omicron12")), ("omicron12",)),
    Prose: (Prose(TEXT), ("gamma3", "delta")),
    Step: (Step(17, TEXT, words("epsilon5"), Tensor([3.25]), (ROW,)), ("17", "epsilon5", "3.25")),
    Graph: (Graph(NODES), ("zeta6", "eta7")),
    Note: (Note("kink", TEXT), ("kink", "gamma3")),
    Code: (Code("theta8 = 1  # $x_1$", "python"), ("theta8 = 1",)),
}  # fmt: skip


def test_all_blocks_are_there():
    assert set(BLOCKS) == set(AnyBlock.__args__)


@pytest.mark.parametrize("format", [name for name in FORMATS if name != "json"])
@pytest.mark.parametrize("page", ["", "standalone", "overlay"])
@pytest.mark.parametrize("kind", BLOCKS, ids=lambda kind: kind.__name__)
def test_every_block_in_every_format(kind, format, page):
    block, said = BLOCKS[kind]
    section = Section("notes", words("iota9"), plain("kappa10"), (block,))
    answers = (Answer(LINE[:1], Tensor([4.5]), LINE[2:], words("lambda11")),)
    document = Document(answers, (section,), (), "gradcli mu12", "nu13")
    made = render_documents([document], format, Environment(page=page))
    spread = re.sub(r"[\\{}_]", "", made.replace("<", "").replace("&#", ""))
    spread += unescape(re.sub(r"<[^>]+>", "", made)).replace("\xa0", " ")
    assert [
        word for word in (*said, "iota9", "4.5") if word not in spread and word not in made
    ] == []


# ---- pages of their own --------------------------------------------------------------------------

LONG = ("a*b*c + a**2*b + sin(a)*cos(b)*c - exp(a*b) + tanh(c)*a*b - log(a)*c*b + sin(c)*cos(a)",
        "-s", "a=2,b=2,c=2")  # fmt: skip


def test_long_sums_go_on_in_the_next_line_of_a_page():
    pasted = gradcli("formula", *LONG, "-f", "latex").out
    alone = gradcli("formula", *LONG, "-f", "latex", "--standalone").out
    assert r"\quad {} " not in pasted
    assert re.search(r"(?m)^ &\\quad \{\} [+-] ", alone)
    joined = re.sub(r" \\\\\n &\\quad \{\} ", " ", alone)
    equations = re.search(r"(?s)\\begin\{align\*\}.*\\end\{align\*\}", joined)
    assert equations[0] in pasted.replace("  ", " ")


@pytest.mark.sweep
@pytest.mark.skipif(PDFLATEX is None, reason="pdflatex is not installed")
@pytest.mark.parametrize(
    "asked",
    [("naïve * ß", "-s", "naïve=2,ß=2"), LONG, ("linalg.svd(A).S", "-s", "A=12x12", "--full")],
    ids=["letters", "long", "svd"],
)
def test_pages_of_their_own_are_compiled_with_amsmath_alone(asked, tmp_path):
    file = tmp_path / "page.tex"
    file.write_text(gradcli("explain", *asked, "-f", "latex", "--standalone").out, "utf-8")
    run = subprocess.run(
        [PDFLATEX, "-interaction=nonstopmode", "-halt-on-error", file.name],
        cwd=tmp_path, capture_output=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout.decode("latin-1")[-600:]
    assert "amssymb" not in file.read_text("utf-8")


WIDE = {
    "picture": ("jacobian", "x.flip(0)*x", "-s", "x=60"),
    "entries": ("jacobian", "tanh(x*w+b)*sin(x)", "-s", "x=4"),
    "columns": ("jacobian", "x@w", "-v", "x=randn(3,4)", "-s", "w=4x3", "--full"),
    "hessian": ("hessian", "(softmax(x,0)*y).sum()", "-s", "x=3"),
    "softmax": ("explain", "softmax(x @ W + b, dim=1)", "-s", "x=2x3,W=3x4", "--full"),
    "tensors": ("explain", "(x@W).relu()", "-v", "x=randn(20,30)", "-v", "W=randn(30,20)"),
    "names": (
        "explain", "layer_norm(hidden_states + attention_output, (4,), gamma_weight, beta_bias)",
        "-s", "hidden_states=2x4,attention_output=2x4", "--full",
    ),
    "losses": (
        "explain", "kl_div(log_softmax(input_logits,1),target_probabilities,reduction='batchmean')",
        "-s", "input_logits=2x3,target_probabilities=2x3", "--full",
    ),
    "groups": (
        "explain", "group_norm(feature_maps, 2, channel_weight, channel_bias)",
        "-s", "feature_maps=2x4x2", "--full",
    ),
    "operators": ("ops", "losses"),
    "why": ("why", "grad can be implicitly created only for scalar outputs"),
}  # fmt: skip


@pytest.mark.sweep
@pytest.mark.skipif(not SLIDES, reason="needs pdflatex with beamer")
@pytest.mark.parametrize(
    ("asked", "page"), [*zip(WIDE, itertools.cycle(["--standalone", "--overlay"]))]
)
def test_pages_of_their_own_are_wide_enough(asked, page, tmp_path):
    text = gradcli(*WIDE[asked], "-f", "latex", page).out
    assert compiled(text, tmp_path) == []
    log = (tmp_path / "page.log").read_text("latin-1")
    assert re.findall(r"Overfull \\hbox \((\d\d+)", log) == []


def test_long_entries_of_a_matrix_have_names():
    """`J` is an input's here, so that the entries are called K."""
    arguments = ("-s", "J=4", "-w", "J", "-f", "latex", "--full")
    shown = gradcli("jacobian", "tanh(J*w+b)*sin(J)", *arguments).out
    (matrix,) = re.findall(r"(?s)\\hline(.*?)\\end\{array\}", shown)
    assert re.findall(r"K_\d", matrix) == ["K_1", "K_2", "K_3", "K_4"]
    entry = r"\tanh(J_0 \cdot w_0 + b_0) \cdot (\cos(J_0) - w_0 \cdot \mathit{out}_0)"
    assert rf"K_1 &= {entry} + w_0 \cdot \sin(J_0)" in shown


def test_lines_that_go_on_begin_with_a_sign():
    text = "a1 * (b1 + c1) * (d1 + e1) * (f1 + g1)"
    assert latex_lines(read(text), 17) == [
        r"a_1 \odot (b_1 + c_1)",
        r"\odot (d_1 + e_1)",
        r"\odot (f_1 + g_1)",
    ]
    assert latex_lines(read("(aa + bb) / (cc + dd)"), 100) == [
        r"\frac{\mathit{aa} + \mathit{bb}}{\mathit{cc} + \mathit{dd}}"
    ]
    assert latex_lines(read("where(aaaaaaaa > 0, bbbbbbbb, cccccccc)"), 20) == [
        r"\operatorname{where}(\mathit{aaaaaaaa} > 0,",
        r"\mathit{bbbbbbbb}, \mathit{cccccccc})",
    ]
    assert latex_lines(read("sqrt(aa + bb + cc + dd)"), 10) == [
        r"\operatorname{sqrt}(\mathit{aa}",
        r"+ \mathit{bb} + \mathit{cc}",
        r"+ \mathit{dd})",
    ]


def test_several_programs_make_one_document(tmp_path):
    page = "```python\nimport torch\nprint(1)\n```\n\n```python\nimport torch\nprint(2)\n```\n"
    text = gradcli("read", "-", "-f", "latex", "--standalone", stdin=page).out
    assert text.count("\\documentclass") == text.count("\\end{document}") == 1


def test_results_of_decompositions_stand_below_their_names():
    assert latex(read("linalg.svd(A, full_matrices=False).U")) == r"\operatorname{svd}_U(A)"
    assert latex(read("x.sort(dim=1).indices")) == r"\operatorname{sort}_{1, \text{indices}}(x)"
