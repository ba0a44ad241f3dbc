"""How people write the gradient of W: `dW`, `W.grad`, `grad_W`, `dL/dW`, `∂L/∂W`, `∇W`."""

import re
from collections.abc import Iterator

from ...language.given.options import values_apart

PREFIXES = ("", "d", "d_", "grad_")  # before a name
SUFFIX = "_grad"  # after it
QUOTIENT = re.compile(r"d\w*?_d(\w+)")  # what dL/dW is read as
SEEDS = ("grad_out", "grad_outputs", "gout")  # the seed, whatever the output is called

GRAD = re.compile(r"(?<=\w)\.grad\b(?!\()")
NABLA = re.compile(r"∇(?=_?[^\W\d])")
# `∂L/∂W` anywhere; `dL/dW` where something is claimed of it.
FRACTION = r"{d}(?:\w*|\(\w+\))[ ]?/[ ]?{d}[^\W\d]\w*"
CLAIMED = rf"(?:^|(?<=[;\n]))[ ]*{FRACTION.format(d='d')}(?=\s*[:+]?=[^=])"
FRACTIONS = re.compile(f"{FRACTION.format(d='∂')}|{CLAIMED}")
# `x^T`, `xᵀ` and `x'`; a text between quotes has none.
TRANSPOSED = re.compile(
    r"""(?P<text>(?<![\w)\]'])(?:"[^"\n]*"|'[^'\n]*'))"""
    r"""|[ ]?\^[ ]?(?:T\b|⊤|\\(?:top|intercal)\b|\{(?:T|⊤|\\top|\\intercal)\})"""
    r"""|[ᵀ⊤]|(?<=[\w)\]'])'"""
)
# `W:`, `W :=` and `W +=`, where a statement begins.
HEAD = re.compile(r"(^|[;\n])([ ]*)(\w+)([ ]*)(:=?|\+=)(?=[^=])")


def as_names(text: str) -> str:
    """A claim in which every gradient has a name that is one for Python, as long as it was:
    `dL_dW = x.T @ g` for `dL/dW = x.T @ g`. `W: ...` is `W= ...`, and so is `W += ...`, the first
    time; a comma between claims is a semicolon. A transpose is `x.T`, however it is written.
    """
    text = TRANSPOSED.sub(lambda found: found["text"] or ".T", text)
    for above in {found[0].partition("/")[0].strip() for found in FRACTIONS.finditer(text)}:
        fraction = rf"(?<![\w∂.]){re.escape(above)}[ ]?/[ ]?[d∂][^\W\d]\w*"
        text = re.sub(fraction, lambda f: re.sub(r"\W", "_", f[0].replace("∂", "d")), text)
    text = GRAD.sub(SUFFIX, NABLA.sub("d", text))
    return ";".join(values_apart(HEAD.sub(_equated, text)))


def _equated(head: re.Match[str]) -> str:
    before, space, name, gap, sign = head.groups()
    again = re.search(rf"(?<!\w){name}\s*[+:]?=", head.string[: head.start()])
    return head[0] if again else f"{before}{space}{name}{gap}{'=':>{len(sign)}}"


def meant(name: str) -> Iterator[str]:
    """What `name` may be the gradient of."""
    yield from (name.removeprefix(p) for p in PREFIXES if name.startswith(p))
    yield name.removesuffix(SUFFIX)
    quotient = QUOTIENT.fullmatch(name)
    if quotient is not None:
        yield quotient[1]


def means_seed(name: str, out: str) -> bool:
    """Whether `name` is the gradient that flows into the output, which is called `out`."""
    return name in SEEDS or not {out, "out", "output"}.isdisjoint([*meant(name)][1:])
