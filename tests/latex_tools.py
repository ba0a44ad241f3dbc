"""Those who read LaTeX: KaTeX in strict mode, MathJax and pdflatex, where they are installed."""

import atexit
import json
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

# each line in is a list of formulas, and each line out what is wrong with some
SCRIPT = """
%s
require("readline").createInterface({input: process.stdin}).on("line", (line) => {
  const wrong = [];
  for (const formula of JSON.parse(line)) {
    try {
      read(formula);
    } catch (error) {
      wrong.push([error.message, formula]);
    }
  }
  console.log(JSON.stringify(wrong));
});
"""
# macros are expanded 1,000 times by default, and a matrix with long entries has more
READERS = {
    "katex": """
const katex = require("katex");
const options = {displayMode: true, strict: "error", throwOnError: true, maxExpand: 100000};
const read = (formula) => katex.renderToString(formula, options);
""",
    "mathjax-full": """
const {mathjax} = require("mathjax-full/js/mathjax.js");
const {TeX} = require("mathjax-full/js/input/tex.js");
const {STATE} = require("mathjax-full/js/core/MathItem.js");
const {liteAdaptor} = require("mathjax-full/js/adaptors/liteAdaptor.js");
require("mathjax-full/js/handlers/html.js").RegisterHTMLHandler(liteAdaptor());
require("mathjax-full/js/input/tex/ams/AmsConfiguration.js");
const formatError = (jax, error) => { throw error; };
const input = new TeX({packages: ["base", "ams"], maxMacros: 100000, formatError});
const page = mathjax.document("", {InputJax: input});
const read = (formula) => page.convert(formula, {display: true, end: STATE.COMPILE});
""",
}
DISPLAYED = re.compile(r"\\begin\{align\*\}.*?\\end\{align\*\}|\\\[(.*?)\\\]", re.DOTALL)
NO_MATHEMATICS = re.compile(r"\\begin\{verbatim\}.*?\\end\{verbatim\}|^%.*?$", re.DOTALL | re.M)
PREAMBLE = r"""\documentclass{article}
\usepackage[paperwidth=200cm,paperheight=500cm]{geometry}
\usepackage{amsmath}
\begin{document}
"""
PDFLATEX = shutil.which("pdflatex")


def finds(*files: str) -> bool:
    """Whether pdflatex is installed, with these files."""
    command = ["kpsewhich", *files]
    if PDFLATEX is None or shutil.which(command[0]) is None:
        return False
    return not subprocess.run(command, capture_output=True, check=False).returncode


SLIDES = finds("beamer.cls", "pgfmath.sty")


def modules(package: str) -> str | None:
    """The folder with a package, of those that npm installs into."""
    if shutil.which("node") is None:
        return None
    found = [Path(__file__).parent.parent / "node_modules"]
    if shutil.which("npm") is not None:
        root = subprocess.run(["npm", "root", "-g"], capture_output=True, text=True, check=False)
        found.append(Path(root.stdout.strip()))
    return next((str(folder) for folder in found if (folder / package).is_dir()), None)


FOLDERS = {package: modules(package) for package in READERS}
KATEX = FOLDERS["katex"]
readers = pytest.mark.parametrize(
    "reader",
    [
        pytest.param(
            package,
            marks=pytest.mark.skipif(not folder, reason=f"needs node and its package {package}"),
        )
        for package, folder in FOLDERS.items()
    ],
)


@cache
def _process(package: str) -> subprocess.Popen[str]:
    """A process that a reader runs in, until the tests end."""
    process = subprocess.Popen(
        ["node", "-e", SCRIPT % READERS[package]],
        env={"NODE_PATH": FOLDERS[package] or "", "PATH": "/usr/local/bin:/usr/bin:/bin"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(process.communicate)
    return process


def checked(reader: str, formulas: list[str]) -> list[list[str]]:
    """What KaTeX or MathJax says of formulas that it does not read, with each of these."""
    process = _process(reader)
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps(formulas) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def formulas_in(page: str) -> list[str]:
    """The formulas of a page of LaTeX, displayed and within text."""
    bare = NO_MATHEMATICS.sub("", page)
    shown = [m[1] or m[0] for m in DISPLAYED.finditer(bare)]
    within = re.findall(r"(?<!\\)\$(.*?)(?<!\\)\$", DISPLAYED.sub("", bare), re.DOTALL)
    return [*shown, *within]


def compiled(text: str, folder: Path) -> list[str]:
    """The errors of pdflatex in a document, or in what stands in one."""
    whole = text if "documentclass" in text else f"{PREAMBLE}{text}\n\\end{{document}}\n"
    (folder / "page.tex").write_text(whole, "utf-8")
    command = [PDFLATEX or "pdflatex", "-interaction=nonstopmode", "page.tex"]
    run = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    said = run.stdout.decode("utf-8", "replace").splitlines()
    return [line for line in said if line.startswith("!")]
