"""What a notebook shows, the magics, and values that are arrays of other libraries."""

import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import html5lib
import numpy as np
import pytest
from colours import COLOURS, contrast

import gradcli

HTML = "{http://www.w3.org/1999/xhtml}"
SQUARE = {"expr": "a * a", "values": {"a": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]}, "grad": "a"}
GRAD = [[2, 8, 18], [32, 50, 72]]
STYLE = Path(gradcli.__file__).parent / "render" / "page" / "style.css"


# ---- what is shown -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bundle() -> dict[str, str]:
    return gradcli.explain(**SQUARE)._repr_mimebundle_()


def test_an_explanation_shows_itself_in_three_ways(bundle):
    explanation = gradcli.explain(**SQUARE)
    assert set(bundle) == {"text/html", "text/latex", "text/markdown", "text/plain"}
    assert bundle["text/markdown"] == explanation.to("markdown")
    assert bundle["text/plain"] == str(explanation)


def test_what_is_shown_stands_within_a_page(bundle):
    (root,) = html5lib.HTMLParser(strict=True).parseFragment(bundle["text/html"])
    assert (root.tag, root.get("class")) == (f"{HTML}div", "gradcli")
    names = {e.tag.removeprefix(HTML) for e in root.iter() if isinstance(e.tag, str)}
    assert not names & {"script", "html", "body", "h1", "button", "input"}
    assert "a.grad" in "".join(root.itertext())


def test_what_is_shown_speaks_of_keywords():
    shown = gradcli.explain("x @ a", shapes={"x": (2, 3)})._repr_mimebundle_()
    assert all("-s x=" not in text and "--grad" not in text for text in shown.values())


def test_an_error_is_shown_without_a_traceback():
    """IPython shows these lines; of other exceptions it shows all frames."""
    with pytest.raises(gradcli.GradcliError) as raised:
        gradcli.explain("foo(x)")
    head, hint = raised.value._render_traceback_()
    assert head == "GradcliError[unknown-function]: there is no function foo"
    assert hint == raised.value.hint


@pytest.mark.sweep
def test_ipython_shows_an_error_in_few_lines():
    pytest.importorskip("IPython")
    command = "import gradcli; gradcli.explain('foo(x)')"
    shown = subprocess.run([sys.executable, "-m", "IPython", "-c", command], capture_output=True)
    assert b"there is no function foo" in shown.stdout
    assert len(shown.stdout.splitlines()) < 4


def test_styles_hold_for_nothing_else():
    """Every rule of the style sheet, and every one within @media, begins with .gradcli or needs
    it.
    """
    style, depth, rules, rule = STYLE.read_text("utf-8"), 0, [], ""
    for character in style:
        if character == "{":
            inside_media = depth == 1 and rules[-1].startswith("@media")
            if depth == 0 or inside_media:
                rules.append(rule.strip())
            depth, rule = depth + 1, ""
        elif character == "}":
            depth, rule = depth - 1, ""
        else:
            rule = "" if character == ";" else rule + character
    assert depth == 0
    assert all(".gradcli" in rule for rule in rules if not rule.startswith("@media"))


# ---- values --------------------------------------------------------------------------------------


class ByDLPack:
    """An array that knows DLPack and nothing else."""

    def __init__(self, array: Any):
        self.array = array

    def __dlpack__(self, **asked: Any) -> Any:
        return self.array.__dlpack__(**asked)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def arrays() -> dict[str, Any]:
    numbers = np.array(SQUARE["values"]["a"])  # type: ignore[index]
    return {"numpy": numbers, "fortran": np.asfortranarray(numbers), "dlpack": ByDLPack(numbers)}


@pytest.mark.parametrize("kind", ["numpy", "fortran", "dlpack", "torch", "grad", "jax", "pandas"])
def test_arrays_of_other_libraries(kind):
    numbers = SQUARE["values"]["a"]  # type: ignore[index]
    if kind in ("torch", "grad"):
        torch = pytest.importorskip("torch", reason="PyTorch is not installed")
        value = torch.tensor(numbers, requires_grad=kind == "grad")
    elif kind == "jax":
        value = pytest.importorskip("jax.numpy", reason="JAX is not installed").array(numbers)
    elif kind == "pandas":
        value = pytest.importorskip("pandas", reason="pandas is not installed").DataFrame(numbers)
    else:
        value = arrays()[kind]
    for given in ("a", value):
        assert gradcli.grad("a * a", values={"a": value}, grad=given).tolist() == GRAD


def test_an_explanation_keeps_what_it_was_given():
    numbers = np.array([1.0, 2.0])
    explanation = gradcli.explain("(x * x).sum()", values={"x": ByDLPack(numbers)})
    numbers[:] = 7
    assert explanation.grad["x"]["value"].tolist() == [2, 4]


def test_a_device_that_numpy_cannot_read_is_refused():
    class Elsewhere(ByDLPack):
        def __dlpack__(self, **asked: Any) -> Any:
            raise BufferError("on another device")

    with pytest.raises(gradcli.GradcliError) as caught:
        gradcli.grad("x * x", values={"x": Elsewhere(np.ones(2))}, grad=[1, 1])
    assert (caught.value.code, caught.value.hint) == ("value", "on another device")


class Bfloat16:
    """As PyTorch's tensors of a dtype that NumPy has not."""

    def __init__(self, numbers: Any):
        self.numbers = numbers

    def __array__(self, *asked: Any, **named: Any) -> Any:
        raise TypeError("Got unsupported ScalarType BFloat16")

    def double(self) -> Any:
        return np.array(self.numbers)


@pytest.mark.parametrize("kind", ["protocol", "torch", "jax"])
def test_bfloat16_is_taken_as_floats(kind):
    numbers = [1.0, -2.5, float("inf")]  # it has all of them
    if kind == "torch":
        torch = pytest.importorskip("torch", reason="PyTorch is not installed")
        value = torch.tensor(numbers, dtype=torch.bfloat16, requires_grad=True)
    elif kind == "jax":
        jnp = pytest.importorskip("jax.numpy", reason="JAX is not installed")
        value = jnp.array(numbers, dtype=jnp.bfloat16)
    else:
        value = Bfloat16(numbers)
    found = gradcli.grad("x * x", values={"x": value}, grad=[1, 1, 1])
    assert found.tolist() == [2, -5, float("inf")]


def test_what_is_no_array_is_refused_in_the_words_of_its_library():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    with pytest.raises(gradcli.GradcliError) as caught:
        gradcli.grad("x * x", values={"x": torch.ones(2).to_sparse()}, grad=[1, 1])
    assert "Use Tensor.to_dense() first." in caught.value.hint


# ---- magics --------------------------------------------------------------------------------------


class Shell:
    """As much of IPython's shell as the magics use."""

    def __init__(self, **variables: Any):
        self.user_ns = variables
        self.magics: dict[str, Any] = {}
        gradcli.load_ipython_extension(self)

    def register_magic_function(self, function: Any, kind: str, name: str) -> None:
        self.magics[name] = (kind, function)

    def __call__(self, line: str, cell: str | None = None) -> Any:
        kind, function = self.magics["gradcli"]
        assert kind == "line_cell"
        return function(line, cell)


def test_a_cell_is_a_program():
    found = Shell()("-s x=2x3 -w W", "h = relu(x @ W)\n(h * h).sum()\n")
    assert list(found.inputs) == ["x", "W"]
    assert list(found.grad) == ["W"]


def test_a_line_has_the_program_first():
    found = Shell()('"a * a" -v "a=[[1,2,3],[4,5,6]]" -g a')
    assert found.grad["a"]["value"].tolist() == GRAD


def test_variables_of_the_notebook_are_values_where_they_are_named():
    shell = Shell(a=np.array(SQUARE["values"]["a"]), b=2)  # type: ignore[index]
    assert shell("'a * a' -v a -g a").grad["a"]["value"].tolist() == GRAD
    assert shell("'a * a' -s a=2x3").inputs["a"].get("value") is None


@pytest.mark.parametrize(
    "line",
    [
        'explain "a * a" -v "a=[[1,2,3],[4,5,6]]" -g a',
        "a * a -v a=[[1, 2, 3], [4, 5, 6]] -g a",
        "explain a*a -g a -v a=[[1,2,3], [4,5,6]]",
        "a * a -v a -g 'ones_like(a) * a'",
    ],
)
def test_blanks_need_no_quotes(line):
    found = Shell(a=np.array(SQUARE["values"]["a"]))(line)  # type: ignore[index]
    assert found.grad["a"]["value"].tolist() == GRAD


def test_a_cell_may_be_of_a_higher_order():
    found = Shell()("explain -v x=2.0 --order 2 --dtype float32", "x ** 3")
    assert found.grad["x"]["value"].tolist() == 12


def test_names_of_commands_are_inputs_too():
    assert list(Shell()("explain * grad -s explain=2").inputs) == ["explain", "grad"]
    assert list(Shell()("explain").inputs) == ["explain"]


def test_in_full():
    short, full = (Shell()(f"'a * a' -s a=2 {option}") for option in ("", "--full"))
    assert "Forward" in full._repr_mimebundle_()["text/plain"]
    assert "Forward" not in short._repr_mimebundle_()["text/plain"]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("'x * x' -v y", "the notebook has no variable y"),
        ("'x * x' --what", "unrecognized arguments: --what"),
        ("'x * x", "the line cannot be read"),
        ("'sofmax(x)' -s x=3", "there is no function sofmax"),
        ("jacobian x @ a -s x=2x3", 'gradcli.jacobian("x @ a")'),
        ("", "expr"),
    ],
)
def test_what_is_wrong_is_printed(line, complaint, capsys):
    assert Shell()(line) is None
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["text/plain", "text/markdown", "text/html"])
@pytest.mark.parametrize("full", ["", " --full"])
def test_a_magic_speaks_of_its_options(kind, full):
    shown = Shell()(f"-s w=4x5{full}", "x @ w")._repr_mimebundle_()[kind]
    shown = re.sub(r"<[^>]*>", "", shown)
    assert "(choose with -s x=4x4)" in shown
    assert "with --grad" in shown
    assert "gradcli jacobian" not in shown


@pytest.mark.parametrize(
    ("line", "cure"),
    [
        ("a*b + c*d*e -v a=[1,2,3] -v c=[1,2]", "-s "),
        ("'x * x' -v x=@x.npy", "-v NAME takes a variable of the notebook"),
    ],
)
def test_what_a_magic_lacks_is_an_option_of_it(line, cure, capsys):
    assert Shell()(line) is None
    assert cure in capsys.readouterr().err


# ---- a notebook that is run ----------------------------------------------------------------------

CELLS = [
    "%load_ext gradcli",
    "import numpy as np\na = np.array([[1., 2., 3.], [4., 5., 6.]])",
    "%%gradcli -v a -g a\nout = a * a",
    "import gradcli\ngradcli.explain('x @ w', shapes={'x': (2, 3), 'w': (3,)})",
]


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """The notebook with its outputs."""
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    client = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
    path = tmp_path_factory.mktemp("notebook")
    made = client.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": path}})
    return made.execute()


def test_a_notebook_shows_explanations(executed):
    for cell in executed.cells[2:]:
        (output,) = cell.outputs
        assert output.output_type == "execute_result"
        assert output.data["text/html"].startswith('<div class="gradcli">')
        assert output.data["text/markdown"].startswith("```python")
    assert re.search(r"a\.grad", executed.cells[2].outputs[0].data["text/plain"])


def test_a_notebook_is_exported(executed):
    nbconvert = pytest.importorskip("nbconvert", reason="nbconvert is not installed")
    body, _ = nbconvert.HTMLExporter().from_notebook_node(executed)
    assert body.count('<div class="gradcli">') == 2
    markdown, _ = nbconvert.MarkdownExporter().from_notebook_node(executed)
    assert "gradcli" in markdown


# ---- JupyterLab, in a browser --------------------------------------------------------------------

MARKDOWN = "# Heading\n\nText, `code`\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n1. one\n2. two\n"
SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false"},
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},  # no cell is taken out
}
# what a style sheet that is not scoped would change
STYLES = """() => {
  const kinds = ["font", "color", "backgroundColor", "margin", "padding", "border", "display",
    "listStyle", "textAlign", "whiteSpace", "colorScheme", "boxSizing"];
  const styles = [...document.querySelectorAll("body, .jp-MarkdownOutput *")].map(
    (element) => getComputedStyle(element));
  return styles.map((style) => kinds.map((kind) => style[kind]));
}"""
CONNECTED = """() => {
    const kernel = jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel;
    return kernel?.connectionStatus === "connected" && kernel.status === "idle";
}"""
SHOWN = "() => document.querySelectorAll('.jp-OutputArea .gradcli').length === 2"


@pytest.fixture
def lab(tmp_path):
    """JupyterLab's address of a notebook, with a secret in it, on a port that is free."""
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    for name in ("jupyterlab", "ipykernel"):
        pytest.importorskip(name, reason=f"{name} is not installed")
    cells = [nbformat.v4.new_markdown_cell(MARKDOWN), *map(nbformat.v4.new_code_cell, CELLS)]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), tmp_path / "a.ipynb")
    settings = tmp_path / "config" / "labconfig" / "default_setting_overrides.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps(SETTINGS), "utf-8")
    folders = {f"JUPYTER_{name.upper()}_DIR": name for name in ("config", "data", "runtime")}
    folders = {name: str(tmp_path / last) for name, last in (folders | {"IPYTHONDIR": "i"}).items()}
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--port=0"]
    command += ["--ip=127.0.0.1", f"--notebook-dir={tmp_path}", "--expose-app-in-browser"]
    variables = {**os.environ, **folders}
    with subprocess.Popen(command, env=variables, stderr=subprocess.PIPE, text=True) as server:
        yield _address(server)
        server.terminate()


def _address(server: subprocess.Popen[str]) -> str:
    """The notebook's address, once the server says its own."""
    said = []
    for line in server.stderr:
        said.append(line)
        if found := re.search(r"(http://127\.0\.0\.1:\d+/lab)(\?token=\w+)", line):
            # a pipe that nobody reads fills up, and blocks the server
            threading.Thread(target=server.stderr.read, daemon=True).start()
            return "/tree/a.ipynb".join(found.groups())
    pytest.fail("".join(said))


@pytest.mark.sweep
def test_jupyterlab_shows_explanations(lab, browser, tmp_path):
    """In its light theme and its dark one, and what else the notebook shows stays as it was."""
    page = browser.new_page(viewport={"width": 1280, "height": 1600})
    page.set_default_timeout(120_000)
    page.goto(lab)
    page.wait_for_selector(".jp-MarkdownOutput table")
    page.wait_for_selector("[data-status=idle]")
    page.wait_for_function(CONNECTED)  # cells that are run before are not run at all
    errors: list[str] = []
    page.on("console", lambda said: said.type == "error" and errors.append(said.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    before = page.evaluate(STYLES)
    assert len(before) > 15

    page.evaluate("jupyterapp.commands.execute('notebook:run-all-cells')")
    page.wait_for_function(SHOWN)
    tables = page.locator(".jp-OutputArea .gradcli").first.locator(".tensor:visible").all()
    grad = [*map(str, np.ravel(GRAD))]
    assert grad in [table.locator("tbody td").all_inner_texts() for table in tables]
    assert page.evaluate(STYLES) == before

    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        change = "(theme) => jupyterapp.commands.execute('apputils:change-theme', {theme})"
        page.evaluate(change, theme)
        page.wait_for_selector(f"body[data-jp-theme-name='{theme}']", state="attached")
        colours = page.evaluate(COLOURS)
        assert len(colours) > 100
        assert [each for each, *two in colours if contrast(*two) < 4.5] == []
        page.screenshot(path=tmp_path / f"{theme}.png")
    assert errors == []
    page.close()
