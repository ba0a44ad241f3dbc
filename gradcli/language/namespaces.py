"""Errors for two kinds of calls: of functions that PyTorch has in another namespace, such as
torch.gelu(x) or x.gelu() for F.gelu(x), and with a prefix that was not imported, such as tf.exp(x).
"""

import ast
from collections.abc import Callable, Collection

from ..errors import GradcliError
from ..graphs import Operator
from ..operators import lookup
from ..public_names import in_pytorch
from .foreign import LIBRARIES, SPELLINGS
from .libraries import library_function
from .program import Program
from .syntax import dotted
from .vocabulary import DTYPES, module_of

# Short names of PyTorch's namespaces in this file: torch, Tensor (methods), F, special, linalg.
TENSOR = "Tensor"
FULL_NAMES = {
    **{"torch": "torch", TENSOR: "torch.Tensor", "F": "torch.nn.functional"},
    **{"special": "torch.special", "linalg": "torch.linalg"},
}
SHORT_NAMES = {
    **dict.fromkeys(("torch.nn.functional", "nn.functional", "F"), "F"),
    **dict.fromkeys(("torch.special", "special"), "special"),
    **dict.fromkeys(("torch.linalg", "linalg"), "linalg"),
    **{"torch": "torch", "torch.Tensor": TENSOR},
}
CALLS = {"F": "F.{}(...)", TENSOR: "x.{}()", "torch": "torch.{}(...)"}  # in messages


def namespaces(name: str) -> list[str]:
    """The short names of PyTorch's namespaces that have a function of this name. The dtypes, such
    as torch.float, do not count as functions.
    """
    spaces = [space for space, path in FULL_NAMES.items() if name in in_pytorch()[path]]
    return [space for space in spaces if space != "torch" or name not in DTYPES]


def check_function(path: str) -> None:
    """Raise GradcliError `unknown-function` if PyTorch lacks a function under its dotted name, such
    as torch.gelu, but has it in another namespace.
    """
    module = module_of(path) or ""
    _check(path.removeprefix(f"{module}."), SHORT_NAMES.get(module), f"{path}()")


def check_method(name: str) -> None:
    """Raise GradcliError `unknown-function` if tensors lack a method, such as gelu in x.gelu(), but
    a namespace of PyTorch has a function of this name.
    """
    _check(name, TENSOR, f"method {name}() of tensors")


def _check(name: str, space: str | None, what: str) -> None:
    """Raise GradcliError if the function is not in the namespace `space`, but in another one. A
    `space` of None is not checked. `what` is what PyTorch lacks, in the words of the message.
    """
    spaces = namespaces(name) if space is not None else []
    if spaces and space not in spaces and _is_in_pytorch(lookup(name)):
        home = "F" if "F" in spaces else spaces[0]
        written = CALLS.get(home, f"torch.{home}.{{}}(...)").format(name)
        if space == "special" and library_function(f"scipy.special.{name}"):
            written += f" of PyTorch, or scipy.special.{name}(...)"
        message = f"PyTorch has no {what}"
        raise GradcliError("unknown-function", message, hint=f"did you mean {written}?")


def _is_in_pytorch(function: Callable | None) -> bool:
    """Whether an operator or function of ours is one of PyTorch's; some operators occur in formulas
    only.
    """
    return function is not None and getattr(function, "torch", "") is not None


# ---- prefixes that were not imported -------------------------------------------------------------


SUPPORTED = "the functions of PyTorch, NumPy, SciPy and JAX"
SEARCHED = {"numpy": "np", "scipy.special": "scipy.special"}  # and their spellings in hints


def check_modules(program: Program, inputs: Collection[str], unknown: Collection[str]) -> None:
    """Raise GradcliError `unknown-name` for a call whose prefix seems to be a module, such as tf in
    `tf.exp(x)` or K in `K.sum(x)`.

    Names that were not imported are inputs, so that K would be an input with a method sum, and x
    its dimension. `inputs` are all inputs, `unknown` those without a shape or value: only these may
    be modules. Raised if the prefix is the usual one of an unsupported library, if it is that of a
    distribution of scipy.stats, or if the call makes no sense as a method.
    """
    for e in program.syntax if unknown else ():
        path = dotted(e.func) or "" if isinstance(e, ast.Call) else ""
        root, _, name = path.partition(".")
        if not name or root not in unknown:
            continue
        assert isinstance(e, ast.Call)
        library = LIBRARIES.get(root) if e.args or "." in name else None
        of_stats = _is_of_stats(path)
        may_be_module = len(root) > 1 or root.isupper()
        if library or of_stats or (may_be_module and _is_no_method(name, e, inputs)):
            what = f"the usual prefix of {library}" if library else "read as an input"
            message = f"{root} in {path}() is {what}, and gradcli reads {SUPPORTED}"
            written = f"scipy.stats.{path.removeprefix('stats.')}(...)"
            cure = f"write {written}" if of_stats else _cure(name.rpartition(".")[2])
            hint = f"{cure}; an input has a shape: -s {root}=2x3"
            raise GradcliError("unknown-name", message, hint=hint, span=program.source.span(e.func))


def _is_of_stats(path: str) -> bool:
    """Whether a path is that of a distribution's function, such as norm.pdf or stats.norm.pdf."""
    words = path.removeprefix("stats.").split(".")
    return len(words) == 2 and library_function(f"scipy.stats.{'.'.join(words)}") is not None


def _is_no_method(name: str, e: ast.Call, inputs: Collection[str]) -> bool:
    """Whether a call passes an input to a method that has no arguments, or whose first argument is
    a dimension: K.exp(x), K.sum(x).
    """
    called = lookup(name)
    one = isinstance(called, Operator) and len(called.positional) == 1
    along = getattr(called, "positional", ())[1:2] == ("dim",)
    return (one or along) and bool(e.args) and getattr(e.args[0], "id", "") in inputs


def _cure(name: str) -> str:
    """What to do about an unknown prefix: the supported spellings of the function `name`, or the
    advice to import it.
    """
    if name in SPELLINGS:
        return SPELLINGS[name]
    modules = [m for m in SEARCHED if library_function(f"{m}.{name}")]
    names = [f"{SEARCHED[m]}.{name}(x)" for m in modules] + [f"{name}(x)"] * bool(lookup(name))
    return f"write {' or '.join(names)}" if names else "import it, or write out what it computes"
