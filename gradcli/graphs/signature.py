"""Signatures of nodes: texts that identify a computation, equal in every process."""

from _blake2 import blake2b  # importing hashlib would load OpenSSL
from collections.abc import MutableMapping
from typing import Any
from weakref import WeakKeyDictionary

from .node import Node, walk

LENGTH = 8  # bytes of a digest
SUFFIX = "\0"  # in the name of an input, begins a suffix that is not part of the signature

_signatures: MutableMapping[Node | None, str] = WeakKeyDictionary()


def signature(node: Node) -> str:
    """The name of an input; for other nodes a digest of the operator, attributes and inputs."""
    for n in walk([node], lambda n: () if n in _signatures else n.inputs):
        if n not in _signatures:
            name = n.attrs["name"] if n.op.name == "input" else None
            _signatures[n] = _digest(n) if name is None else name.rsplit(SUFFIX, 1)[0]
    return _signatures[node]


def _digest(n: Node) -> str:
    inputs = ["" if i is None else _signatures[i] for i in n.inputs]
    attrs = ", ".join(f"{name!r}: {_attribute_text(value)}" for name, value in n.attrs.items())
    return digest("\n".join((n.op.name, f"{{{attrs}}}", *inputs)).encode())


def _attribute_text(value: Any) -> str:
    """The text of an attribute, independent of the addresses of arrays."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_attribute_text, value))}{',' * (len(value) == 1)})"
    return getattr(value, "signature", None) or repr(value)


def digest(data: bytes) -> str:
    """A digest of `data`, as hexadecimal digits."""
    return blake2b(data, digest_size=LENGTH).hexdigest()
