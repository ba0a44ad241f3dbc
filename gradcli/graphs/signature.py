"""A text for what a node computes: the same in every process, whatever was asked before."""

from _blake2 import blake2b  # as hashlib has it, which loads all of OpenSSL beside it
from collections.abc import MutableMapping
from typing import Any
from weakref import WeakKeyDictionary

from .node import Node, walk

LENGTH = 8  # bytes
APART = "\0"  # what follows it in an input's name tells apart inputs that stand for the same

_known: MutableMapping[Node | None, str] = WeakKeyDictionary()


def signature(node: Node) -> str:
    """An input's name; for what is computed a digest of the operator, attributes and inputs."""
    for n in walk([node], lambda n: () if n in _known else n.inputs):
        if n not in _known:
            name = n.attrs["name"] if n.op.name == "input" else None
            _known[n] = _digest(n) if name is None else name.rsplit(APART, 1)[0]
    return _known[node]


def _digest(n: Node) -> str:
    inputs = ["" if i is None else _known[i] for i in n.inputs]
    attrs = ", ".join(f"{name!r}: {_written(value)}" for name, value in n.attrs.items())
    return digest("\n".join((n.op.name, f"{{{attrs}}}", *inputs)).encode())


def _written(value: Any) -> str:
    """An attribute as a text, in which an array has no address."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_written, value))}{',' * (len(value) == 1)})"
    return getattr(value, "signature", None) or repr(value)


def digest(data: bytes) -> str:
    """A short text for data of any length."""
    return blake2b(data, digest_size=LENGTH).hexdigest()
