"""The page: read by a standard parser, and by a browser where there is one."""

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import html5lib
import numpy as np
import pytest
from colours import contrast
from console import gradcli

from gradcli.explanation.blocks import (
    UNWRITTEN,
    ZERO,
    Block,
    Code,
    Document,
    Formula,
    Graph,
    GraphNode,
    Matrix,
    Note,
    Pass,
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
from gradcli.notation.tree import Attribute, Infix, Name
from gradcli.render.drawn_graph import drawn_graph
from gradcli.render.environment import Environment
from gradcli.render.formats import render_documents
from gradcli.render.layers import HEIGHT, layout

SQUARE = ("a*a", "-v", "a=[[1,2,3],[4,5,6]]", "-g", "a")
FLAGSHIP = ("x@a", "--grad", "[[1,2,3,4],[5,6,7,8]]")
LAYER = ("h = relu(x @ W + b); (h * h).sum()", "-s", "x=2x3,W=3x2")
HTML = "{http://www.w3.org/1999/xhtml}"
MATH = "{http://www.w3.org/1998/Math/MathML}"
CORE = {  # elements of MathML Core
    "math", "mrow", "mi", "mn", "mo", "mtext", "ms", "mspace", "mfrac", "msqrt", "mroot", "mstyle",
    "merror", "mpadded", "mphantom", "msub", "msup", "msubsup", "munder", "mover", "munderover",
    "mmultiscripts", "mprescripts", "mtable", "mtr", "mtd", "semantics", "annotation",
}  # fmt: skip
EVIL = "<script>alert(1)</script>"


def page(*args: str, stdin: str = "") -> str:
    """An answer as a page."""
    result = gradcli(*args, "-f", "html", stdin=stdin)
    assert result.err == ""
    return result.out


def parsed(text: str) -> Any:
    """The elements of a page, which must be without any error of syntax."""
    return html5lib.HTMLParser(strict=True).parse(text)


def elements(text: str, path: str) -> list[Any]:
    return parsed(text).findall(path.replace("//", f".//{HTML}", 1))


def said(element: Any) -> str:
    return " ".join("".join(element.itertext()).split())


def figure(text: str) -> Any:
    """The first Jacobian."""
    return next(f for f in elements(text, "//figure") if f.get("data-of"))


def cells(row: Any) -> list[str]:
    return [said(cell) for cell in row]


# ---- the page as a whole -------------------------------------------------------------------------

QUESTIONS = [
    FLAGSHIP,
    (*FLAGSHIP, "--full"),
    SQUARE,
    (*SQUARE, "--full"),
    LAYER,
    (*LAYER, "--full"),
    ("softmax(x, dim=0)", "-s", "x=3", "--full"),
    ("jacobian", "x.cumsum(0)", "-s", "x=40"),
    ("hessian", "(x**2).sum()", "-s", "x=3"),
    ("jvp", "x*y", "-v", "x=2", "-v", "y=3", "--tangent", "x=1"),
    ("formula", "softmax(x @ W, dim=1)", "-s", "x=2x3,W=3x4"),
    ("seed-for", "a*a", "-v", "a=[1.,2.]", "--target", "a=[2,8]"),
    ("check", "x@a", "-s", "x=2x3,a=3x4", "--claim", "x = g @ a.T"),
    ("why", "grad can be implicitly created only for scalar outputs"),
    ("why", "sqrt(x)", "-v", "x=[0.,4.]", "-g", "[1,1]"),
    ("examples", "broadcast"),
]
each_question = pytest.mark.parametrize("args", QUESTIONS, ids=" ".join)


@each_question
def test_a_page_is_html_without_an_error(args):
    text = gradcli(*args, "-f", "html").out
    tree = parsed(text)
    assert [said(h) for h in tree.findall(f".//{HTML}h1")] != [""]
    assert tree.find(f".//{HTML}title").text.endswith("gradcli")


@each_question
def test_a_page_asks_nothing_of_any_other_place(args):
    text = gradcli(*args, "-f", "html").out
    for node in parsed(text).iter():
        for attribute in ("src", "href", "action", "data", "poster", "srcset", "ping"):
            assert (node.get(attribute) or "data:,") == "data:,"
    style = "".join(re.findall(r"<style>(.*?)</style>", text, re.DOTALL))
    assert not re.search(r"url\(|@import|@font-face", style)
    assert "default-src 'none'" in text


@each_question
def test_formulas_are_mathml_core(args):
    for found in re.findall(r"<math.*?</math>", gradcli(*args, "-f", "html").out, re.DOTALL):
        names = {e.tag.removeprefix(MATH) for e in ElementTree.fromstring(found).iter()}
        assert names <= CORE


def test_formulas_are_there():
    assert "<math" in page(*FLAGSHIP)
    assert "<mi>⊤</mi>" in page(*FLAGSHIP)


def test_the_question_is_the_heading_and_the_command_stands_below():
    text = page(*SQUARE)
    assert said(elements(text, "//h1")[0]) == "out = a*a out.backward(a)"
    assert said(elements(text, "//footer")[0]).endswith(
        "gradcli 'a*a' -v 'a=[[1,2,3],[4,5,6]]' -g a"
    )


def test_a_long_program_is_broken_between_statements():
    program = "h = relu(x @ W + b); k = tanh(h @ V); loss = ((k - y) ** 2).mean()"
    heading = elements(page(program, "-s", "x=2x3,W=3x2,V=2x2"), "//h1")[0]
    assert "".join(heading.itertext()).split("\n") == [
        "h = relu(x @ W + b);",
        "k = tanh(h @ V);",
        "loss = ((k - y) ** 2).mean()",
    ]


def test_what_there_is_to_copy():
    text = page(*SQUARE)
    buttons = {said(b): b.get("data-copy") for b in elements(text, "//button")}
    assert buttons["Copy command"] == "gradcli 'a*a' -v 'a=[[1,2,3],[4,5,6]]' -g a"
    assert buttons["Copy Markdown"].startswith("```python\nout = a*a\nout.backward(a)\n```\n")
    assert r"\frac{\partial L}{\partial a} &= 2 g \odot a" in buttons["Copy LaTeX"]
    assert "out.backward(a)" in buttons["Copy PyTorch"]


# ---- what users typed stays text -----------------------------------------------------------------


def test_a_tag_in_a_command_and_a_program_stays_text():
    text = page("read", "-", stdin=f"import torch\nx = torch.ones(2)  # {EVIL}\nprint('{EVIL}')\n")
    assert text.count("<script>") == 1
    assert any(EVIL in said(pre) for pre in elements(text, "//pre"))


def test_a_tag_in_a_message_stays_text():
    sentence = "grad can be implicitly created only for scalar outputs"
    text = page("why", f"RuntimeError: {sentence} {EVIL}")
    assert text.count("<script>") == 1


@pytest.mark.parametrize("place", ["name", "role", "text", "formula", "entry", "code", "command"])
def test_a_tag_anywhere_in_a_document_stays_text(place):
    evil = EVIL + "\"'&</style></script>"
    given = dict.fromkeys(["name", "role", "text", "formula", "entry", "code", "command"], "x")
    given[place] = evil
    entry = verbatim(given["entry"])
    matrix = MATRIX._replace(
        seed_name=verbatim(given["name"]),
        column_labels=(entry, ONE),
        entries=((entry, ONE), (ZERO, entry)),
        product_label=verbatim(given["name"]),
    )
    blocks: tuple[Block, ...] = (
        matrix,
        Prose(words(given["text"])),
        Prose((Formula(Name(given["formula"], f"input:{given['role']}")),)),
        Table((Row((plain(given["text"]), Tensor(np.array(given["entry"], dtype=object)))),)),
        Table((Row((Tensor(np.ones((2, 2)), "answer", given["name"]),)),)),
        Note(given["code"], words(given["text"])),
        Code(given["code"], given["name"]),
        Graph((GraphNode(plain(given["text"]), ()),)),
    )
    section = Section(given["name"], words(given["text"]), words(given["text"]), blocks)
    made = Document((), (section,), command=given["command"], question=given["text"])
    text = render_documents([made], "html", Environment())
    scripts = parsed(text).findall(f".//{HTML}script")
    assert len(scripts) == 1
    assert "alert" not in "".join(scripts[0].itertext())


# ---- blocks --------------------------------------------------------------------------------------

NOUGHT, ONE, MINUS_TWO = map(verbatim, ("0", "1", "-2"))
MATRIX = Matrix(
    seed_name=verbatim("g"),
    seed=(verbatim("5"), verbatim("-7")),
    row_labels=(element(Name("out"), (0,)), element(Name("out"), (1,))),
    column_labels=(element(Name("x"), (0,)), element(Name("x"), (1,))),
    entries=((verbatim("3"), Formula(Infix("-", Name("a"), Name("b")))), (ZERO, verbatim("11"))),
    product_label=Formula(Attribute(Name("x"), "grad")),
    product=None,
    product_name=verbatim("g·J"),
    skipped_rows=(2, 0),
    skipped_columns=(2, 0),
    input_role="input:x",
    row_places=((0,), (1,)),
    column_places=((0,), (1,)),
)
STEP = Step(1, plain("stepped"), words("received"), Tensor(np.array([13.0])), ())
BLOCKS: dict[type, tuple[Any, list[str]]] = {
    Table: (Table((Row((words("left"), words("right"))),)), ["left", "right"]),
    Matrix: (MATRIX, ["x[1]", "out[1]", "a - b", "11", "-7"]),
    Picture: (Picture(((0, 1), (2, 0))), []),
    Prose: (Prose(words("a sentence")), ["a sentence"]),
    Step: (STEP._replace(sent=(Row((words("sends"),)),)), ["stepped", "received", "13", "sends"]),
    Graph: (
        Graph(
            (GraphNode(plain("a leaf"), ()), GraphNode(plain("a sum"), (0, 0))),
            (Pass(1, False, STEP), Pass(1, True, STEP)),
        ),
        ["a leaf", "a sum", "forward", "back", "stepped"],
    ),
    Note: (Note("kink", words("beware")), ["kink", "beware"]),
    Code: (Code("x = 1", "python"), ["x = 1"]),
}


def rendered(*blocks: Any) -> str:
    section = Section("seed", words("Title"), (), blocks)
    return render_documents([Document((), (section,))], "html", Environment())


def test_every_kind_of_block_is_tried():
    assert set(BLOCKS) == set(Block.__args__)  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", BLOCKS, ids=lambda kind: kind.__name__)
def test_every_kind_of_block_is_rendered(kind):
    block, expected = BLOCKS[kind]
    text = said(elements(rendered(block), "//section")[0])
    assert all(piece in text for piece in expected)


@pytest.mark.parametrize("kind", BLOCKS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("format", ["terminal", "plain", "markdown", "svg"])
def test_every_other_format_renders_every_kind_of_block(kind, format):
    block, expected = BLOCKS[kind]
    told = [piece for piece in expected if kind is not Graph or piece.startswith("a ")]
    made = Document((), (Section("seed", words("Title"), (), (block,)),))
    text = render_documents([made], format, Environment())
    assert all(piece.replace(" ", "") in re.sub(r"\s|&#160;", "", text) for piece in told)


def test_a_picture_has_a_cell_for_each_of_its_cells():
    shades = re.findall(r'class="shade-(\d)" d="([^"]*)"', rendered(BLOCKS[Picture][0]))
    assert shades == [("1", "M1 0h1v1h-1z"), ("2", "M0 1h1v1h-1z")]


def test_a_large_jacobian_is_a_small_picture():
    text = page("jacobian", "x.cumsum(0)", "-s", "x=1000")
    assert len(text) < 70_000
    drawn = re.search(r'<svg class="picture".*?</svg><p>(.*?)</p>', text)
    assert drawn[1].startswith("A cell is 10×10 entries")
    assert 'viewBox="0 0 100 100"' in drawn[0]
    dark = re.search(r'class="shade-2" d="([^"]*)"', drawn[0])[1]
    assert dark.split("z")[:2] == ["M0 1h1v1h-1", "M0 2h2v1h-2"]


def test_steps_are_a_list_with_their_numbers():
    items = elements(rendered(STEP, STEP._replace(number=4)), "//ol[@class='steps']/*")
    assert [item.get("value") for item in items] == ["1", "4"]


def test_tensors_have_headers_and_all_digits():
    value = np.array([[1 / 3, 2.0, np.nan], [-np.inf, 5.0, 1e-12]])
    table = elements(rendered(Table((Row((Tensor(value),)),))), "//table")[0]
    head, *body = table.iter(f"{HTML}tr")
    assert cells(head) == ["", "0", "1", "2"]
    assert [cells(row) for row in body] == [
        ["0", "0.33333", "2", "nan"],
        ["1", "-inf", "5", "1e-12"],
    ]
    assert {th.get("scope") for th in table.iter(f"{HTML}th")} == {"col", "row"}
    assert [td.get("title") for td in table.iter(f"{HTML}td")][1:4] == [repr(1 / 3), None, None]


def test_the_middle_of_a_large_tensor_is_left_out_unless_in_full():
    row = Table((Row((Tensor(np.arange(100.0).reshape(10, 10)),)),))
    numbers = [said(td) for td in elements(rendered(row), "//td")]
    assert {"…", "0", "99"} <= {*numbers}
    assert "55" not in numbers
    made = Document((), (Section("seed", (), (), (row,)),))
    full = render_documents([made], "html", Environment(full=True))
    assert [said(td) for td in elements(full, "//td")][1:] == [str(k) for k in range(100)]


def test_a_tensor_of_more_dimensions_is_a_table_for_each_place():
    tables = elements(rendered(Table((Row((Tensor(np.zeros((2, 3, 1, 2))),)),))), "//caption")
    assert [said(caption) for caption in tables] == [
        f"[{i},{j}]" for i in range(2) for j in range(3)
    ]


# ---- Jacobians -----------------------------------------------------------------------------------


def test_a_jacobian_is_a_table_with_headers():
    table = figure(page(*SQUARE)).find(f".//{HTML}table")
    head, *body = table.iter(f"{HTML}tr")
    names = [f"[{i},{j}]" for i in range(2) for j in range(3)]
    assert cells(head) == ["g", "", *(f"a{name}" for name in names)]
    assert cells(body[1]) == ["2", "out[0,1]", "·", "4", "·", "·", "·", "·"]
    assert cells(body[-1]) == ["g·J", "a.grad", "2", "8", "18", "32", "50", "72"]
    assert [row[1].get("scope") for row in body] == ["row"] * 7


@pytest.mark.oracle
def test_sums_are_the_gradient():
    """What stands behind each element, computed, is what PyTorch has."""
    import torch

    x, a = torch.randn(2, 3, dtype=torch.double, requires_grad=True), torch.arange(12.0).double()
    g = torch.tensor([[1.0, 2, 3, 4], [5, 6, 7, 8]]).double()
    (x @ a.reshape(3, 4)).backward(g)
    items = [i for i in figure(page(*FLAGSHIP)).iter(f"{HTML}li") if i.get("data-sum")]
    assert [i.get("data-sum") for i in items] == [
        f"x.grad[{r},{c}]" for r in range(2) for c in range(3)
    ]
    table = {f"a[{k // 4},{k % 4}]": str(k) for k in range(12)}
    for item, expected in zip(items, x.grad.ravel().tolist(), strict=True):
        text = re.sub(r"a\[\d,\d\]", lambda m: table[m[0]], said(item).partition(" = ")[2])
        terms = [term.split("·") for term in text.split(" + ")]
        assert sum(float(u) * float(v) for u, v in terms) == expected


def test_factors_that_are_sums_or_negative_stand_in_brackets():
    items = [said(i) for i in figure(rendered(MATRIX)).iter(f"{HTML}li")]
    assert items == ["x.grad[0] = 5·3", "x.grad[1] = 5·(a - b) + (-7)·11"]


def test_a_sum_with_nan_is_no_number():
    made = gradcli("log(x) / x", "-v", "x=[0.,1]", "-g", "ones(2)", "-f", "html").out
    text = re.sub("<[^>]*>", "", made)
    assert "1·inf + 1·nan, which is nan; backward, in one pass, gives inf" in text
    assert "nan = inf" not in text


def test_a_column_without_entries_sums_to_zero():
    empty = MATRIX._replace(entries=((ZERO, ONE), (ZERO, ONE)), product=(NOUGHT, MINUS_TWO))
    items = [said(i) for i in figure(rendered(empty)).iter(f"{HTML}li")]
    assert items == ["x.grad[0] = 0", "x.grad[1] = 5·1 + (-7)·1 = -2"]


def test_entries_that_are_not_written_out_make_no_sums():
    unwritten = MATRIX._replace(entries=((UNWRITTEN, UNWRITTEN), (UNWRITTEN, UNWRITTEN)))
    found = elements(rendered(unwritten), "//figure")[0]
    assert found.get("data-of") is None
    assert "?" in said(found)


def test_rows_left_out_are_left_out_of_sums():
    cut = MATRIX._replace(skipped_rows=(1, 3))
    items = [said(i) for i in figure(rendered(cut)).iter(f"{HTML}li")]
    assert items[0] == "x.grad[0] = 5·3 + …"


@pytest.mark.parametrize("more", [[], ["--full"]])
def test_the_option_that_is_named_shows_more(more):
    """Of 40 rows, an answer that is not in full shows 24 at most, whatever the limit."""
    asked = ["jacobian", "x*x", "-v", "x=arange(40.)", "-f", "html", *more]
    text = gradcli(*asked, "--limit", "entries=400").out
    assert ("(--limit entries=N shows more)" if more else "(--full shows all)") in text


def test_element_column_and_weight_are_tied_by_name():
    found = figure(page(*FLAGSHIP))
    column = [e for e in found.iter() if e.get("data-el") == "x.grad[1,2]"]
    assert [said(e) for e in column] == [
        "x[1,2]", *["·"] * 4, "a[2,0]", "a[2,1]", "a[2,2]", "a[2,3]", "1,2",
    ]  # fmt: skip
    weights = [
        e.get("data-el") for e in found.iter() if e.get("class") == "seed" and e.get("data-el")
    ]
    assert weights == [f"g[{i},{j}]" for i in range(2) for j in range(4)]


# ---- graphs --------------------------------------------------------------------------------------


def test_a_layout_has_no_overlap_and_goes_down():
    inputs = [(), (), (0, 1), (), (2, 3), (0, 4), (5, 5, 2)]
    widths = [60.0, 90, 120, 40, 200, 80, 70]
    found = layout(inputs, widths)
    for n, from_ in enumerate(inputs):
        assert all(found.nodes[i][1] + HEIGHT < found.nodes[n][1] for i in from_)
    boxes = [(x - w / 2, x + w / 2, y) for (x, y), w in zip(found.nodes, widths, strict=True)]
    for k, (left, right, y) in enumerate(boxes):
        assert left >= -1e-9
        assert right <= found.size[0] + 1e-9
        others = [b for b in boxes[k + 1 :] if b[2] == y]
        assert all(right < other[0] or other[1] < left for other in others)
    assert set(found.edges) == {(i, n) for n, from_ in enumerate(inputs) for i in from_}


def test_a_chain_goes_straight_down():
    inputs = [(), *[(k,) for k in range(6)]]
    assert len({round(x) for x, _ in layout(inputs, [50.0] * 7).nodes}) == 1


def test_a_drawing_is_well_formed_and_has_every_node_and_edge():
    nodes = (
        GraphNode(plain("a < b"), ()),
        GraphNode(plain("c"), (0, 0)),
        GraphNode(plain("d"), (1, 0)),
    )
    picture = ElementTree.fromstring(drawn_graph(Graph(nodes)))
    assert [t.text for t in picture.iter("text")] == ["a < b", "c", "d"]
    edges = {(e.get("data-from"), e.get("data-to")) for e in picture.iter("path")}
    assert edges == {("0", "1"), ("1", "2"), ("0", "2")}


def test_both_passes_are_told_at_their_nodes():
    items = [i for i in elements(page(*LAYER), "//li") if i.get("data-way")]
    ways = [i.get("data-way") for i in items]
    assert ways == ["forward"] * 5 + ["back"] * (len(ways) - 5)
    assert {i.get("data-node") for i in items if i.get("data-way") == "back"} >= {
        i.get("data-node") for i in items if i.get("data-way") == "forward"
    }


def test_a_graph_too_large_to_be_followed_is_left_out():
    program = "x" + ".sin()" * 60
    assert "<svg" not in page(program, "-s", "x=()")


# ---- programs that were read ---------------------------------------------------------------------


PROGRAMS = {
    "dot product": (
        "import torch\nx = torch.ones(2, 3, requires_grad=True)\na = torch.ones(3, 4)\n"
        "out = torch.mm(x, a)\nout.backward(torch.FloatTensor([[1,2,3,4],[5,6,7,8]]))\n"
        "print(x.grad)\n"
    ),
    "no seed": "import torch\nx = torch.ones(2, requires_grad=True)\n(x * 2).backward()\n",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_a_program_does_is_a_page(name):
    result = gradcli("read", "-", "-f", "html", stdin=PROGRAMS[name])
    text = parsed(result.out)
    markdown = gradcli("read", "-", "-f", "markdown", stdin=PROGRAMS[name]).out
    headings = re.findall(r"^### (.*)$", markdown, re.MULTILINE)
    found = [said(h) for h in text.iter() if h.tag in (f"{HTML}h1", f"{HTML}h2")]
    assert len(found) == len(headings)


def test_several_answers_make_one_page():
    stdin = "First:\n\n```python\nimport torch\nx = torch.ones(2, requires_grad=True)\n"
    stdin += "x.sum().backward()\n```\n\nSecond:\n\n```python\nimport torch\n"
    stdin += "y = torch.ones(2, requires_grad=True)\ny.prod().backward()\n```\n"
    text = page("read", "-", stdin=stdin)
    assert len(elements(text, "//article")) == 2
    assert text.count("<!DOCTYPE html>") == 1


# ---- in a browser --------------------------------------------------------------------------------


class Opened:
    """A page in a browser, and what it complained about."""

    def __init__(self, browser: Any, path: Path, width: int = 1280, **how: Any):
        self.context = browser.new_context(viewport={"width": width, "height": 900}, **how)
        self.page, self.complaints = self.context.new_page(), list[str]()
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self._requested)
        self.address = path.as_uri()
        self.page.goto(self.address)

    def _requested(self, request: Any) -> None:
        if not request.url.startswith(("file:", "data:")):
            self.complaints.append(f"asked for {request.url}")

    def texts(self, selector: str) -> list[str]:
        return [" ".join(text.split()) for text in self.page.locator(selector).all_inner_texts()]


@pytest.fixture
def opened(browser, tmp_path):
    """Opens the page of a command."""
    contexts = []

    def open_page(*args: str, **how: Any) -> Opened:
        path = tmp_path / "page.html"
        path.write_text(page(*args), "utf-8")
        found = Opened(browser, path, **how)
        contexts.append(found)
        return found

    yield open_page
    for found in contexts:
        assert found.complaints == []
        found.context.close()


@pytest.mark.parametrize("args", [FLAGSHIP, (*SQUARE, "--full"), LAYER], ids=" ".join)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_scrolls_sideways(opened, args, width, scheme):
    found = opened(*args, width=width, color_scheme=scheme)
    assert found.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("width", [390, 1280])
def test_a_formula_as_it_is_typed_is_whole(opened, width):
    found = opened("h = relu(x @ W + b); y = softmax(h, -1)[:, 0]", "-s", "x=2x2", width=width)
    cut = (
        "[...document.querySelectorAll('.typed')].filter(e => e.scrollWidth > e.clientWidth).length"
    )
    assert (found.page.locator(".typed").count() > 4, found.page.evaluate(cut)) == (True, 0)


def test_pointing_at_an_element_lights_what_it_is_made_of(opened):
    found = opened(*FLAGSHIP)
    found.page.hover('.elements td[data-el="x.grad[1,1]"]')
    assert found.texts(".sum") == ["x.grad[1,1] = 5·a[1,0] + 6·a[1,1] + 7·a[1,2] + 8·a[1,3]"]
    assert found.texts(".matrix tbody td.seed.lit") == ["5", "6", "7", "8"]
    assert found.texts(".matrix thead th.lit") == ["x[1,1]"]
    entries = found.texts(".matrix tbody td.lit:not(.seed):not(.zero)")
    assert entries == ["a[1,0]", "a[1,1]", "a[1,2]", "a[1,3]"]
    found.page.mouse.move(0, 0)
    assert found.texts(".lit") == []


def test_arrow_keys_go_from_element_to_element(opened):
    found = opened(*FLAGSHIP)
    found.page.locator('.elements td[tabindex="0"]').focus()
    for key, place in [
        ("ArrowRight", "0,1"),
        ("ArrowDown", "1,1"),
        ("End", "1,2"),
        ("Home", "1,0"),
    ]:
        found.page.keyboard.press(key)
        assert found.page.evaluate("document.activeElement.dataset.el") == f"x.grad[{place}]"
        assert found.texts(".sum")[0].startswith(f"x.grad[{place}] = ")
    found.page.keyboard.press("ArrowDown")
    assert found.page.evaluate("document.activeElement.dataset.el") == "x.grad[1,0]"


def test_a_click_is_kept_in_the_address(opened):
    found = opened(*FLAGSHIP)
    found.page.click('.elements td[data-el="x.grad[0,2]"]')
    address = found.page.url
    assert address == found.address + "#x.grad%5B0%2C2%5D"
    found.page.goto("about:blank")
    found.page.goto(address)
    assert found.texts(".elements td.pinned") == ["0,2"]
    assert found.texts(".sum")[0].startswith("x.grad[0,2] = 1·a[2,0]")
    found.page.locator(".elements td.pinned").focus()
    found.page.keyboard.press("Enter")
    assert found.page.url == found.address


@pytest.mark.parametrize("fragment", ["#nothing", "#%", "#x.grad%5B9%2C9%5D", "#<b>"])
def test_an_address_with_something_else(opened, fragment):
    found = opened(*FLAGSHIP)
    found.page.goto("about:blank")
    found.page.goto(found.address + fragment)
    assert found.texts(".lit") == []


def test_the_slider_goes_forward_and_back(opened):
    found = opened(*SQUARE)
    seen = []
    for _ in range(3):
        seen += found.texts(".passes > li.now .way")
        assert found.page.locator(".node.now").count() == 1
        if len(seen) < 3:
            found.page.click('[data-by="1"]')
    assert seen == ["forward", "back", "back"]
    assert found.page.is_disabled('[data-by="1"]')
    found.page.locator(".stepper input").focus()
    found.page.keyboard.press("ArrowLeft")
    assert found.texts("output") == ["2 of 3"]
    assert found.page.locator(".passes > li:visible").count() == 1


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("args", [FLAGSHIP, (*SQUARE, "--full"), LAYER], ids=" ".join)
def test_axe_finds_nothing(opened, args, width):
    """What the rules of accessibility that a program can check say."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is missing")
    found = opened(*args, width=width, bypass_csp=True)
    found.page.locator("summary").evaluate_all("all => all.forEach((each) => each.click())")
    assert axe.Axe().run(found.page).response["violations"] == []


def test_copying(opened):
    found = opened(*SQUARE)
    found.context.grant_permissions(["clipboard-read", "clipboard-write"])
    found.page.click("text=Copy command")
    found.page.wait_for_selector("text=Copied")
    text = found.page.evaluate("navigator.clipboard.readText()")
    assert text == "gradcli 'a*a' -v 'a=[[1,2,3],[4,5,6]]' -g a"


def test_everything_can_be_read_without_the_script(opened):
    found = opened(*LAYER, java_script_enabled=False)
    assert found.page.locator(".passes > li:visible").count() > 8
    assert found.page.locator("button:visible").count() == 0
    assert found.page.locator(".sum").count() == found.page.locator(".elements").count()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_have_contrast(opened, scheme):
    """4.5:1 to the paper, for each colour that text has."""
    found = opened(*FLAGSHIP, color_scheme=scheme)
    colours = found.page.evaluate(
        """["ink", "quiet", "seed", "in-1", "in-2", "in-3", "in-4", "ok", "bad", "accent"].flatMap(
        (name) => ["paper", "sheet", "tile"].map((under) => {
          const probe = document.querySelector("main").appendChild(document.createElement("p"));
          probe.style.cssText = `color: var(--${name}); background-color: var(--${under})`;
          const style = getComputedStyle(probe);
          return [name, under, style.color, style.backgroundColor];
        }))"""
    )
    for name, under, ink, paper in colours:
        colours_of = [[int(n) for n in re.findall(r"\d+", colour)[:3]] for colour in (ink, paper)]
        assert contrast(*colours_of) >= 4.5, (name, under)
