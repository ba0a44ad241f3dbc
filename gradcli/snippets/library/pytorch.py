"""torch and its modules, as programs import them."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from ..eager import (
    arithmetic,
    autograd,
    composites,
    creation,
    devices,
    duals,
    function,
    initialisation,
    members,
    parameters,
    removed,
    type_names,
)
from ..eager.dtypes import BFLOAT16, BY_NAME, DType
from ..eager.functional_transforms import transforms_module
from ..eager.mode import MODE
from ..eager.sizes import SIZE
from ..eager.tables import define, module
from ..eager.tensor import DUAL, TENSOR, Tensor
from ..eager.transforms import NO_STORAGE, in_jvp, running
from ..python.machine import Interpreter
from ..python.values import MISSING, Machine, Module, error
from .sources import Source

REGISTERING = (  # modules that register functions in TABLES when imported
    *(arithmetic, autograd, composites, creation, function, initialisation, members, removed),
    type_names,
)
NOTHING = lambda name: MISSING  # noqa: E731
CONSTANTS = {"pi": math.pi, "inf": math.inf, "nan": math.nan, "e": math.e}
INNER = (  # modules that `import torch` makes available
    *("nn", "autograd", "linalg", "special", "optim", "func", "fft", "utils", "backends", "amp"),
    *("distributions", "random", "testing"),
)
OPERATOR_MODULES = {
    "torch.nn.functional": ("F", "functional", "torch"),
    "torch.linalg": ("linalg",),
    "torch.special": ("special",),
    "torch.fft": ("fft",),
}

TENSOR.find = members.method_of
DUAL.find = duals.member_of_duals


@define("Tensor")
def numpy(m: Machine, self: Tensor, *, force: bool = False) -> Any:
    """A NumPy array that shares the tensor's memory."""
    from .numpy_arrays import NO_NUMPY, Array

    if self.requires_grad and MODE.grad_enabled and not (force or in_jvp()):
        raise error("RuntimeError", NO_NUMPY)
    if running():
        raise error("RuntimeError", NO_STORAGE)
    if self.dtype is BFLOAT16:
        raise error("TypeError", "Got unsupported ScalarType BFloat16")
    return Array(self.data)


class Library:
    """The modules of PyTorch for one program. Each is built on first use."""

    def __init__(self, m: Interpreter):
        self.m = m
        self.built: dict[str, Module] = {}
        self.sources: dict[str, Source] = {}

    def find(self, path: str) -> Module | None:
        """The module with this path, such as "torch.nn"; None if there is none."""
        if path not in self.built and path in MODULES:
            self.built[path] = MODULES[path](self)
        return self.built.get(path)

    def require(self, path: str) -> Module:
        """The module with this path, which must exist."""
        built = self.find(path)
        assert built is not None, path
        return built

    def source(self, name: str) -> Callable[[str], Any]:
        """A lookup `name -> value` of what the file sources/NAME.txt defines."""
        if name not in self.sources:
            self.sources[name] = Source(self.m, name)
        return self.sources[name].find


def first(*sources: Callable[[str], Any]) -> Callable[[str], Any]:
    """A lookup that tries the lookups `sources` in order, until one does not return MISSING."""

    def find(name: str) -> Any:
        for source in sources:
            value = source(name)
            if value is not MISSING:
                return value
        return MISSING

    return find


def _torch(library: Library) -> Module:
    members = {
        **BY_NAME,
        **CONSTANTS,
        "Tensor": TENSOR,
        "dtype": DType.cls,
        "Size": SIZE,
        "device": devices.Device.cls,
        "layout": devices.Layout.cls,
        "strided": devices.STRIDED,
        "__version__": "2.13.0",
    }

    def more(name: str) -> Any:  # names in torch that other modules define
        if name == "vmap":
            return library.require("torch.func").lookup(name)
        if name in ("save", "load"):
            return library.source("serialization")(name)
        return library.require("torch.amp").lookup(name) if name == "autocast" else MISSING

    built = module("torch", "torch", members=members, more=more)
    built.members["cuda"] = library.find("torch.cuda")
    for name in INNER:
        result = library.find(f"torch.{name}")
        if result is not None:
            built.members[name] = result
    return built


def _nn(library: Library) -> Module:
    members = {
        "functional": library.find("torch.nn.functional"),
        "init": library.find("torch.nn.init"),
        "utils": library.find("torch.nn.utils"),
        **{cls.name: cls for cls in parameters.CLASSES},
    }
    return module(
        "torch.nn",
        members={k: v for k, v in members.items() if v is not None},
        more=first(*map(library.source, ("nn", "layers", "rare_layers"))),
        operators=False,
    )


def _autograd(library: Library) -> Module:
    built = module("torch.autograd", "autograd", more=library.source("checks"), operators=False)
    built.members["graph"] = library.find("torch.autograd.graph")
    built.members["forward_ad"] = library.find("torch.autograd.forward_ad")
    built.members["function"] = library.find("torch.autograd.function")
    built.members["functional"] = library.find("torch.autograd.functional")
    return built


def _optim(library: Library) -> Module:
    built = module("torch.optim", more=library.source("optim"), operators=False)
    for name in ("lr_scheduler", "swa_utils"):
        built.members[name] = library.find(f"torch.optim.{name}")
    return built


def _cuda(library: Library) -> Module:
    members = devices.CUDA | {"amp": library.find("torch.cuda.amp")}
    return module("torch.cuda", members=members, operators=False)


def _backends(library: Library) -> Module:
    inner = {name: library.find(f"torch.backends.{name}") for name in devices.BACKENDS}
    return module("torch.backends", members=inner, operators=False)


def _utils(library: Library) -> Module:
    inner = {"checkpoint": "torch.utils.checkpoint", "data": "torch.utils.data"}
    members = {name: library.find(path) for name, path in inner.items()}
    return module("torch.utils", members=members, operators=False)


def _distributions(library: Library) -> Module:
    paths = {name: f"torch.distributions.{name}" for name in INNER_DISTRIBUTIONS}
    members = {name: library.find(path) for name, path in paths.items()}
    more = library.source("distributions")
    return module("torch.distributions", members=members, more=more, operators=False)


def _matplotlib(library: Library) -> Module:
    drawing = library.require("matplotlib.pyplot")
    shared = ("use", "style", "rcParams", "rc", "cm")
    members = {"pyplot": drawing, **{name: drawing.lookup(name) for name in shared}}
    return module("matplotlib", members=members, operators=False)


INNER_DISTRIBUTIONS = (
    *("transforms", "normal", "categorical", "bernoulli", "uniform", "kl", "beta", "gamma"),
    *("distribution", "laplace", "log_normal", "mixture_same_family", "one_hot_categorical"),
    "poisson",
    *("multivariate_normal", "independent", "dirichlet", "exponential", "transformed_distribution"),
)
SOURCES = {  # modules, and the file sources/NAME.txt that defines each
    "torch.optim.lr_scheduler": "lr_scheduler",
    "torch.optim.swa_utils": "swa_utils",
    "torch.autograd.graph": "graph",
    "torch.autograd.forward_ad": "forward_ad",
    "io": "serialization",
    "argparse": "argparse",
    "matplotlib.pyplot": "pyplot",
    "tqdm": "tqdm",
    "tqdm.auto": "tqdm",
    "tqdm.notebook": "tqdm",
    "torch.amp": "amp",
    "torch.cuda.amp": "amp",
    "torch.utils.checkpoint": "checkpoint",
    "torch.utils.data": "data",
    **{f"torch.distributions.{n}": "distributions" for n in INNER_DISTRIBUTIONS},
    "torch.nn.utils.rnn": "utils",
    "torch.nn.utils.parametrize": "parametrize",
    "torch.nn.utils.parametrizations": "parametrizations",
    "torch.nn.utils.prune": "prune",
    "functorch": "functorch",
    "torch.random": "random",
    "torch.testing": "testing",
    "torch.autograd.gradcheck": "checks",
}

INNER_UTILS = ("rnn", "parametrize", "parametrizations", "prune")


def _of_source(path: str, name: str, library: Library) -> Module:
    """A module that a file sources/NAME.txt defines."""
    return module(path, more=library.source(name), operators=False)


def _of_members(path: str, members: dict[str, Any], library: Library) -> Module:
    """A module with the given members, whose values programs may change."""
    return module(path, members=members, operators=False)


def _of_tables(path: str, keys: tuple[str, ...], library: Library) -> Module:
    """A module of operators, and of the functions registered in TABLES under these keys."""
    more = library.source("nn_functional") if path == "torch.nn.functional" else NOTHING
    return module(path, *keys, more=more)


MODULES: dict[str, Callable[[Library], Module]] = {
    "torch": _torch,
    "torch.cuda": _cuda,
    "torch.backends": _backends,
    "matplotlib": _matplotlib,
    "torch.utils": _utils,
    "torch.nn": _nn,
    "torch.autograd": _autograd,
    "torch.autograd.function": lambda library: module(
        "torch.autograd.function", "autograd.function", operators=False
    ),
    "torch.nn.init": lambda library: module("torch.nn.init", "init", operators=False),
    "torch.nn.parameter": lambda library: module(
        "torch.nn.parameter",
        members={cls.name: cls for cls in parameters.CLASSES},
        operators=False,
    ),
    "torch.autograd.functional": lambda library: module(
        "torch.autograd.functional", more=library.source("functional"), operators=False
    ),
    "torch.nn.utils": lambda library: module(
        "torch.nn.utils",
        members={n: library.find(f"torch.nn.utils.{n}") for n in INNER_UTILS},
        more=library.source("utils"),
        operators=False,
    ),
    "torch.func": lambda library: module(
        "torch.func", more=library.source("func"), operators=False
    ),
    "torch_transforms": lambda library: transforms_module(),
    "torch.optim": _optim,
    "torch.distributions": _distributions,
    "torch.optim.optimizer": lambda library: module(
        "torch.optim.optimizer", more=library.source("optim"), operators=False
    ),
    **{
        f"torch.backends.{name}": partial(_of_members, f"torch.backends.{name}", members)
        for name, members in devices.BACKENDS.items()
    },
    **{path: partial(_of_source, path, name) for path, name in SOURCES.items()},
    **{path: partial(_of_tables, path, keys) for path, keys in OPERATOR_MODULES.items()},
}
