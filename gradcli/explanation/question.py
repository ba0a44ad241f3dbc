"""The question that a document answers, for formats that show it above the answer."""

from ..language.arguments.seeds import Seed
from ..language.problem import Problem
from .blocks import Document

LONGEST_SEED = 60  # characters of a seed that is written into the call


def with_question(document: Document, p: Problem, command: str, backward: bool = True) -> Document:
    """The document with its question, and the command that reproduces it."""
    return document._replace(question=question(p, backward), command=command)


def question(p: Problem, backward: bool = True) -> str:
    """The program with its output named, followed by the call of backward() if a seed was given."""
    text, seed = p.program.named(p.out_name), p.seed
    if not backward or p.lower_order is not None or seed.implicit or seed.value is None:
        return text
    written = _numbers(seed) if seed.text is None else seed.text
    fits = 0 < len(written) <= LONGEST_SEED and "\n" not in written
    if seed.text is None and fits:  # under the name that the answer uses
        return f"{text}\n{seed.name} = {written}\n{p.out_name}.backward({seed.name})"
    return f"{text}\n{p.out_name}.backward({written if fits else seed.name})"


def _numbers(seed: Seed) -> str:
    """A seed that was given as numbers, in PyTorch; "" if they are many."""
    if seed.array is None or seed.array.size > LONGEST_SEED:
        return ""
    from ..notation.code.torch_code import array

    return array(seed.array)
