"""Library modules written as programs: files in the folder sources, run by the interpreter.

A statement runs when a name that it defines is first looked up. The statements have no line
numbers: an error in them is reported at the line of the user's program that called them.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from ..python.machine import Interpreter
from ..python.scopes import Scope, children
from ..python.statements import Statements
from ..python.values import MISSING, Class
from . import layer_tables

FOLDER = Path(__file__).parent / "sources"
WORD = re.compile(r"(?<![.\w])[A-Za-z_]\w*")
START = re.compile(r"^(?=[\w@])", re.MULTILINE)  # start of a statement
TEXT = re.compile(r'""".*?"""', re.DOTALL)
DEFINED = re.compile(r"(?:class|def) (\w+)|(\w+(?: = \w+(?= =))*) = ")


@cache
def parsed(text: str) -> list[ast.stmt]:
    """The statements of a source text as syntax trees without line numbers. Cached, as every
    interpreter compiles them.
    """
    body = ast.parse(text).body
    for node in (n for s in body for n in ast.walk(s)):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = 0  # type: ignore[attr-defined]
    return body


HOMES = {  # torch.nn.modules.NAME, and the classes that it defines
    "module": "Module",
    "linear": "Linear Identity Bilinear NonDynamicallyQuantizableLinear",
    "container": "Sequential ModuleList ModuleDict ParameterList ParameterDict",
    "activation": "ReLU ReLU6 Sigmoid Tanh SiLU Mish GELU LeakyReLU ELU SELU CELU PReLU RReLU "
    "Softplus Softsign Hardtanh LogSigmoid Hardsigmoid Hardswish Softmax LogSoftmax Softmin "
    "Tanhshrink Hardshrink Softshrink Threshold GLU MultiheadAttention Softmax2d",
    "flatten": "Flatten Unflatten",
    "fold": "Fold Unfold",
    "channelshuffle": "ChannelShuffle",
    "dropout": "Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout",
    "sparse": "Embedding EmbeddingBag",
    "conv": "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d",
    "pooling": "MaxPool1d MaxPool2d MaxPool3d AvgPool1d AvgPool2d AvgPool3d AdaptiveAvgPool1d "
    "AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d "
    "LPPool1d LPPool2d LPPool3d MaxUnpool1d MaxUnpool2d",
    "normalization": "LayerNorm RMSNorm GroupNorm LocalResponseNorm",
    "batchnorm": "BatchNorm1d BatchNorm2d BatchNorm3d",
    "instancenorm": "InstanceNorm1d InstanceNorm2d InstanceNorm3d",
    "distance": "CosineSimilarity PairwiseDistance",
    "rnn": "RNN GRU LSTM RNNCell GRUCell LSTMCell",
    "transformer": "TransformerEncoderLayer TransformerEncoder TransformerDecoderLayer "
    "TransformerDecoder Transformer",
    "upsampling": "Upsample UpsamplingNearest2d UpsamplingBilinear2d",
    "pixelshuffle": "PixelShuffle PixelUnshuffle",
}
HOME = {name: f"torch.nn.modules.{home}" for home, names in HOMES.items() for name in names.split()}
ONE_MODULE = {  # sources that define names of a single module
    "lr_scheduler": "torch.optim.lr_scheduler",
    "checks": "torch.autograd.gradcheck",
    "prune": "torch.nn.utils.prune",
}
# sources of packages in which each class has a module of its own
A_MODULE_EACH = {"optim": "torch.optim", "distributions": "torch.distributions"}


def home(source: str, name: str) -> str:
    """The module in which PyTorch defines the class `name`; here, the file `source` defines it."""
    if source in A_MODULE_EACH:
        return f"{A_MODULE_EACH[source]}.{name.lower()}"
    if source == "data":
        kind = "sampler" if name.endswith("Sampler") else "dataset"
        return f"torch.utils.data.{'dataloader' if 'DataLoader' in name else kind}"
    if name.endswith(("Loss", "Pad1d", "Pad2d", "Pad3d")):
        return f"torch.nn.modules.{'loss' if name.endswith('Loss') else 'padding'}"
    if name == "RemovableHandle":
        return "torch.utils.hooks"
    return ONE_MODULE.get(source) or HOME.get(name, "torch")


@cache
def blocks(name: str) -> tuple[list[str], dict[str, str]]:
    """The import statements of a source, and its other statements by the names that they define.
    Both are texts, which are parsed on first use.
    """
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    without_texts = TEXT.sub(lambda result: " " * len(result[0]), text)
    starts = [result.start() for result in START.finditer(without_texts)]
    imports, named, decorators = [], dict[str, str](), ""
    for start, end in pairwise([*starts, len(text)]):
        block = decorators + text[start:end]
        decorators = block if text[start] == "@" else ""
        if text.startswith(("import ", "from "), start):
            imports.append(block)
        elif block.startswith(layer_tables.START):
            named |= layer_tables.entries(block)
        elif defined := DEFINED.match(text, start):
            named.update((n.strip(), block) for n in (defined[1] or defined[2]).split("="))
    return imports, named


def _names(node: ast.AST) -> Iterator[str]:
    """The names that a statement reads when it runs; not those in the bodies of its functions."""
    if isinstance(node, ast.Name):
        yield node.id
    body = node.body if isinstance(node, ast.FunctionDef | ast.Lambda) else ()
    inside = body if isinstance(body, Sequence) else (body,)
    for child in children(node):
        if child not in inside:
            yield from _names(child)


@cache
def _needed(text: str) -> tuple[str, ...]:
    """The names that must be defined before the statements in `text` can run."""
    return tuple(dict.fromkeys(name for s in parsed(text) for name in _names(s)))


class Source:
    """A source in one interpreter. Names are defined on first use, with values in `scope`."""

    def __init__(self, m: Interpreter, name: str):
        self.m, self.name, self.scope = m, name, dict[str, Any]()
        self.wanted: dict[str, None] = {}  # names in function bodies, to be defined next
        self.imports, self.named = blocks(name)
        self.compiler = Statements(m, Scope("module"))

    def find(self, name: str) -> Any:
        """The value of a name; MISSING if the source does not define it."""
        if name not in self.named:
            return MISSING
        if name not in self.scope:
            self._define(name)
            while self.wanted:
                self._define_all([self.wanted.popitem()[0]])
        return self.scope[name]

    def _define(self, name: str) -> None:
        for block in self.imports:
            self._run(parsed(block))
        self.imports = []
        self.scope[name] = None  # prevents recursion: definitions may depend on each other
        text = self.named[name]
        if text.startswith(f"{name}("):
            text = layer_tables.as_class(text, "" if self.name == "nn" else "nn.")
        self._define_all(_needed(text))
        self._run(parsed(text))
        result = self.scope[name]
        if isinstance(result, Class):
            result.module = home(self.name, name)
        self.wanted |= dict.fromkeys(WORD.findall(text))

    def _define_all(self, names: Iterable[str]) -> None:
        for name in names:
            if name in self.named and name not in self.scope:
                self._define(name)

    def _run(self, statements: Iterable[ast.stmt]) -> None:
        m = self.m
        before = m.line, m.outer, m.globals, m.on_assign
        m.outer, m.globals, m.on_assign = m.place, self.scope, None
        try:
            for statement in statements:
                self.compiler.statement(statement)(self.scope)
        finally:
            m.line, m.outer, m.globals, m.on_assign = before
