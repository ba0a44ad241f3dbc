"""Remarks on printed digits that may differ from PyTorch's."""

import re
from collections.abc import Iterator
from typing import Any

from ...lazy import np
from ...snippets.eager.tensor import Tensor
from ...snippets.reading import Reading
from ...snippets.trace import Backward
from .changes import Finding, evidence
from .steps import layer_operands, records
from .uses import gradient_is_read, optimisers_of

NUMBER = re.compile(r"(?<![\w.])-?\d*\.\d+(?:e[-+]?\d+)?")
SURE = {2: 2, 4: 6, 8: 15}  # significant digits that are certain, by bytes per element
ROUNDED_AWAY = "0" * 20
MOST = 3  # operations that are named in a remark


def last_digits(reading: Reading, _: Any) -> Iterator[Finding]:
    """The finding that the program prints more digits than are certain, after operations that
    PyTorch may round differently.
    """
    for size, lines in reading.trace.unsure.items():
        first = min(lines.values())
        ties = reading.trace.near_ties
        shown = [
            n
            for n, text in reading.trace.prints
            if n >= first and (n in ties or _digits(text) > SURE[size])
        ]
        if shown:
            names = [*lines][:MOST]
            yield Finding(
                "last-digits",
                f"The last digits that line {shown[0]} prints are uncertain",
                f"PyTorch's {_listed(names)} may round the last digit differently, depending on "
                f"the processor; the first {SURE[size]} digits agree unless "
                "almost equal numbers are subtracted.",
                "",
                shown[0],
                evidence(reading, *_computed(lines, names)),
            )
            return


LEFT = {4: 2e-6, 8: 1e-14}  # a sum that is so small beside its terms is only their rounding
NOT_SCALED = ("SGD", "ASGD")  # optimisers whose steps are proportional to the gradient


def cancelled(reading: Reading, _: Any) -> Iterator[Finding]:
    """The finding that the terms of a bias's gradient cancel, as before a batch norm, and only
    their rounding is left, if that is printed or an optimiser scales it to the size of other steps.
    """
    first = {back.line: back for back in reversed(reading.backwards)}
    for back in first.values():
        for record in records(back):
            layer = [t for t in layer_operands(record) if isinstance(t, Tensor)]
            bias = layer[2] if len(layer) == 3 and _cancels(back, *layer) else None
            name = bias and (back.paths.get(bias) or back.called.get(bias))
            if bias is None or not name:
                continue
            scaling = [o for o in optimisers_of(reading, bias) if o not in NOT_SCALED]
            if scaling or gradient_is_read(reading, name):
                yield _only_rounding(reading, back.line, name, scaling)
                return


def _cancels(back: Backward, x: Tensor, weight: Tensor, bias: Tensor) -> bool:
    """Whether the gradient of an element of a layer's bias is small beside its terms. Their sum
    without signs is at least the weight's gradient over the largest input.
    """
    of_weight, of_bias = back.results.get(weight), back.results.get(bias)
    if of_weight is None or of_bias is None or of_weight.shape[:1] != of_bias.shape:
        return False
    most = np.abs(x.data).max(initial=0)
    terms = np.abs(of_weight).reshape(len(of_bias), -1).max(1, initial=0)
    left = np.abs(of_bias) * most
    return bool(((left > 0) & (left < LEFT.get(of_bias.itemsize, 0) * terms)).any())


def _only_rounding(reading: Reading, line: int, name: str, scaling: list[str]) -> Finding:
    why = (
        "The terms of its sum cancel, as before a normalisation, which subtracts the mean: it is "
        "0 but for rounding, which depends on the order of the sum."
    )
    if scaling:
        why += f" {scaling[0]} divides it by its own size: {name} moves as far as other parameters."
    return Finding(
        "only-rounding",
        f"{name}.grad is only rounding: its digits, and what is computed from them, are uncertain",
        why,
        "bias=False in a layer before a normalisation.",
        line,
        evidence(reading, (line, f"sends rounding to {name}")),
    )


def _computed(lines: dict[str, int], names: list[str]) -> Iterator[tuple[int, str]]:
    """Remarks on lines: which of the operations `names` they compute."""
    for line in dict.fromkeys(lines[n] for n in names):
        yield line, f"computes {_listed([n for n in names if lines[n] == line])}"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _digits(text: str) -> int:
    """The number of significant digits of the longest number in a text."""
    return max((len(_significant(n)) for n in NUMBER.findall(text)), default=0)


def _significant(number: str) -> str:
    """The significant digits of a number. For `-0.000`, a small number rounded to 0, more digits
    than are certain, as its sign is not.
    """
    digits = number.partition("e")[0].replace(".", "").lstrip("-0")
    return digits or (ROUNDED_AWAY if number.startswith("-") else "")
