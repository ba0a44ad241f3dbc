"""README.md and docs/: what they show is what happens."""

import ast
import importlib.util
import json
import re
import subprocess
import sys
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest
from console import gradcli
from support import one_in

from gradcli.errors import CODES
from gradcli.graphs import Operator
from gradcli.limits import DEFAULTS
from gradcli.operators import INDEX, functions, lookup
from gradcli.public_names import in_pytorch

ROOT = Path(__file__).resolve().parent.parent


def _script():
    loader = SourceFileLoader("docs_script", str(ROOT / "scripts" / "docs"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    loader.exec_module(module)
    sys.dont_write_bytecode = before
    return module


docs = _script()
PAGES = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in docs.pages()}
each_page = pytest.mark.parametrize("page", PAGES)


def code(page: str, language: str) -> list[str]:
    """What the blocks of a language hold."""
    lines = PAGES[page].splitlines()
    return ["\n".join(lines[n] for n in block) for block in docs.blocks(PAGES[page], language)]


# ---- console blocks ------------------------------------------------------------------------------


@pytest.mark.parametrize("page", one_in(2, PAGES))
def test_console_blocks(page, tmp_path):
    console, skipped = docs.Console(str(tmp_path)), []
    for command in [c for block in docs.commands(PAGES[page]) for c in block]:
        try:
            printed = console(command.text)
        except LookupError as missing:
            skipped.append(str(missing))
            continue
        same = docs.matches(command.expected, printed)
        assert same, "\n".join([f"{page}: $ {command.text}", *printed, "(scripts/docs repairs it)"])
    if skipped:
        pytest.skip(skipped[0])


def test_elisions():
    assert docs.matches(["a", "...", "d"], ["a", "b", "c", "d"])
    assert docs.matches(["a", "...", "d", ""], ["a", "d"])
    assert not docs.matches(["a", "...", "d"], ["a", "b"])
    assert not docs.matches(["a.c"], ["abc"])


def test_one_rounding_error_is_as_good_as_another():
    assert docs.matches(["b  ✓    6e-13 at most, at x[0]"], ["b  ✓    1e-12 at most, at x[1]"])
    assert docs.matches(["b  ✓    exact"], ["b  ✓    2e-16 at most, at x[0,1]"])
    assert not docs.matches(["b  ✓    6e-13 at most, at x[0]"], ["b  ✓    6e-03 at most, at x[0]"])
    assert not docs.matches(["b  ✓    exact"], ["b  ✗    exact"])
    assert not docs.matches(["exactly as"], ["6e-13 at most, at x as"])


def test_refreshing_keeps_what_holds():
    page = "```console\n$ gradcli --version\n...\n$ echo one | cat\n2\n```\n"
    complaints = []
    made = docs.refreshed(page, lambda *complaint: complaints.append(complaint))
    assert made == page.replace("2", "one")
    assert not complaints
    page = page.replace("...", "nothing\n...")
    docs.refreshed(page, lambda *complaint: complaints.append(complaint))
    assert [command.text for command, _ in complaints] == ["gradcli --version"]


# ---- generated pages -----------------------------------------------------------------------------


def test_operators_are_up_to_date():
    assert PAGES["docs/operators.md"] == docs.operators(), "scripts/docs repairs it"


def test_the_index_of_operators_leads_to_the_families():
    page = PAGES["docs/operators.md"]
    entries = dict(re.findall(r"\[([^]]+)\]\(#([^)]+)\)", page.split("\n## ")[1]))
    for name in ("relu", "clip", "T", "F.softmax", "sort", "linalg.qr"):
        family = re.search(rf"### ([^\n]+)\n(?:(?!\n##).)*`(?:x\.)?{name}[(`]", page, re.DOTALL)
        assert entries[name] in anchors(f"# {family[1]}"), name
    headings = re.findall(r"^#+ .*$", page, re.MULTILINE)
    assert len(anchors(page)) == len(headings)
    assert "gelu_backward" not in page


def test_names_are_found_where_they_are_defined():
    assert Path(INDEX).read_text("utf-8") == docs.index(), "scripts/docs repairs it"
    assert {name: lookup(name) for name in functions()} == functions()


def test_kinks_are_up_to_date():
    made = docs.refreshed(docs.kinks_page(), lambda *complaint: None)
    assert PAGES["docs/kinks.md"] == made, "scripts/docs repairs it"


@pytest.mark.parametrize("page", ["docs/errors.md", "docs/requests.md"])
def test_tables_are_up_to_date(page):
    assert PAGES[page] == docs.tables(PAGES[page]), "scripts/docs repairs it"


def test_every_code_has_a_section_that_provokes_it(tmp_path):
    page = PAGES["docs/errors.md"]
    sections = dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    assert list(sections) == list(CODES)
    for code, section in sections.items():
        (block,) = docs.commands(section)
        printed = "\n".join(docs.Console(str(tmp_path))(block[0].text))
        assert f"error[{code}]: " in printed or f'"code": "{code}"' in printed
        assert "\nCure: " in section


# ---- links, code, options ------------------------------------------------------------------------


def anchors(page: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    text = docs.FENCE.sub("", page)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


@each_page
def test_links(page):
    text = re.sub(r"`[^`\n]*`(?!\])", "", docs.FENCE.sub("", PAGES[page]))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("https://", "http://")):
            continue
        file, _, anchor = target.partition("#")
        path = (ROOT / page).parent / file if file else ROOT / page
        assert path.exists(), target
        if anchor:
            assert anchor in anchors(path.read_text("utf-8")), target


AFTER_ADDING = """
import numpy as np
from gradcli.explanation.catalogue import catalogue
from gradcli.graphs import OPS
from gradcli.render.environment import Environment
from gradcli.render.terminal import render_terminal

x = np.linspace(-2, 2, 8)
added = {
    "squareplus": ("squareplus(x)", np.linspace(1, 2, 8)),
    "pseudo_huber": ("pseudo_huber(x, 0.3 * x, delta=0.5)", np.array(2.0)),
}
for name, (call, seed) in added.items():
    def weighted(x):
        return np.sum(seed * gradcli.explain(call, values={"x": x}, grad=seed).output["value"])

    found = gradcli.grad(call, values={"x": x}, grad=seed)
    slopes = [(weighted(x + step) - weighted(x - step)) / 2e-6 for step in 1e-6 * np.eye(8)]
    np.testing.assert_allclose(found, slopes, atol=1e-8)

    explained = str(gradcli.explain(call, shapes={"x": (2,)}))
    assert call in explained and "x.grad = " in explained
    page = render_terminal(catalogue(name), Environment())
    assert OPS[name].signature() in page and "rule" in page
"""


def executed(page: str, *more: str) -> None:
    """Run the Python of a page, in a process of its own."""
    program = "\n".join([*code(page, "python"), *more])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def pages_of_python():
    """The pages with Python in them; those that import PyTorch are for where it is installed."""
    for page in PAGES:
        blocks = code(page, "python")
        if blocks:
            oracle = any("import torch" in block for block in blocks)
            yield pytest.param(page, marks=[pytest.mark.oracle] if oracle else [])


@pytest.mark.parametrize("page", list(pages_of_python()))
def test_python_blocks(page):
    executed(page, *([AFTER_ADDING] if page == "docs/adding-an-operator.md" else []))


@cache
def help_of(*command: str) -> str:
    return "\n".join(docs.Console(".")(" ".join(["gradcli", *command, "--help"])))


def options(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", text)) - {"-h", "--help", "--seed"}


COMMANDS = re.findall(r"^\| .*`gradcli ([\w-]+) ?[^`]*` \|", PAGES["README.md"], re.MULTILINE)


def test_readme_lists_all_commands():
    listed, _, _ = help_of().partition("Options:")
    assert re.findall(r"^  ([\w-]+)  +[A-Z]", listed, re.MULTILINE) == COMMANDS


def test_readme_lists_all_options():
    rows = re.findall(r"^\| (`-.*?) \|", PAGES["README.md"], re.MULTILINE)
    listed = help_of("explain") + help_of("check")
    own = re.findall(r"^  (?:-\w, |    )--[\w-]+", listed, re.MULTILINE)
    assert options("\n".join(rows)) == options("\n".join(own))


@pytest.mark.parametrize("command", COMMANDS)
def test_help_mentions_what_the_pages_use(command):
    """Each option of a command, in whatever text of a page it occurs."""
    text = "\n".join(PAGES.values()).replace("\\\n", "")
    used = set()
    for call in re.findall(rf"gradcli {command} ([^`|\n]*)", text):
        used |= options(re.sub(r'"[^"]*"', "", call))
    assert used <= options(help_of(command))


def test_readme_lists_all_limits():
    rows = re.findall(r"^\| `(\w+)` \| ([\d,]+) \|", PAGES["README.md"], re.MULTILINE)
    defaults = DEFAULTS | {"seconds": 2}  # before tests/conftest.py raises it
    assert {name: int(size.replace(",", "")) for name, size in rows} == defaults


def test_readme_lists_all_sections():
    from gradcli.explanation.choices import SECTIONS

    table = PAGES["README.md"].partition("| section |")[2].partition("\n\n")[0]
    assert tuple(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == SECTIONS


def test_the_map_has_a_row_for_every_folder():
    page = PAGES["docs/architecture.md"]
    rows = re.findall(r"^\| `([\w/]+)/` \| .*\|$", page, re.MULTILINE)
    code = {path for path in (ROOT / "gradcli").rglob("*.py") if "__pycache__" not in path.parts}
    folders = {path.parent.relative_to(ROOT / "gradcli").as_posix() for path in code}
    assert sorted(rows) == sorted(folders - {"."} | {"snippets/library/sources"})


def test_files_that_the_architecture_names_are_there():
    """Written as a path, as `notation/formulas/rules` and `explanation/replies.py` are."""
    page = docs.FENCE.sub("", PAGES["docs/architecture.md"])
    homes = ROOT, ROOT / "gradcli"
    for name in re.findall(r"`([a-z_.]+/[\w/.]*)`", page):
        assert any((home / f"{name}{end}").exists() for home in homes for end in ("", ".py")), name


def test_the_page_on_operators_has_all_fields_but_those_of_families():
    of_families = {"family", "shape", "value", "attributes", "canonical_attributes", "shape_only"}
    fields = {*Operator.__annotations__} - of_families
    assert fields <= set(re.findall(r"`(\w+)`", PAGES["docs/adding-an-operator.md"]))


def test_a_name_with_its_module_has_a_page_of_its_own():
    def first(name):
        return gradcli("ops", name).out.split("(")[0]

    assert first("unfold") == first("Tensor.unfold") == first("torch.Tensor.unfold") == "unfold"
    assert first("F.unfold") == first("torch.nn.functional.unfold") == "im2col"
    assert (first("np.std"), first("jax.nn.gelu")) == ("np.std", "jax.nn.gelu")
    assert first("torch.std") == "std"
    refused = gradcli("ops", "torch.fft.rfft")
    assert (refused.status, refused.out) == (2, "")
    assert "complex" in refused.err


# ---- docstrings ----------------------------------------------------------------------------------


def _docstrings(tree):
    nodes = (ast.Module, ast.ClassDef, ast.FunctionDef)
    texts = (ast.get_docstring(n, clean=False) for n in ast.walk(tree) if isinstance(n, nodes))
    return [text for text in texts if text]


def _known_names(trees):
    """What a docstring may name beside the names of its file: files, what they define, operators,
    fields of an operator, codes of errors, keys in JSON, and names of PyTorch.
    """
    known = {part for name in functions() for part in name.split(".")}
    known |= {part for path in trees for part in path.with_suffix("").parts}
    known |= {n.name for t in trees.values() for n in t.body if hasattr(n, "name")}
    known |= {*Operator.__annotations__, *CODES}.union(*in_pytorch().values(), in_pytorch())
    schema = json.loads((ROOT / "docs" / "schema.json").read_text("utf-8"))
    return known.union(*(d.get("properties", ()) for d in (schema, *schema["$defs"].values())))


@pytest.mark.sweep
def test_what_a_docstring_names_is_there():
    """A name in backticks, of at least two letters; those that a rename leaves behind are not."""
    paths = (ROOT / "gradcli").rglob("*.py")
    texts = {path: path.read_text("utf-8") for path in paths if "__pycache__" not in path.parts}
    trees = {path.relative_to(ROOT): ast.parse(text) for path, text in texts.items()}
    known, missing = _known_names(trees), []
    for (path, tree), code in zip(trees.items(), texts.values(), strict=True):
        docstrings = _docstrings(tree)
        for docstring in docstrings:
            code = code.replace(docstring, "", 1)
        here = known.union(re.findall(r"\w+", code))
        named = re.findall(r"`([a-zA-Z]\w+)`", "".join(docstrings))
        missing += [f"{path}: {name}" for name in named if name not in here]
    assert missing == []
