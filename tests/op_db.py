"""PyTorch's own database of operators, its samples as the texts that a user would type."""

import random
import re
import warnings
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch.testing._internal.common_methods_invocations import op_db

SEED = 1234
MOST = 100_000  # elements of a sample's tensors: larger ones say no more, and take seconds
MOST_SAMPLES = 300  # of an entry; of more, these are taken at even distances

# How a call is typed, where that is not torch.name(input, *args): {0} is the input, {1:} the rest.
SPELLED = {
    "__getitem__": "{0}[{1}]",
    "__radd__": "{1} + {0}",
    "__rdiv__": "{1} / {0}",
    "__rmatmul__": "{1} @ {0}",
    "__rmod__": "{1} % {0}",
    "__rmul__": "{1} * {0}",
    "__rpow__": "{1} ** {0}",
    "__rsub__": "{1} - {0}",
    "T": "{0}.T",
    "H": "{0}.H",
    "mT": "{0}.mT",
    "mH": "{0}.mH",
    "double": "{0}.double({1:})",
    "einsum": "torch.einsum({1:}, {0})",
    "linalg.pinv.singular": "torch.linalg.pinv({0} @ {1}.mT)",
    "nn.functional.embedding": "torch.nn.functional.embedding({1}, {0}, {2:})",
    "nn.functional.embedding_bag": "torch.nn.functional.embedding_bag({1}, {0}, {2:})",
    "polygamma": "torch.polygamma({1}, {0})",
    "special.polygamma": "torch.special.polygamma({1}, {0})",
    "where": "torch.where({1}, {0}, {2})",
}
# Outputs of which only the sizes are determined, by place: {0} is the call.
UP_TO_SIGN = {
    "linalg.eigh": {1: "abs({0}[1])"},
    "linalg.svd": {
        0: "abs({0}[0][..., :{0}[1].shape[-1]])",
        2: "abs({0}[2][..., :{0}[1].shape[-1], :])",
    },
    "svd": {
        0: "abs({0}[0][..., :{0}[1].shape[-1]])",
        2: "abs({0}[2][..., :{0}[1].shape[-1]])",
    },
}
# What is left out, and why.
REASONS = {
    "complex numbers": r"(fft|complex|cdouble|cfloat|chalf|view_as_complex|polar|stft)\b.*"
    r"|linalg\.eig(vals)?",
    "sparse tensors": r"sparse\..*|to_sparse",
    "masked tensors": r"masked\..*",
    "random numbers": r"bernoulli|normal\b.*|(svd|pca)_lowrank|.*\.fractional_max_pool\dd",
    "other precisions": r"bfloat16|half|float",
    "memory outside of a value": r"as_strided\.partial_views",
    "no public name": r"_(?!_).*|torch\.ops\..*|(?!index_copy).*_copy|zero_|slice|.*_backward",
}


def left_out(name: str) -> str | None:
    """Why an entry is not asked for; None: it is."""
    return next((why for why, names in REASONS.items() if re.fullmatch(names, name)), None)


class Sample(NamedTuple):
    """A call as text, the values of its inputs, and the inputs to differentiate by."""

    text: str
    values: dict[str, np.ndarray]
    wrt: tuple[str, ...]
    entry: str

    def output(self, place: int) -> str:
        """One of several outputs as text."""
        return UP_TO_SIGN.get(self.entry, {}).get(place, f"{{0}}[{place}]").format(f"({self.text})")

    @property
    def tensors(self) -> dict[str, torch.Tensor]:
        """PyTorch's tensors for the inputs, fresh leaves."""
        return {
            name: torch.tensor(value, requires_grad=name in self.wrt)
            for name, value in self.values.items()
        }


@cache
def entries() -> dict[str, Any]:
    """What supports autograd in float64 on the CPU, by name and variant."""
    found = {
        ".".join(filter(None, (op.name, op.variant_test_name))): op
        for op in op_db
        if op.supports_autograd and torch.float64 in op.supported_backward_dtypes("cpu")
    }
    return {name: op for name, op in found.items() if not left_out(name)}


def samples(name: str) -> Iterator[Sample]:
    """The samples of an entry that can be typed: no function and no complex number among them."""
    op = entries()[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = list(_drawn(op.sample_inputs_func(op, "cpu", torch.float64, True)))
    for sample in given[:: 1 + len(given) // MOST_SAMPLES]:
        spelling = _Spelling()
        try:
            text = spelling.call(op.name, name, [sample.input, *sample.args], sample.kwargs)
        except _NotTyped:
            continue
        wrt = tuple(n for n, t in spelling.tensors.items() if t.requires_grad)
        if sum(t.numel() for t in spelling.tensors.values()) > MOST:
            continue
        values = {n: _array(t.detach()) for n, t in spelling.tensors.items()}
        yield Sample(text, values, wrt, name)


def bad_samples(name: str) -> Iterator[Sample]:
    """What an entry says must be refused, where that can be typed."""
    op = entries()[name]
    if op.error_inputs_func is None:
        return
    for error in _drawn(op.error_inputs_func(op, "cpu")):
        given, spelling = error.sample_input, _Spelling()
        try:
            text = spelling.call(op.name, name, [given.input, *given.args], given.kwargs)
        except (_NotTyped, AttributeError):
            continue
        if all(t.device.type == "cpu" and t.ndim <= 64 for t in spelling.tensors.values()):
            values = {n: _array(t.detach()) for n, t in spelling.tensors.items()}
            yield Sample(text, values, tuple(values), name)


def _drawn(found: Iterable[Any]) -> Iterator[Any]:
    """What a generator of the database yields, each from one seed, as its own iterators do, which
    look for the test that runs whenever they start, and keep a stack for every seed.
    """
    rest = iter(found)
    while True:
        torch.default_generator.manual_seed(SEED)
        random.seed(SEED)
        np.random.seed(SEED)
        try:
            one = next(rest)
        except StopIteration:
            return
        yield one


def _array(tensor: torch.Tensor) -> np.ndarray:
    """A copy; in double precision, though some samples mix in single."""
    return (tensor.double() if tensor.is_floating_point() else tensor).numpy().copy()


class _NotTyped(Exception):
    """An argument that is no text in the language."""


class _Spelling:
    def __init__(self) -> None:
        self.tensors: dict[str, torch.Tensor] = {}

    def call(self, name: str, variant: str, args: list[Any], named: dict[str, Any]) -> str:
        if name == "__getitem__":
            args = [args[0], _Index(args[1])]
        texts = list(map(self.text, args))
        rest = [*texts[1:], *(f"{k}={self.text(v)}" for k, v in named.items())]
        pattern = SPELLED.get(variant) or SPELLED.get(name)
        if pattern is None:
            is_function = name.startswith("nn.") or _exists(name)
            pattern = f"torch.{name}({{0}}, {{1:}})" if is_function else f"{{0}}.{name}({{1:}})"
        for k in (2, 1):
            pattern = pattern.replace(f"{{{k}:}}", ", ".join(rest[k - 1 :]))
        return pattern.format(*texts).replace(", )", ")")

    def text(self, value: Any) -> str:
        """A value as it is typed; a tensor becomes an input of its own."""
        if isinstance(value, torch.Tensor):
            if value.is_complex() or value.layout != torch.strided:
                raise _NotTyped
            same = (n for n, t in self.tensors.items() if t is value)
            name = next(same, f"x{len(self.tensors)}")
            self.tensors[name] = value
            return name
        if isinstance(value, _Index):
            items = value.index if isinstance(value.index, tuple) else (value.index,)
            return ", ".join(map(self._item, items))
        if isinstance(value, list | tuple):
            inside = ", ".join(map(self.text, value))
            comma = "," if len(value) == 1 and isinstance(value, tuple) else ""
            return f"[{inside}]" if isinstance(value, list) else f"({inside}{comma})"
        if isinstance(value, torch.dtype | torch.memory_format):
            return str(value)
        if value is None or isinstance(value, bool | int | float | str):
            return repr(value)
        raise _NotTyped

    def _item(self, item: Any) -> str:
        if isinstance(item, slice):
            ends = ["" if e is None else str(e) for e in (item.start, item.stop)]
            return ":".join(ends) + ("" if item.step is None else f":{item.step}")
        return "..." if item is Ellipsis else self.text(item)


class _Index(NamedTuple):
    """What stands between the brackets of a subscript."""

    index: Any


def _exists(path: str) -> bool:
    found: Any = torch
    for part in path.split("."):
        found = getattr(found, part, None)
    return found is not None
