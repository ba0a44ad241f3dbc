"""Gradients as books print them: what gradcli's formulas are measured against.

A text holds identities of one kind. Each entry says where it is from, the shapes by letters, the
expression, and the closed form of the gradient by each input, in the language, written as the
source has it or derived by hand; never what gradcli answers. `g` is the seed, and where the output
is a scalar there is none. The names of the program's statements may be used.

    Matrix Cookbook 81 | x: n, B: n n | x @ B @ x | x: (B + B.T) @ x

Fields of an entry are also lines of their own, indented by four spaces; eight continue a line.
After the shapes an entry may have an assumption (`A=symmetric`), and what it is if no gradient
(`hessian`, `jacobian`). A shape may end in what the values are: `real` (of any sign; all others are
positive), `regular` (far from singular), `posdef`, `symmetric`, `orthogonal`, `diagonal`, `mask`,
`unit` (between 0 and 1), `large`, `index=c` (integers below c).
"""

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

KINDS = {
    *("real", "regular", "posdef", "symmetric", "orthogonal", "diagonal"),
    *("mask", "unit", "large"),
}
SIZES = ((3, 5, 2, 7, 4, 6), (4, 2, 5, 3, 7, 6))  # what the letters stand for, in two settings


class Identity(NamedTuple):
    """The derivative of `expr` by `wrt` is `form`; `kind` is gradient, hessian or jacobian."""

    source: str
    expr: str
    inputs: tuple[tuple[str, tuple[str, ...], str], ...]
    wrt: str
    form: str
    assume: str
    kind: str

    def __str__(self) -> str:
        return f"{self.expr} by {self.wrt}"

    def shapes(self, setting: int) -> dict[str, tuple[int, ...]]:
        """The shapes of the inputs in one of the settings."""
        letters = [n for _, sizes, kind in self.inputs for n in (*sizes, kind[6:])]
        named = dict.fromkeys(n for n in letters if n.isalpha())
        meaning = dict(zip(named, SIZES[setting], strict=False))
        return {
            name: tuple(meaning[n] if n in meaning else int(n) for n in sizes)
            for name, sizes, _ in self.inputs
        }

    def values(self, setting: int) -> dict[str, np.ndarray]:
        """Random values of the inputs in one of the settings."""
        draw = np.random.default_rng(setting)
        shapes = self.shapes(setting)
        sizes = {
            letter: n
            for name, letters, _ in self.inputs
            for letter, n in zip(letters, shapes[name], strict=True)
        }
        return {name: value(draw, shapes[name], kind, sizes) for name, _, kind in self.inputs}


def value(draw, shape, kind, sizes):
    """A random array of a kind."""
    match kind.partition("=")[0]:
        case "real":
            return draw.normal(size=shape)
        case "regular":
            return draw.uniform(0.2, 1.0, shape) + shape[-1] * np.eye(shape[-1])
        case "posdef":
            a = draw.normal(size=shape)
            return a @ np.swapaxes(a, -1, -2) + np.eye(shape[-1])
        case "symmetric":
            a = draw.normal(size=shape)
            return a + np.swapaxes(a, -1, -2)
        case "orthogonal":
            return np.linalg.qr(draw.normal(size=shape))[0]
        case "diagonal":
            return np.diag(draw.uniform(0.5, 1.5, shape[0]))
        case "mask":
            return np.arange(np.prod(shape)).reshape(shape) % 2 == 0
        case "unit":
            return draw.uniform(0.1, 0.9, shape)
        case "large":
            return draw.uniform(8, 9, shape)
        case "index":
            letter = kind.partition("=")[2]
            return draw.integers(0, sizes.get(letter) or int(letter), shape)
        case _:
            return draw.uniform(0.3, 1.7, shape)


def inputs_of(shapes):
    """Name, sizes and kind of values of each input."""
    for item in shapes.split(","):
        name, _, sizes = item.partition(":")
        *letters, last = sizes.split() or [""]
        special = last in KINDS or last.startswith("index")
        letters = letters if special or not last else [*letters, last]
        yield name.strip(), tuple(letters), last if special else ""


def identities_of(entry):
    """The identities of an expression, one for each input that a form is given for."""
    head, *lines = re.sub(r"\n {8,}", " ", entry).split("\n    ")
    source, shapes, *fields = [*head.split(" | "), *lines]
    assume = fields.pop(0) if re.fullmatch(r"(\w+=[a-z]+(, ?)?)+", fields[0]) else ""
    kind = fields.pop(0) if fields[0] in ("hessian", "jacobian") else "gradient"
    expr, *forms = fields
    for wrt, _, form in (f.partition(": ") for f in forms):
        yield Identity(source, expr, tuple(inputs_of(shapes)), wrt, form, assume, kind)


def identities(name):
    """All identities of a text."""
    text = (Path(__file__).parent / f"{name}.txt").read_text(encoding="utf-8")
    entries = re.sub(r"(?m)^(#.*)?\n", "", text).rstrip("\n")
    return [i for entry in re.split(r"\n(?=\S)", entries) for i in identities_of(entry)]
