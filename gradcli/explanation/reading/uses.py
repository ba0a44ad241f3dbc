"""What a program does with gradients: which of them it reads, and which optimisers use them."""

import re
from collections.abc import Iterator

from ...snippets.eager.tensor import Tensor
from ...snippets.reading import Reading


def gradient_is_read(reading: Reading, name: str) -> bool:
    """Whether a program reads the .grad of a tensor, by its name or in a loop over parameters."""
    source = re.sub(r"\[(\d+)\]", r".\1", reading.source)
    looped = "." in name and re.search(r"parameters\(\)[^#]*\.grad\b", source, re.S)
    return bool(looped or re.search(rf"\b{re.escape(name)}\.grad\b", source))


def optimisers_of(reading: Reading, tensor: Tensor) -> Iterator[str]:
    """The classes of the optimisers that have updated a tensor."""
    for value in reading.outcome.scope.values():
        fields = getattr(value, "fields", None) or {}
        groups = fields.get("param_groups", ()) if fields.get("_stepped") else ()
        if any(tensor is p for group in groups for p in group["params"]):
            yield value.cls.name
