"""The operator that a name denotes: `softmax`, `torch.softmax`, `F.softmax` and `x.softmax` are
one.
"""

import ast
import builtins
import re
from collections.abc import Callable, Collection
from typing import Any

from ..errors import GradcliError, Span, did_you_mean
from ..operators import functions, lookup
from .foreign import SPELLINGS
from .refusals import CURES, refusal
from .syntax import dotted

# Prefixes of functions; a longer one comes before its own prefixes.
MODULES = (
    "torch.nn.functional",
    "torch.nn.grad",
    "torch.linalg",
    "torch.special",
    "torch.fft",
    "torch.sparse",
    "torch.masked",
    "torch.autograd",
    "torch.Tensor",
    "torch.nn",
    "torch",
    "nn.functional",
    "nn.grad",
    "nn",
    "F",
    "linalg",
    "special",
    "fft",
    "math",
    "builtins",
)
# Prefixes of other libraries, whose functions are in `libraries`.
LIBRARIES = {
    **dict.fromkeys(("np", "numpy", "autograd.numpy", "anp", "onp"), "numpy"),
    **{"jnp": "jax.numpy", "jax": "jax", "lax": "jax.lax", "jnn": "jax.nn", "jsp": "jax.scipy"},
    **dict.fromkeys(("scipy", "autograd.scipy"), "scipy"),
}
CONSTANTS: dict[str, Any] = {
    "pi": 3.141592653589793,
    "inf": float("inf"),
    "nan": float("nan"),
    "e": 2.718281828459045,
    "Ellipsis": ...,
}
# Numbers and dtypes with other names in NumPy.
ARRAY_CONSTANTS: dict[str, Any] = {
    **{"euler_gamma": 0.5772156649015329, "newaxis": None, "single": "float32"},
    **{"float_": "float64", "int_": "int64", "intp": "int64", "intc": "int32", "bool_": "bool"},
}
SHORT_FLOATS = {"half", "bfloat16", "float16"}
FLOATS = ("float", "double", "float32", "float64", *SHORT_FLOATS)
INTS = ("int", "long", "short", "int8", "int16", "int32", "int64", "uint8")
NARROW = {"short", "int8", "int16", "uint8"}
DTYPES = dict.fromkeys(FLOATS, "float") | dict.fromkeys(INTS, "int") | {"bool": "bool"}
# Families whose functions take no dtype in PyTorch, unless `dtype` is one of their parameters.
WITHOUT_DTYPE = {"elementwise", "composite"}
# Modules with shorter names than their functions.
SHORT = {
    "bceloss": "binarycrossentropy",
    "bcewithlogitsloss": "binarycrossentropywithlogits",
    "crossentropyloss": "crossentropy",
    "kldivloss": "kldiv",
    "identity": "clone",
    "multiheadattention": "multiheadattentionforward",
    "rnn": "rnntanh",
    "rnncell": "rnntanhcell",
}
# Modules whose functions are not in torch.nn.functional.
OF_TORCH = {
    *("clone", "flatten", "unflatten", "lstm", "gru", "rnn_tanh"),
    *("lstm_cell", "gru_cell", "rnn_tanh_cell"),
}
PAD_MODES = {"reflection": "reflect", "replication": "replicate", "circular": "circular"}
NORMS = r"(?:lazy|sync)?(batchnorm|instancenorm)(?:\dd)?"
PADS = r"(zero|constant|reflection|replication|circular)(pad)\dd"
WITH_PARAMETERS = (
    r"(Lazy)?(Linear|Bilinear|Embedding\w*|Conv\w*|(Layer|Group|RMS|(Sync)?Batch)Norm(\dd)?"
    r"|RNN\w*|LSTM\w*|GRU\w*|Multihead\w*|Transformer\w*|PReLU)"
)
# Modules that have parameters, draw random numbers, or have another default.
MORE_THAN_FUNCTIONS = (
    rf"{WITH_PARAMETERS}|\w*Norm(\dd)?|\w*Dropout\w*|RReLU|Fractional\w*|\w+Pad\dd"
)
# Builtins of Python that differ from PyTorch's functions of the same name.
PYTHON = {"sum", "max", "min", "bool", "float", "int", "round", "slice"}
# Functions that create tensors from literal, copied or random numbers, and how.
MAKER_KINDS = {
    **dict.fromkeys(("as_tensor", "from_numpy", "array", "asarray"), "array"),
    **dict.fromkeys(("LongTensor", "BoolTensor"), "array"),
    **dict.fromkeys(("Variable", "autograd.Variable", "Parameter"), "array"),
    **dict.fromkeys(("Tensor", "FloatTensor", "DoubleTensor"), "floats"),
    "tensor": "copy",
    **{name: name for name in ("arange", "rand", "randn")},
}
# Attributes of tensors: functions of one tensor, and properties.
ATTRIBUTES = {"T", "mT", "H", "mH", "real"}
PROPERTIES = {*ATTRIBUTES, "shape", "ndim", "dtype", "device", "data"}
# The default dtype of each kind of tensor.
KINDS = {"float": "float64", "int": "int64", "bool": "bool"}
# Memory formats, which do not change values.
LAYOUTS = {"strided", "preserve_format", "contiguous_format", "channels_last", "channels_last_3d"}

# Arguments that affect how a tensor is stored, not its values.
STORAGE = {
    "requires_grad",
    "device",
    "generator",
    "layout",
    "pin_memory",
    "memory_format",
    "non_blocking",
    "copy",
}


def function(name: str, span: Span | None) -> Callable:
    """The operator or shorthand called `name`. Raises GradcliError `unknown-function`."""
    result = lookup(name)
    if name == "backward":
        hint = "write it as the last statement, or leave it out and give the seed with --grad"
        raise GradcliError(
            "unknown-function",
            "backward() returns None, which cannot be computed with",
            hint=hint,
            span=span,
        )
    if result is None:
        why = None if name.startswith("__") and _is_of_python(name) else refusal(name)
        if why is not None:
            raise GradcliError("unsupported", f"{name} {why}", hint=CURES.get(why), span=span)
        inside = function_of_module(name)
        if inside is not None:
            message = f"nn.{name} makes an object, and its function is called {inside}"
            addition = (
                ", with the parameters as inputs" if re.fullmatch(WITH_PARAMETERS, name) else ""
            )
            hint = f"call the function{addition}: {_module_call(name, inside)}"
            raise GradcliError("unsupported", message, hint=hint, span=span)
        message = f"there is no function {name}"
        raise GradcliError("unknown-function", message, hint=_cure(name), span=span)
    return result


def _module_call(name: str, inside: str) -> str:
    """The call of the function of a module: `F.linear(input, weight, bias)`."""
    parameters = [p for p in getattr(lookup(inside), "positional", ()) if p != "inplace"]
    pad = re.fullmatch(PADS, name.lower())
    if pad and pad[1] in PAD_MODES:
        parameters = [*parameters[: parameters.index("mode")], f"mode='{PAD_MODES[pad[1]]}'"]
    return f"{'torch' if inside in OF_TORCH else 'F'}.{inside}({', '.join(parameters)})"


def _cure(name: str) -> str:
    """A hint for an unknown function."""
    if name in SPELLINGS:
        return SPELLINGS[name]
    if _is_of_python(name):
        return "that is a function of Python: gradcli reads expressions, and never executes them"
    advice = "write out what your own function computes"
    if name[:1].isupper() and name[1:2].islower():
        advice = "write out what a class computes, its parameters as inputs: relu(x @ W.T + b)"
    near = did_you_mean(name, functions())
    if near is None:
        return f"gradcli ops lists the operations; {advice}"
    return f"{near} (gradcli ops {name[:3]} lists what is near); {advice}"


def _is_of_python(name: str) -> bool:
    """Whether a name is a builtin of Python: open, eval, getattr."""
    return hasattr(builtins, name)


def function_of_module(name: str, without_parameters: bool = False) -> str | None:
    """The function that a module of `nn` calls: `mse_loss` for MSELoss. None for other names and,
    with `without_parameters`, for modules with parameters.
    """
    if not name[:1].isupper() or (without_parameters and re.fullmatch(MORE_THAN_FUNCTIONS, name)):
        return None
    key = re.sub(PADS, r"\2", name.lower())
    key = re.sub(NORMS, r"\1", key)
    key = SHORT.get(key, key)
    return next((f for f in functions() if "." not in f and f.replace("_", "") == key), None)


def name_in_module(name: str, module: str) -> str:
    """The name with its module, `linalg.norm`, if it differs from the function in `torch`, or is
    unsupported; otherwise the name unchanged.
    """
    if module == "builtins":
        return f"builtins.{name}"
    qualified = f"{module.rsplit('.', 1)[-1]}.{name}"
    return qualified if lookup(qualified) or refusal(qualified) else name


def module_of(path: str) -> str | None:
    """The longest module that a dotted path begins with, or equals."""
    return next((m for m in MODULES if path == m or path.startswith(m + ".")), None)


def library_name(path: str) -> str | None:
    """The full name of a function, `jax.numpy.dot` for `jnp.dot`; None if the prefix is not in
    LIBRARIES.
    """
    words = path.split(".")
    for count in (2, 1):
        root = LIBRARIES.get(".".join(words[:count]))
        if root is not None and len(words) > count:
            return ".".join([root, *words[count:]])
    return None


def is_library_constant(name: str) -> bool:
    """Whether a full name of a library denotes a number, a dtype or newaxis."""
    module, _, last = name.rpartition(".")
    is_name = last in ARRAY_CONSTANTS or last in CONSTANTS or last in DTYPES
    return is_name and module in ("numpy", "jax.numpy")


def library_constant(name: str) -> Any:
    """The number of a constant, the name of a dtype, or None for newaxis."""
    last = name.rpartition(".")[2]
    return ARRAY_CONSTANTS.get(last, CONSTANTS.get(last, last))


def is_of_module(e: ast.Attribute, user_names: Collection[str]) -> bool:
    """Whether an expression is torch.foo or np.foo, and torch is not among `user_names`."""
    path = dotted(e) or ""
    of_library = module_of(path) not in (None, path) or library_name(path) is not None
    return of_library and path.split(".")[0] not in user_names


def no_attribute(e: ast.Attribute, known: Collection[str], span: Span) -> GradcliError:
    """The error for an attribute that is not among `known`; `span` is that of the expression."""
    span = span._replace(start=span.end - len(e.attr))
    called = lookup(e.attr)
    why = None if called else refusal(e.attr)
    if why is not None:
        return GradcliError("unsupported", f"{e.attr} {why}", hint=CURES.get(why), span=span)
    hint = SPELLINGS.get(e.attr) or (called and f"it is called: write {ast.unparse(e)}(...)")
    hint = hint or did_you_mean(e.attr, known) or "gradcli ops lists the operations"
    message = f"there is no attribute {e.attr}"
    return GradcliError("unknown-function", message, hint=hint, span=span)
