"""Those who read LaTeX: KaTeX in strict mode, and pdflatex, where they are installed."""

import atexit
import json
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

SCRIPT = """
const katex = require("katex");
require("readline").createInterface({input: process.stdin}).on("line", (line) => {
  const wrong = [];
  for (const formula of JSON.parse(line)) {
    try {
      // KaTeX expands 1,000 macros by default, and a matrix with long entries has more
      const options = {displayMode: true, strict: "error", throwOnError: true, maxExpand: 100000};
      katex.renderToString(formula, options);
    } catch (error) {
      wrong.push([error.message, formula]);
    }
  }
  console.log(JSON.stringify(wrong));
});
"""
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


KATEX = modules("katex")


@cache
def _reader() -> subprocess.Popen[str]:
    """A process that KaTeX runs in, a line of formulas in and a line out, until the tests end."""
    process = subprocess.Popen(
        ["node", "-e", SCRIPT],
        env={"NODE_PATH": KATEX or "", "PATH": "/usr/local/bin:/usr/bin:/bin"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(process.communicate)
    return process


def checked_by_katex(formulas: list[str]) -> list[list[str]]:
    """What KaTeX says of formulas that it does not read, with each of these."""
    reader = _reader()
    assert reader.stdin
    assert reader.stdout
    reader.stdin.write(json.dumps(formulas) + "\n")
    reader.stdin.flush()
    return json.loads(reader.stdout.readline())


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
