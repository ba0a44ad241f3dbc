"""Libraries that are programs themselves: text in the folder sources, run by the machine.

What a name needs is run when the name is asked for, and nothing else of the file. Their statements
have no lines of their own: an error within them is an error of the line that called them.
"""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from ..python.machine import Interpreter
from ..python.scopes import Scope
from ..python.statements import Statements
from ..python.values import MISSING, Class

FOLDER = Path(__file__).parent / "sources"


HOMES = {  # modules of torch.nn whose classes have their own names
    "module": "Module",
    "linear": "Linear Identity Bilinear NonDynamicallyQuantizableLinear",
    "container": "Sequential ModuleList ModuleDict ParameterList ParameterDict",
    "activation": "ReLU ReLU6 Sigmoid Tanh SiLU Mish GELU LeakyReLU ELU SELU CELU PReLU RReLU "
    "Softplus Softsign Hardtanh LogSigmoid Hardsigmoid Hardswish Softmax LogSoftmax Softmin "
    "Tanhshrink Hardshrink Softshrink Threshold GLU MultiheadAttention",
    "flatten": "Flatten Unflatten",
    "fold": "Fold Unfold",
    "dropout": "Dropout Dropout1d Dropout2d",
    "sparse": "Embedding EmbeddingBag",
    "conv": "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d",
    "pooling": "MaxPool1d MaxPool2d AvgPool1d AvgPool2d AdaptiveAvgPool1d AdaptiveAvgPool2d "
    "AdaptiveMaxPool1d AdaptiveMaxPool2d",
    "normalization": "LayerNorm RMSNorm GroupNorm LocalResponseNorm",
    "batchnorm": "BatchNorm1d BatchNorm2d BatchNorm3d",
    "instancenorm": "InstanceNorm1d InstanceNorm2d",
    "distance": "CosineSimilarity PairwiseDistance",
    "rnn": "RNN GRU LSTM RNNCell GRUCell LSTMCell",
    "transformer": "TransformerEncoderLayer TransformerEncoder",
    "upsampling": "Upsample",
    "pixelshuffle": "PixelShuffle",
}
HOME = {name: f"torch.nn.modules.{home}" for home, names in HOMES.items() for name in names.split()}
ONE_MODULE = {"lr_scheduler": "torch.optim.lr_scheduler", "checks": "torch.autograd.gradcheck"}
A_MODULE_EACH = {"optim": "torch.optim", "distributions": "torch.distributions"}


def home(source: str, name: str) -> str:
    """The module that PyTorch has a class in."""
    if source in A_MODULE_EACH:
        return f"{A_MODULE_EACH[source]}.{name.lower()}"
    if source == "data":
        return f"torch.utils.data.{'dataloader' if name == 'DataLoader' else 'dataset'}"
    if name.endswith(("Loss", "Pad1d", "Pad2d")):
        return f"torch.nn.modules.{'loss' if name.endswith('Loss') else 'padding'}"
    return ONE_MODULE.get(source) or HOME.get(name, "torch")


@cache
def parsed(name: str) -> tuple[list[ast.stmt], dict[str, ast.stmt]]:
    """The imports of a source, and its other statements by the name that they define."""
    tree = ast.parse((FOLDER / f"{name}.txt").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = 0  # type: ignore[attr-defined]
    imports: list[ast.stmt] = [s for s in tree.body if isinstance(s, ast.Import | ast.ImportFrom)]
    named: dict[str, ast.stmt] = {}
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef | ast.FunctionDef):
            named[statement.name] = statement
        elif isinstance(statement, ast.Assign):
            named.update({t.id: statement for t in statement.targets if isinstance(t, ast.Name)})
    return imports, named


def _names(node: ast.AST, bodies: bool) -> Iterator[str]:
    """The names that a statement reads, with or without the bodies of functions in it."""
    if isinstance(node, ast.Name):
        yield node.id
    inside = [] if bodies else getattr(node, "body", [])
    skipped = inside if isinstance(node, ast.FunctionDef) else [inside]
    for child in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.FunctionDef | ast.Lambda) and child in skipped):
            yield from _names(child, bodies)


class Source:
    """A source on a machine: names are defined when they are asked for."""

    def __init__(self, m: Interpreter, name: str):
        self.m, self.name, self.scope = m, name, dict[str, Any]()
        self.imports, self.named = parsed(name)
        self.compiler = Statements(m, Scope("module"))

    def find(self, name: str) -> Any:
        """What a name stands for, or MISSING."""
        if name not in self.named:
            return MISSING
        if name not in self.scope:
            self._define(name)
        return self.scope[name]

    def _define(self, name: str) -> None:
        for statement in self.imports:
            self._run(statement)
        self.imports = []
        self.scope[name] = None  # on its way: what it needs may need it
        self._define_all(_names(self.named[name], bodies=False))
        self._run(self.named[name])
        made = self.scope[name]
        if isinstance(made, Class):
            made.module = home(self.name, name)
        self._define_all(_names(self.named[name], bodies=True))

    def _define_all(self, names: Iterable[str]) -> None:
        for name in names:
            if name in self.named and name not in self.scope:
                self._define(name)

    def _run(self, statement: ast.stmt) -> None:
        m = self.m
        before = m.line, m.outer, m.globals, m.on_assign
        m.outer, m.globals, m.on_assign = m.place, self.scope, None
        try:
            self.compiler.statement(statement)(self.scope)
        finally:
            m.line, m.outer, m.globals, m.on_assign = before
