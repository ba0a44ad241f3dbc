"""A graph as a PyTorch program, generated from the graph and executed."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F

from ..graphs import Node
from ..lazy import np
from ..notation import tree
from ..notation.code.statements import Names, Statements
from ..notation.code.torch_code import TorchWriter
from ..notation.tree import Name
from . import Answer, NotSupported


def answer(
    out: Node, values: Mapping[Node, Any], seed: Any, wrt: list[Node], earlier: Sequence[Node]
) -> Answer:
    """Value and gradients, as in `frameworks.answer`."""
    names = {node: Name(f"x{k}") for k, node in enumerate(values)}
    tensors = {node: torch.tensor(np.asarray(value)) for node, value in values.items()}
    for node in wrt:
        tensors[node].requires_grad_()
    scope = {"torch": torch, "F": F, "inf": torch.inf, "nan": torch.nan}
    scope |= {names[n].text: t for n, t in tensors.items()}
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        inputs = [tensors[n] for n in wrt]
        result = _value(out, names, scope)
        for node in earlier:
            sent = torch.as_tensor(_value(node, names, scope))
            (result,) = torch.autograd.grad(result, inputs, sent, create_graph=True)
        grads = torch.autograd.grad(result, inputs, torch.as_tensor(seed), allow_unused=True)
    except (RuntimeError, NotImplementedError, TypeError, AttributeError) as error:
        raise NotSupported(str(error).splitlines()[0]) from None
    finally:
        torch.set_default_dtype(before)
    return Answer(
        result.detach().numpy(), {n: None if g is None else g.numpy() for n, g in zip(wrt, grads)}
    )


def _value(node: Node, names: Mapping[Node, Name], scope: Mapping[str, Any]) -> Any:
    """The value of a node, by generated statements, so that a shared node is computed once."""
    written = Statements(TorchWriter(names), [node], {}, Names(scope))
    values = dict(scope)
    for line in written.lines:
        values[line.name] = eval(line.text, values)
    return eval(tree.text(written.formulas[0]), values)
