"""The record of an operator: everything that the program knows about it, in one place.

Differentiation, evaluation, checks and rendering use only the records; they name no operators
except leaves. Operators are named only where the subject is a single operator: Python's operators
and functions of libraries (language), identities (notation/formulas/rules,
explanation/why/rewriting), and the notation of formulas and code (notation).

A record is built from a Python function, its rule: `def tanh(g, y, x): return g * (1 - y * y)`.
Positional parameters after `g` (the upstream gradient) and `y` (the output) are the tensors,
keyword-only parameters the attributes with PyTorch's defaults; the docstring is the description.
"""

from collections.abc import Callable, Collection, Container, Iterable, Sequence
from typing import Any, Literal, NamedTuple

from ..errors import MISUSES, GradcliError, Span, misused
from .arguments import REQUIRED, TENSORS, bind, parameters_of
from .node import OPS, Node, as_node, intern, walk
from .shapes import Shape

DTYPES = ("float", "int", "bool")
AGAIN, INTERMEDIATE = "again", "intermediate"
OPERAND_TYPES = frozenset(TENSORS)  # types of arguments that are passed to a node unchanged


class NeedsIntegers(GradcliError):
    """An integer tensor or mask is needed, and `node` is neither; `kind` is the dtype needed."""

    def __init__(self, message: str, node: Node, kind: str, hint: str):
        super().__init__("needs-value", message, hint=hint)
        self.node, self.kind = node, kind


class StaysZero:
    """The result of a rule for an input whose gradient in PyTorch is a 0 that stays 0 even when
    multiplied by inf. `node` is this 0 as a graph, if PyTorch differentiates it again.
    """

    def __init__(self, node: Node | None = None):
        self.node = node


class NoRule(NamedTuple):
    """The result of a rule for an input without derivative; `torch` is PyTorch's error message."""

    torch: str


Meaning = Callable[..., Any]  # (nodes) -> nodes
Count = Callable[..., int]  # (shapes) -> number
Names = Collection[str] | Callable[..., Collection[str]]  # (inputs, attributes) -> names
Between = Literal["", "smooth", "sloped"]
Exact = Literal["", "value", "all"]
Words = str | Callable[..., str] | None  # the spelling in other libraries


class Operator:
    """One operator; each field is documented below it.

    The rule is (g, y, *inputs, **attrs) -> the gradient of each input: a node, None, a NoRule, or
    StaysZero. `defined_by` is the function with the name and the docstring, if a family wraps the
    rule; it is not stored.

    Derived from the function are: `name`; `module`, the file in gradcli/operators; `sentence`, the
    docstring; `inputs`, of which the `optional` ones may be omitted; `variadic`, whether the only
    input takes any number of tensors; `positional`, the names in `order` that may be passed by
    position, including names that are no parameters; `by_name`, those after its `*`; `sign`, the
    infix symbol of a binary operator, such as +, else "".
    """

    # ---- value and meaning -----------------------------------------------------------------------

    family: str = "operator"
    """The family, on which backends and notation rely: elementwise, reduction, ..."""
    shape: Callable[..., Shape] | None = None
    """(*shapes, **attrs) -> the shape of the output."""
    dtype: str | Callable[..., str] = "promote"
    """The dtype of the output: "float", "int", "bool"; "promote": the widest of the inputs;
    "number": the same, with bool as int; "first", "last": that of the first or last input; or
    (**attrs) -> dtype.
    """
    bits: int | None = None
    """Bits of the integers it converts to, if it converts to integers."""
    value: Any = None
    """(*arrays, **attrs) -> array, with NumPy."""
    symbolic: Any = None
    """(sympy, *elements, **attrs) -> element or array, if `value` accepts no SymPy elements."""
    expand: Any = None
    """(*inputs, **attrs) -> the same value computed with other operators."""
    index: Any = None
    """Its meaning in index notation; notation/indices/lower.py lists the forms."""
    bounds: Any = None
    """Lowest and highest possible value; or (*bounds of inputs, **attrs) -> these; None: unknown.
    """
    log: str | None = None
    """The operator that computes its logarithm without underflow."""
    finite: bool = False
    """Whether the output is finite wherever the inputs are, as for a sum."""
    poles: Names = ()
    """The inputs at whose zeros the output is infinite, such as x of log(x); or (*inputs, **attrs)
    -> these.
    """
    shape_only: bool = False
    """Whether the output depends only on the shapes and the precision of the inputs."""
    finds_indices: bool = False
    """Whether the output consists of indices of elements, as for argmax."""

    # ---- calls -----------------------------------------------------------------------------------

    aliases: Sequence[str] = ()
    """Its other names."""
    attributes: Any = None
    """Its attributes with their defaults, if they are not the parameters of the rule."""
    order: Any = None
    """The order of its parameters in a call, if tensors and attributes mix, or if those after a
    `*` are passed by keyword alone. Names that are no parameters are alternative arguments, for
    `canonical_attributes`; `inplace`; or a `dtype` that others of the family do not accept.
    """
    deprecated_orders: Sequence[str] = ()
    """Deprecated signatures that PyTorch still accepts, with numbers before or between tensors, for
    example "input alpha other".
    """
    collect: str | None = None
    """The attribute that takes all further positional numbers: reshape(x, 2, 3)."""
    integer_attributes: Collection[str] = ()
    """The attributes that must be integers, or tuples of integers; others may be any numbers."""
    canonical_attributes: Callable[..., dict[str, Any]] | None = None
    """(**attrs) -> the attributes in one form, if there are several; it is also passed the
    alternative arguments in `order`.
    """
    integer_inputs: Collection[str] = ()
    """The inputs that are integer tensors or masks, and are not differentiated."""
    masks: Collection[str] = ()
    """The inputs among `integer_inputs` that are masks."""
    check_indices: Callable[..., None] | None = None
    """(*inputs, **attrs) -> None; raises an error `index` if indices are out of range. The inputs
    in `integer_inputs` are passed as arrays, other inputs as their shapes. None: `value` raises the
    error.
    """
    input_dtypes: "InputDtypes" = "any"
    """The dtypes that PyTorch's function accepts: "any"; "numbers": not only masks; "floats": not
    only integers and masks; "no masks": no masks at all; "floats of one dtype", "any of one dtype":
    the same, and all tensors have one dtype; or one of these and the slice of inputs that it
    applies to.
    """
    numbers: bool | Literal["together"] | Collection[str] = False
    """Whether PyTorch's function, called by name, accepts a number for an input; or the inputs for
    which it does; "together": for all inputs after the first, or for none.
    """
    unary_form: tuple[str, dict[str, Any]] | None = None
    """The function that PyTorch computes instead if only the first input is passed, and its keyword
    arguments: torch.where(mask) is nonzero(mask, as_tuple=True).
    """

    # ---- kinks -----------------------------------------------------------------------------------

    kink: Callable[..., Any] | None = None
    """(y, *inputs, **attrs) -> a mask of the elements whose gradient is a convention; or one mask
    for each input, if the convention concerns only the gradient of some inputs.
    """
    caveat: str | None = None
    """The convention, in words."""
    between_kinks: Between | Callable[..., Between] = ""
    """The function outside its kinks: "smooth": one smooth function; "sloped": piecewise, with a
    nonzero derivative on all pieces; "": unknown; or (**attrs) -> one of these.
    """

    # ---- spelling in formulas and code -----------------------------------------------------------

    spelling: Any = None
    """Spelling in formulas; None: a call."""
    method: bool = False
    """Whether formulas call it as a method: x.sum(dim=1)."""
    of_numbers: str | None = None
    """Spelling for Python numbers, if PyTorch's function does not accept numbers."""
    torch_expand: Meaning | None = None
    """(*inputs, **attrs) -> an equal expression of PyTorch's operators, for formulas, if PyTorch
    has no such function; None: `expand`.
    """
    numpy: Words = None
    """Its spelling in NumPy or SciPy: a name, "np.exp"; or a text with {0}, {1} for the inputs,
    {dim} for an attribute, {dim?} for one that is omitted if it has its default; or (**attrs) ->
    text. None: its expansion is used, or it is not supported.
    """
    jax: str | None = None
    """Its spelling in JAX; None: as in NumPy, "": not supported in JAX."""

    # ---- PyTorch ---------------------------------------------------------------------------------

    torch: Any = "torch.{name}"
    """Its name in PyTorch; None: PyTorch has no such function."""
    part_of: str = ""
    """PyTorch's function of which it is one of several outputs, if it has no other name there."""
    view: bool | Callable[..., bool] = False
    """(**attrs) -> whether PyTorch's result shares the memory of the first input; or a bool."""
    saved: Any = (...,)
    """What PyTorch saves for backward, if this differs from what the rule uses.

    A tuple of: names of inputs, each saved if it is differentiated or if the rule uses it for a
    differentiated input; "output"; ... for what the rule uses; AGAIN for the same without the
    output, which PyTorch recomputes; INTERMEDIATE for other results of PyTorch's computation; and
    nodes. Or (output, *inputs, **attrs) -> such a tuple.
    """
    without_derivative: Names = ()
    """The inputs with respect to which PyTorch has no derivative, although one exists; or (*inputs,
    **attrs) -> these.
    """
    symmetric: Collection[str] = ()
    """The inputs of which only one triangle is read, while the gradient, as in PyTorch, is that for
    a symmetric matrix.
    """
    triangular: Callable[..., tuple[str, str]] | None = None
    """(**attrs) -> an input of which only one triangle is read, while the gradient in PyTorch is
    not 0 in the other triangle; and "tril" or "triu".
    """
    with_graph: Meaning | None = None
    """(*inputs, **attrs) -> what PyTorch computes instead in a gradient with create_graph=True, if
    its values differ.
    """
    zero_second_derivative: Names | Literal[True] = ()
    """The inputs whose gradient has, in PyTorch, a derivative of 0 that is propagated, instead of
    None; True: all inputs; or (*inputs, **attrs) -> these.
    """
    once_differentiable: str | Callable[..., str | None] | None = None
    """PyTorch's error message if the gradient cannot be differentiated again; or (*inputs, **attrs)
    -> the message or None.
    """
    digits: Literal["", "vary", "single"] = ""
    """In which digits PyTorch's results may differ: "vary": the value depends on whether a gradient
    is requested; "single": a number in the gradient is rounded to single precision.
    """

    exact: Exact | Callable[..., Exact] = ""
    """Which results in single precision equal PyTorch's to the last digit: "value"; "all": the
    value and the gradients; "": unknown; or (y, *inputs, **attrs) -> one of these. Operators that
    only move elements are exact.
    """

    # ---- typical shapes --------------------------------------------------------------------------

    typical_inputs: Collection[Literal["matrices", "square", "invertible", "batches"]] = ()
    """Typical inputs, for the inference of shapes. "matrices": all are matrices; "square": a square
    matrix; "invertible": the first input has an inverse; "batches": the first input has as many
    dimensions as the second.
    """
    typical_same_shape: Collection[str] = ()
    """The inputs that typically have the same shape, although they may be broadcast."""
    typical_equal_sizes: Callable[..., Iterable[tuple[int, int]]] | None = None
    """(*shapes, **attrs) -> pairs of input sizes that are typically equal."""
    rank: Literal["", "product", "unchanged"] = ""
    """What bounds the rank of an output that is a matrix. "product": the ranks of its two factors,
    and the size over which it sums; "unchanged": it is the rank of the only matrix among the
    inputs, which is transposed or scaled.
    """

    # ---- cost ------------------------------------------------------------------------------------

    rows: Callable[..., Sequence[bool]] | None = None
    """(*shapes, **attrs) -> for each input, whether row k of the output, along the first dimension,
    depends only on row k of the input; () if rows cannot be computed independently.
    """
    flops: Count | None = None
    """(out, *shapes, **attrs) -> floating-point operations, from the shapes of the output and the
    inputs; None: those of the expansion.
    """
    workspace: Count | None = None
    """(out, *shapes, **attrs) -> elements of temporary arrays, from the shapes of the output and
    the inputs; None: as many as the output.
    """

    # ---- tests and documentation -----------------------------------------------------------------

    examples: Sequence[tuple[str, str]] = ()
    """Pairs (expression, shapes) for the documentation, run by the tests."""
    domain: tuple[float, float] = (-2.0, 2.0)
    """The open interval that example values are drawn from."""
    samples: Sequence[float] = ()
    """Values at which the tests compare with PyTorch."""

    def __init__(self, rule: Any, *, defined_by: Any = None, **fields: Any):
        """A record with these fields. Raises TypeError for unknown fields, and ValueError if there
        is already an operator of this name.
        """
        unknown = fields.keys() - Operator.__annotations__.keys()
        if unknown:
            raise TypeError(f"an operator has no {', '.join(sorted(unknown))}")
        vars(self).update(fields)
        self.rule = rule
        expand = self.expand
        source = defined_by or rule or expand
        self.name = source.__name__.rstrip("_")
        self.module = source.__module__.rsplit(".", 1)[-1]
        self.sentence = (source.__doc__ or "").strip()
        means = rule is None or source is expand
        tensors, self.variadic, named = parameters_of(expand if means else rule, 0 if means else 2)
        self.inputs: tuple[str, ...] = tuple(tensors)
        self.optional = {name for name, default in tensors.items() if default is None}
        if self.attributes is None:
            self.attributes = named
        parameters = (*self.inputs, *self.attributes)
        by_place, _, by_name = (self.order or " ".join(parameters)).partition(" * ")
        self.positional = tuple(by_place.split())
        self.by_name = tuple(by_name.split())
        self.order = tuple(n for n in (*self.positional, *self.by_name) if n in parameters)
        self.torch = self.torch and self.torch.format(name=self.name)
        written = (self.spelling or "").split()
        self.sign = written[1] if written[::2] == ["{0}", "{1}"] else ""
        if OPS.setdefault(self.name, self) is not self:
            raise ValueError(f"a second operator {self.name}")

    def __call__(self, /, *args, **named) -> Node:
        """A node of this operator, with arguments as in PyTorch."""
        return self.call(args, named)

    def call(self, args: Sequence, named: dict[str, Any], span: Span | None = None) -> Node:
        """The node of a call at `span`; keywords may be PyTorch's or NumPy's."""
        plain = len(args) == len(self.inputs) and not self.attributes and not named
        if plain and OPERAND_TYPES.issuperset(map(type, args)):
            nodes = tuple([a if isinstance(a, Node) else as_node(a) for a in args])
            return intern(self, nodes, {}, span)
        inputs, attrs = bind(self, args, named)
        return intern(self, inputs, attrs, span)

    def kink_masks(self, node: Node, moving: Container[Node | None]) -> list[Node]:
        """Masks of elements whose gradient with respect to an input in `moving` is a convention."""
        if self.kink is None or not any(i in moving for i in node.inputs):
            return []
        result = self.kink(node, *node.inputs, **node.attrs)
        if isinstance(result, Node):
            return [result]
        masks = zip(result, node.inputs, strict=True)
        return [mask for mask, i in masks if mask is not None and i in moving]

    def check_dtypes(self, operands: Iterable[Any], name: str = "") -> None:
        """Raise GradcliError for dtypes that PyTorch's function does not accept. `name` is an alias
        to show in the message.
        """
        if self.input_dtypes != "any":
            check_dtypes(name or self.name, self.input_dtypes, operands)

    @property
    def needs_one_dtype(self) -> bool:
        """Whether all tensors must have the same dtype."""
        accepted = self.input_dtypes
        return (accepted if isinstance(accepted, str) else accepted[0]).endswith(ONE_DTYPE)

    def infer(self, node: Node) -> None:
        """Set the shape and dtype of a new node."""
        if self.integer_inputs:
            self._check_integer_inputs(node)
        if self.shape is None:
            node.expansion = self.expand(*node.inputs, **node.attrs)
            node.shape, node.dtype = node.expansion.shape, node.expansion.dtype
            return
        node.shape = self.shape(*[i and i.shape for i in node.inputs], **node.attrs)
        if self.dtype in DTYPES:
            node.dtype = self.dtype
        elif callable(self.dtype):
            node.dtype = self.dtype(**node.attrs)
        else:
            node.dtype = result_dtype(self.dtype, [i.dtype for i in node.inputs if i is not None])

    def _check_integer_inputs(self, node: Node) -> None:
        for name, i in zip(self.inputs, node.inputs, strict=False):
            if name not in self.integer_inputs or i is None:
                continue
            if i.dtype == "float":
                free = i.attrs["name"] if i.op.name == "input" else None
                what = free or f"{name} of {self.name}()"
                text = f"{what} must contain integers or a mask"
                has = "it has no value" if free else "it contains floating-point numbers here"
                how = f"-v {free}=[...]" if free else "--value"
                hint = f"give its values with {how}, or write it out: tensor([0, 2])"
                kind = "bool" if name in self.masks else "int"
                raise NeedsIntegers(f"{text}, and {has}", i, kind, hint)
            if name in self.masks and i.dtype == "int":
                raise GradcliError(
                    "arguments",
                    f"{name} of {self.name}() must be a mask, got integers",
                    hint="a mask of True and False is the result of a comparison: x > 0, m != 0",
                )
            if name not in self.masks and i.dtype == "bool":
                raise GradcliError(
                    "arguments",
                    f"{name} of {self.name}() must contain integers, got a mask",
                    hint="mask.long() has 0 and 1; x[mask] selects the elements where it is True",
                )

    def is_integer_input(self, position: int) -> bool:
        """Whether the input at a position is one of `integer_inputs`."""
        return position < len(self.inputs) and self.inputs[position] in self.integer_inputs

    def expanded(self, node: Node) -> Node:
        """The expansion of `node`; cached."""
        if node.expansion is None:
            try:
                node.expansion = self.expand(*node.inputs, **node.attrs)
            except MISUSES as error:
                raise misused(self.name, self.usage()).at(node.span) from error
        return node.expansion

    def saved_for(self, node: Node) -> Sequence[Any]:
        """What PyTorch saves of `node` for backward, in the forms of the field `saved`."""
        return self.saved(node, *node.inputs, **node.attrs) if callable(self.saved) else self.saved

    def shares_memory(self, node: Node) -> bool:
        """Whether `node` is a view of its first input in PyTorch."""
        return bool(self.view(**node.attrs) if callable(self.view) else self.view)

    def is_smooth(self, node: Node) -> bool:
        """Whether `node` is one smooth function outside its kinks."""
        return self._between_kinks(node) == "smooth"

    def is_sloped(self, node: Node) -> bool:
        """Whether `node` is piecewise, with a nonzero derivative on all pieces."""
        return self._between_kinks(node) == "sloped"

    def _between_kinks(self, node: Node) -> str:
        between = self.between_kinks
        return between(**node.attrs) if callable(between) else between

    def inputs_without_derivative(self, node: Node) -> dict[str, Node]:
        """The inputs of `node` without derivative in PyTorch, by name."""
        return self._inputs_named(self.without_derivative, node)

    def inputs_with_zero_second_derivative(self, node: Node) -> dict[str, Node]:
        """The inputs of `node`, by name, whose gradient has a derivative of 0 in PyTorch."""
        return self._inputs_named(self.zero_second_derivative, node)

    def inputs_with_poles(self, node: Node) -> dict[str, Node]:
        """The inputs of `node` at whose zeros it is infinite, by name."""
        return self._inputs_named(self.poles, node)

    def is_exact(self, node: Node, *, back: bool) -> bool:
        """Whether the value of `node`, or with `back` its gradients, equal PyTorch's to the last
        digit in single precision.
        """
        exact = self.exact
        if callable(exact):
            exact = exact(node, *node.inputs, **node.attrs)
        return exact == "all" or (exact == "value" and not back)

    def double_backward_error(self, node: Node) -> str | None:
        """PyTorch's error message for differentiating the gradient of `node`, or None."""
        return (
            self.once_differentiable(*node.inputs, **node.attrs)
            if callable(self.once_differentiable)
            else self.once_differentiable
        )

    def _inputs_named(self, field: Any, node: Node) -> dict[str, Node]:
        names = field(*node.inputs, **node.attrs) if callable(field) else field
        pairs = zip(self.inputs, node.inputs, strict=False) if names else ()
        return {name: i for name, i in pairs if i is not None and (names is True or name in names)}

    def takes_number(self, position: int, is_number: Sequence[bool]) -> bool:
        """Whether PyTorch's function accepts a number for the input at `position`; `is_number` says
        which inputs are numbers.
        """
        if self.numbers == "together":
            return all(is_number[1:])
        if isinstance(self.numbers, bool):
            return self.numbers
        return self.inputs[position] in self.numbers

    def in_torch(self, node: Node) -> Node | None:
        """An equal node made of PyTorch's operators; None if PyTorch has this operator, or if no
        equal node is known.
        """
        if self.torch is not None or self.spelling:
            return None
        if self.torch_expand is not None:
            return self.torch_expand(*node.inputs, **node.attrs)
        return None if self.expand is None else self.expanded(node)

    def usage(self) -> str:
        """A hint with the signature."""
        return f"signature: {self.signature()}"

    def signature(self) -> str:
        """The signature: `softmax(x, dim)`."""
        parts = []
        for name in self.order:
            default = self.attributes.get(name, None if name in self.optional else REQUIRED)
            star = "*" if self.variadic and name in self.inputs else ""
            parts += ["*"] if name in self.by_name[:1] else []
            parts.append(f"{star}{name}" if default is REQUIRED else f"{name}={default!r}")
        return f"{self.name}({', '.join(parts)})"

    def __repr__(self) -> str:
        return self.name


WORDS = {"bool": "mask", "int": "integers", "float": "floats"}


InputDtypes = str | tuple[str, slice]
ONE_DTYPE = " of one dtype"
FLOATS_FIRST: InputDtypes = "floats", slice(1)  # other operands may be integers or masks


OF_TWO_WIDTHS = "cannot combine int32 and int64"


def check_dtypes(name: str, accepted: InputDtypes, operands: Iterable[Any]) -> None:
    """Raise GradcliError for dtypes that a function does not accept; `accepted` as the field
    `input_dtypes` of `Operator`.
    """
    operands = list(operands)
    if isinstance(accepted, tuple):
        accepted, part = accepted
        operands = operands[part]
    if _dtype_refusal(accepted, operands) is None:
        return
    operands = [1.0 if may_be_floats(x) else x for x in operands]
    text = _dtype_refusal(accepted, operands)
    if text is not None:
        masks = "bool" in dtypes(operands)
        hint = f"convert to {'int64: x.long()' if text == OF_TWO_WIDTHS else 'floats: x.double()'}"
        if masks:
            hint = "mask.double() has its values as 0 and 1, and ~mask is its opposite"
        raise GradcliError("arguments", f"{name}() {text}", hint=hint)


def _dtype_refusal(accepted: str, operands: Sequence[Any]) -> str | None:
    """Why a function does not accept operands; None if it accepts them."""
    kind = accepted.removesuffix(ONE_DTYPE)
    have, of_tensors = dtypes(operands), dtypes(x for x in operands if isinstance(x, Node))
    if "bool" in have and ("no masks" in kind or (kind != "any" and have == {"bool"})):
        return "does not accept a mask"
    if of_tensors and kind.startswith("floats") and "float" not in have:
        return "takes floating-point numbers, not integers"
    if kind != accepted and of_tensors and len(have) > 1:
        return f"cannot combine {' and '.join(WORDS[k] for k in WORDS if k in have)}"
    if kind != accepted and have == {"int"} and {32, 64} <= set(map(_bits, operands)):
        return OF_TWO_WIDTHS
    return None


def _bits(x: Any) -> int | None:
    """The width in bits of an integer operand; None for the result of an operation that is not a
    conversion of dtypes.
    """
    while isinstance(x, Node) and x.op.family == "movement":
        x = x.parents[0]
    return x.op.bits if isinstance(x, Node) and x.inputs else 64


def may_be_floats(x: Any) -> bool:
    """Whether `x` has dtype int only because an input has, whose values could be floats as well."""
    if not isinstance(x, Node) or x.dtype != "int":
        return False
    valued = walk([x], lambda n: () if n.op.dtype in ("int", "bool") else n.inputs)
    return any(n.op.name == "input" and n.dtype == "int" for n in valued)


def dtypes(operands: Iterable[Any]) -> set[str]:
    """The dtypes of tensors and Python numbers."""
    return {v.dtype if isinstance(v, Node) else type(v).__name__ for v in operands}


def result_dtype(rule: str, dtypes: Sequence[str]) -> str:
    """The dtype of an operator's output, from its field `dtype` and the dtypes of its inputs."""
    if rule in ("first", "last"):
        return dtypes[0 if rule == "first" else -1]
    for dtype in ("float", "int"):
        if dtype in dtypes:
            return dtype
    return "bool" if rule == "promote" else "int"
