"""Inserts into a program, before it runs, values from the request and a name for its last value.

A tensor that the program creates gets the value of the request as by `x.data = value`, so its
requires_grad and grad_fn do not change.
"""

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ..lazy import np
from ..snippets.eager.tensor import Tensor
from ..snippets.python.values import Builtin, Machine

LAST = "_"  # the name for the last value
GIVEN = "value given for "  # prefix of a name that no program can use


class Inserted:
    """What is inserted: `values` by name, where names that the program does not define become
    tensors that require a gradient if `requires_grad(name)`; `further` names; and `start`, the
    random seed in effect until the program sets one.
    """

    def __init__(
        self,
        values: Mapping[str, Any],
        requires_grad: Callable[[str], bool],
        further: Mapping[str, Any],
        start: int = 0,
    ):
        self.values, self.requires_grad, self.further = values, requires_grad, further
        self.start = start
        self.computed: list[str] = []  # names whose value replaces a computed tensor

    def names(self) -> dict[str, Any]:
        """The names that are defined before the program runs."""
        builtins = {GIVEN + name: Builtin(name, partial(self._give, name)) for name in self.values}
        leaves = {name: _tensor(array) for name, array in self.values.items()}
        for name, tensor in leaves.items():
            tensor.requires_grad = tensor.dtype.is_floating and self.requires_grad(name)
        return {**self.further, **leaves, **builtins}

    def _give(self, name: str, m: Machine, computed: Any) -> Any:
        """The value of a name in the program, replaced by the value passed for it."""
        if not isinstance(computed, Tensor):
            array = self.values[name]
            return array.item() if array.shape == () else array.tolist()
        if computed.record is not None:
            self.computed.append(name)
        computed.data = self.values[name].astype(computed.dtype.numpy)
        return computed

    def change(self, tree: ast.Module) -> ast.Module:
        """The syntax tree of the program with the insertions."""
        left = set(self.values)
        body: list[ast.stmt] = []
        for statement in tree.body:
            body.append(statement)
            for name in _assigned(statement):
                if name in left:
                    left.remove(name)
                    body.append(_assignment(name, statement))
        return ast.fix_missing_locations(ast.Module(_last_named(body), []))


def _tensor(array: Any) -> Tensor:
    return Tensor(array.astype(np.float32) if array.dtype.kind == "f" else np.array(array))


def _assigned(statement: ast.stmt) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]


def _assignment(name: str, place: ast.stmt) -> ast.stmt:
    """A statement that assigns a value to a name."""
    call = ast.Call(ast.Name(GIVEN + name, ast.Load()), [ast.Name(name, ast.Load())], [])
    return ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], call), place)


def _last_named(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements; the last one also assigns its value to the name LAST."""
    if not body:
        return []
    *before, last = body
    if isinstance(last, ast.Expr):
        named = ast.Assign([ast.Name(LAST, ast.Store())], last.value)
        return [*before, ast.copy_location(named, last)]
    if isinstance(last, ast.Assign | ast.AnnAssign | ast.AugAssign):
        target = last.targets[-1] if isinstance(last, ast.Assign) else last.target
        if isinstance(target, ast.Name):
            value = ast.Name(target.id, ast.Load())
            named = ast.Assign([ast.Name(LAST, ast.Store())], value)
            return [*body, ast.copy_location(named, last)]
    return list(body)
