"""The record of an operator: what the program knows about it, in one place.

Identities between operators (notation/formulas/rules, explanation/why/rewriting) name them, and so
do the words of other notations and libraries. What reads, differentiates, computes, checks and
renders asks the records, and knows but the leaves by name.

A record is made from a Python function, its rule: `def tanh(g, y, x): return g * (1 - y * y)`.
Positional parameters after `g` (the gradient of the output) and `y` (the output) are the
tensors, keyword-only ones the attributes with PyTorch's defaults, the docstring is the
operator's sentence.
"""

from collections.abc import Callable, Collection, Container, Iterable, Sequence
from typing import Any, Literal, NamedTuple

from ..errors import MISUSES, GradcliError, Span, misused
from .arguments import REQUIRED, TENSORS, bind, parameters_of
from .node import OPS, Node, as_node, intern, walk
from .shapes import Shape

DTYPES = ("float", "int", "bool")
AGAIN = "again"
PLAIN = frozenset(TENSORS)  # kinds of arguments that need no sorting


class Unlabelled(GradcliError):
    """Floats where labels stand: `node` holds them, and `kind` is what would stand there."""

    def __init__(self, message: str, node: Node, kind: str, hint: str):
        super().__init__("needs-value", message, hint=hint)
        self.node, self.kind = node, kind


class StaysZero:
    """What a rule answers for an input by which PyTorch has a 0 that stays 0, times inf too; `node`
    is that 0, where PyTorch goes back from it.
    """

    def __init__(self, node: Node | None = None):
        self.node = node


class NoRule(NamedTuple):
    """What a rule answers for an input by which there is no derivative; `torch`: what PyTorch says
    where one is asked for.
    """

    torch: str


Meaning = Callable[..., Any]  # nodes of nodes
Count = Callable[..., int]  # of shapes
Names = Collection[str] | Callable[..., Collection[str]]  # of inputs
Between = Literal["", "smooth", "sloped"]
Words = str | Callable[..., str] | None  # how other libraries call it


class Operator:
    """One operator: what its fields hold stands below them.

    The rule is (g, y, *inputs, **attrs) -> the gradient of every input, as graph, or None; or a
    NoRule, or StaysZero. `defined_by` is the function that gives name and sentence, where a family
    wraps the rule; it is not kept.

    Read off the function: `name`; `module`, the file of gradcli/operators; `sentence`; `inputs`; of
    these, `optional` may be left out; `variadic`: the one input takes any number of tensors;
    `places`: `order` with the names that are no parameters; `sign`: what stands between its two
    operands in a formula, as +, and nothing where it is called.
    """

    # ---- what it computes ------------------------------------------------------------------------

    family: str = "operator"
    """What backends and notation may take for granted: elementwise, reduction, ..."""
    shape: Callable[..., Shape] | None = None
    """(*shapes, **attrs) -> the output's shape."""
    dtype: str | Callable[..., str] = "promote"
    """What it holds: "float", "int", "bool"; "promote": the widest of the inputs; "number": the
    same, with bool as int; "first", "last": that of the first input, or the last; or (**attrs) ->
    dtype.
    """
    value: Any = None
    """(*arrays, **attrs) -> array, with NumPy."""
    symbolic: Any = None
    """(sympy, *elements, **attrs) -> element or array, where `value` takes no SymPy elements."""
    expand: Any = None
    """(*inputs, **attrs) -> the same value said with other operators."""
    index: Any = None
    """Its meaning in index notation (notation/indices/lower.py says in which forms)."""
    bounds: Any = None
    """The numbers that its values lie between; or (*bounds of inputs, **attrs) -> those; None: any.
    """
    finite: bool = False
    """Whether its value is finite wherever its inputs are, as that of a sum is."""
    shape_only: bool = False
    """Whether its value depends on the shapes and the precision of its inputs and on no element."""
    finds_places: bool = False
    """Whether its value are places where elements stand, counted from 0."""

    # ---- how it is called ------------------------------------------------------------------------

    aliases: Sequence[str] = ()
    """Its other names."""
    attributes: Any = None
    """Its attributes with their defaults, where the rule's parameters do not tell them."""
    order: Any = None
    """The order of its parameters in a call, where tensors and attributes mix; names in it that are
    no parameters are further ways to give an attribute, for `settle`, or `inplace`.
    """
    older: Sequence[str] = ()
    """Orders of arguments that PyTorch has given up and still takes: numbers stand before or
    between tensors, "input alpha other".
    """
    collect: str | None = None
    """The attribute that takes all further numbers of a call: reshape(x, 2, 3)."""
    whole: Collection[str] = ()
    """The attributes that hold a whole number, or several; the others may hold any number."""
    settle: Callable[..., dict[str, Any]] | None = None
    """(**attrs) -> the attributes, where they may be given in several ways, in one; with what was
    given of the names in `order` that are no parameters.
    """
    labels: Collection[str] = ()
    """The inputs that hold whole numbers or masks, not numbers to differentiate by."""
    masks: Collection[str] = ()
    """Those of them that hold a mask, and no whole numbers."""
    reach: Callable[..., None] | None = None
    """(*inputs, **attrs) -> raises an error `index` where labels reach beyond what they pick from:
    labels as arrays, of other inputs their shapes; None: its value tells.
    """
    takes: "Takes" = "any"
    """What PyTorch's function computes with: "any"; "numbers": no masks alone; "floats": no
    integers and masks alone; "no masks": none beside numbers either; "floats of one kind",
    "any of one kind": the same, and its tensors all hold floats, or integers, or truth values; or
    one of these and the slice of its inputs that it holds for.
    """
    numbers: bool | Literal["together"] | Collection[str] = False
    """Whether PyTorch takes a number for an input, where no sign (+, *) stands for it; or the
    inputs for which it does; "together": for all after the first, or for none.
    """
    of_one: tuple[str, dict[str, Any]] | None = None
    """The function, with its keywords, that PyTorch's name is of the first input alone."""
    takes_dtype: bool = False
    """Whether PyTorch's function takes a dtype, though its family takes none."""

    # ---- where a convention answers --------------------------------------------------------------

    kink: Callable[..., Any] | None = None
    """(y, *inputs, **attrs) -> mask of the elements where a convention answers; or a mask for each
    input, of where it does as that input moves.
    """
    caveat: str | None = None
    """Which convention, in words."""
    between_kinks: Between | Callable[..., Between] = ""
    """What it is but at its kink: "smooth": one smooth function; "sloped": made of pieces, and its
    derivative 0 on none of them; "": neither is known; or (**attrs) -> that.
    """

    # ---- how formulas and code write it ----------------------------------------------------------

    spelling: Any = None
    """How a formula writes it; None: as a call."""
    method: bool = False
    """Whether a formula calls it as a method: x.sum(dim=1)."""
    of_numbers: str | None = None
    """How a formula writes it for Python numbers, of which PyTorch's function takes none."""
    said: Meaning | None = None
    """(*inputs, **attrs) -> the same in operators that PyTorch has, where it has no such function:
    what formulas say; None: what it means (`expand`).
    """
    numpy: Words = None
    """What to call it in NumPy or SciPy: a name, "np.exp"; or a text with {0}, {1} for the inputs,
    {dim} for an attribute, {dim?} for one left out where it is as usual; or (**attrs) -> text.
    None: it is said as it is meant, or not at all.
    """
    jax: str | None = None
    """The same in JAX; None: as in NumPy, "": JAX has no words for it."""

    # ---- what PyTorch does -----------------------------------------------------------------------

    torch: Any = "torch.{name}"
    """The name to call it by in PyTorch; None: PyTorch has no such function."""
    part_of: str = ""
    """The function of PyTorch's that it is a part of, where PyTorch names that alone."""
    view: bool | Callable[..., bool] = False
    """(**attrs) -> whether PyTorch's answer shares the memory of the first input; or that."""
    saved: Any = (...,)
    """What PyTorch keeps for the way back, where that is not what the rule reads: names of inputs,
    "output", ... for what the rule reads, AGAIN for that without the output, which PyTorch computes
    again, and nodes; or (output, *inputs, **attrs) -> the same.
    """
    fixed: Names = ()
    """The inputs by which PyTorch has no derivative, though there is one; or (*inputs, **attrs) ->
    those.
    """
    symmetric: Collection[str] = ()
    """The inputs of which it reads one triangle, while its gradient, as PyTorch's, is for matrices
    that stay symmetric.
    """
    triangular: Callable[..., tuple[str, str]] | None = None
    """(**attrs) -> an input of which it reads one triangle, while its gradient, as PyTorch's, takes
    the other to be 0 and is not 0 there; and "tril" or "triu".
    """
    with_graph: Meaning | None = None
    """(*inputs, **attrs) -> what PyTorch has in its place in a gradient of which it keeps the graph
    (create_graph=True), where that are other numbers.
    """
    flat: Names | Literal[True] = ()
    """The inputs by which PyTorch has 0 for the derivative of its gradient, not nothing, and sends
    it on; True: all; or (*inputs, **attrs) -> those.
    """
    once: str | Callable[..., str | None] | None = None
    """What PyTorch says where its gradient is differentiated again, if it cannot do that; or
    (*inputs, **attrs) -> that, or None.
    """
    digits: Literal["", "vary", "single"] = ""
    """Which of PyTorch's digits are its own: those of its value "vary" with whether a gradient is
    asked for; a number in its gradient is rounded to "single" precision.
    """

    # ---- shapes that are usual -------------------------------------------------------------------

    as_a_rule: Collection[Literal["matrices", "square", "batches"]] = ()
    """What its inputs are as a rule, though they need not be: its tensors "matrices"; a matrix that
    it takes "square"; its first input in "batches", with as many dimensions as the second.
    """
    alike: Collection[str] = ()
    """The inputs that have one shape as a rule, though they are broadcast."""
    usual: Callable[..., Iterable[tuple[int, int]]] | None = None
    """(*shapes, **attrs) -> pairs of sizes of its inputs that are equal as a rule, though they need
    not be; None: there are none.
    """

    # ---- what it costs ---------------------------------------------------------------------------

    rows: Callable[..., Sequence[bool]] | None = None
    """(*shapes, **attrs) -> for each input, whether row k of the output, along the first dimension,
    needs only its row k; nothing, where rows are not computed apart.
    """
    flops: Count | None = None
    """(out, *shapes, **attrs) -> floating-point operations, from the shape of the output and those
    of the inputs; None: as many as its meaning.
    """
    workspace: Count | None = None
    """(out, *shapes, **attrs) -> elements of the arrays that its value makes on the way, from the
    shape of the output and those of the inputs; None: as many as the output.
    """

    # ---- tests and documentation -----------------------------------------------------------------

    examples: Sequence[tuple[str, str]] = ()
    """Pairs (expression, shapes), which the documentation shows and the tests run."""
    domain: tuple[float, float] = (-2.0, 2.0)
    """The open interval that examples draw their values from."""
    samples: Sequence[float] = ()
    """Points that the tests compare with PyTorch."""

    def __init__(self, rule: Any, *, defined_by: Any = None, **fields: Any):
        """A record with these fields. Raises TypeError where it has no such field; ValueError for a
        second operator of the name.
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
        self.places = tuple(self.order.split()) if self.order else parameters
        self.order = tuple(name for name in self.places if name in parameters)
        self.torch = self.torch and self.torch.format(name=self.name)
        written = (self.spelling or "").split()
        self.sign = written[1] if written[::2] == ["{0}", "{1}"] else ""
        if OPS.setdefault(self.name, self) is not self:
            raise ValueError(f"a second operator {self.name}")

    def __call__(self, /, *args, **named) -> Node:
        """A node of this operator; arguments as PyTorch takes them."""
        return self.made(args, named)

    def made(self, args: Sequence, named: dict[str, Any], span: Span | None = None) -> Node:
        """The node of a call that stands at `span`; its keywords may have any names."""
        plain = len(args) == len(self.inputs) and not self.attributes and not named
        if plain and PLAIN.issuperset(map(type, args)):
            nodes = tuple([a if isinstance(a, Node) else as_node(a) for a in args])
            return intern(self, nodes, {}, span)
        inputs, attrs = bind(self, args, named)
        return intern(self, inputs, attrs, span)

    def kink_masks(self, node: Node, moving: Container[Node | None]) -> list[Node]:
        """Masks of where a convention answers, as some of a node's inputs move."""
        if self.kink is None or not any(i in moving for i in node.inputs):
            return []
        result = self.kink(node, *node.inputs, **node.attrs)
        if isinstance(result, Node):
            return [result]
        masks = zip(result, node.inputs, strict=True)
        return [mask for mask, i in masks if mask is not None and i in moving]

    def check_kinds(self, operands: Iterable[Any], name: str = "") -> None:
        """Refuse masks and integers where PyTorch does not compute with them; in `name`, which is
        this operator in other words.
        """
        if self.takes != "any":
            check_kinds(name or self.name, self.takes, operands)

    @property
    def of_one_kind(self) -> bool:
        """Whether its tensors all hold the same: floats, integers or truth values."""
        kind = self.takes if isinstance(self.takes, str) else self.takes[0]
        return kind.endswith(ONE_KIND)

    def infer(self, node: Node) -> None:
        """Give a new node its shape and dtype."""
        if self.labels:
            self._check_labels(node)
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

    def _check_labels(self, node: Node) -> None:
        for name, i in zip(self.inputs, node.inputs, strict=False):
            if name not in self.labels or i is None:
                continue
            if i.dtype == "float":
                free = i.attrs["name"] if i.op.name == "input" else None
                what = free or f"{name} of {self.name}()"
                text = f"{what} holds whole numbers or a mask"
                has = "it has no such value" if free else "here it holds floating-point numbers"
                how = f"-v {free}=[...]" if free else "--value"
                hint = f"give its numbers with {how}, or write it out: tensor([0, 2])"
                kind = "bool" if name in self.masks else "int"
                raise Unlabelled(f"{text}, and {has}", i, kind, hint)
            if name in self.masks and i.dtype == "int":
                raise GradcliError(
                    "arguments",
                    f"{name} of {self.name}() must hold a mask, not whole numbers",
                    hint="of True and False, as a comparison gives it: x > 0, m != 0",
                )
            if name not in self.masks and i.dtype == "bool":
                raise GradcliError(
                    "arguments",
                    f"{name} of {self.name}() must hold whole numbers, not a mask",
                    hint="0 and 1 in its place are mask.long(); x[mask] picks what it holds for",
                )

    def is_label(self, place: int) -> bool:
        """Whether the input at a place holds labels, which are no numbers to compute with."""
        return bool(self.labels) and place < len(self.inputs) and self.inputs[place] in self.labels

    def expanded(self, node: Node) -> Node:
        """What `node` is made of."""
        if node.expansion is None:
            try:
                node.expansion = self.expand(*node.inputs, **node.attrs)
            except MISUSES as error:
                raise misused(self.name, self.usage()).at(node.span) from error
        return node.expansion

    def shares_memory(self, node: Node) -> bool:
        """Whether `node` is a view of its first input in PyTorch."""
        return bool(self.view(**node.attrs) if callable(self.view) else self.view)

    def is_smooth(self, node: Node) -> bool:
        """Whether `node` is one smooth function everywhere but at its kink."""
        return self._between_kinks(node) == "smooth"

    def is_sloped(self, node: Node) -> bool:
        """Whether `node` is made of pieces, and its derivative 0 on none of them."""
        return self._between_kinks(node) == "sloped"

    def _between_kinks(self, node: Node) -> str:
        between = self.between_kinks
        return between(**node.attrs) if callable(between) else between

    def fixed_inputs(self, node: Node) -> dict[str, Node]:
        """The inputs of `node`, by name, by which PyTorch has no derivative."""
        return self._inputs_named(self.fixed, node)

    def flat_inputs(self, node: Node) -> dict[str, Node]:
        """The inputs of `node`, by name, whose gradient PyTorch says to have a derivative of 0."""
        return self._inputs_named(self.flat, node)

    def refused_again(self, node: Node) -> str | None:
        """What PyTorch says where the gradient of `node` is differentiated; None: it can be."""
        return self.once(*node.inputs, **node.attrs) if callable(self.once) else self.once

    def _inputs_named(self, field: Any, node: Node) -> dict[str, Node]:
        names = field(*node.inputs, **node.attrs) if callable(field) else field
        pairs = zip(self.inputs, node.inputs, strict=False) if names else ()
        return {name: i for name, i in pairs if i is not None and (names is True or name in names)}

    def takes_number(self, place: int, is_number: Sequence[bool]) -> bool:
        """Whether a number may stand in the place of an input in a call of PyTorch's function, by
        whether the inputs that are given are numbers.
        """
        if self.numbers == "together":
            return all(is_number[1:])
        if isinstance(self.numbers, bool):
            return self.numbers
        return self.inputs[place] in self.numbers

    def in_torch(self, node: Node) -> Node | None:
        """What formulas say for `node`; None where PyTorch has a name for it, or no words."""
        if self.torch is not None or self.spelling:
            return None
        if self.said is not None:
            return self.said(*node.inputs, **node.attrs)
        return None if self.expand is None else self.expanded(node)

    def usage(self) -> str:
        """How it is called, as a hint."""
        return f"it is called as {self.signature()}"

    def signature(self) -> str:
        """`softmax(x, dim)`, as a call is written."""
        parts = []
        for name in self.order:
            default = self.attributes.get(name, None if name in self.optional else REQUIRED)
            star = "*" if self.variadic and name in self.inputs else ""
            parts.append(f"{star}{name}" if default is REQUIRED else f"{name}={default!r}")
        return f"{self.name}({', '.join(parts)})"

    def __repr__(self) -> str:
        return self.name


WORDS = {"bool": "mask", "int": "integers", "float": "floats"}


Takes = str | tuple[str, slice]
ONE_KIND = " of one kind"
FLOATS_FIRST: Takes = "floats", slice(1)  # the others may be integers and masks


def check_kinds(name: str, takes: Takes, operands: Iterable[Any]) -> None:
    """Refuse operands of kinds that a function does not compute with, as the field `takes` of an
    operator says.
    """
    operands = list(operands)
    if isinstance(takes, tuple):
        takes, part = takes
        operands = operands[part]
    if _refused_kinds(takes, operands) is None:
        return
    operands = [1.0 if _may_be_floats(x) else x for x in operands]
    text = _refused_kinds(takes, operands)
    if text is not None:
        masks = "bool" in dtypes(operands)
        hint = "its numbers, 0 and 1, are mask.double(), and its opposite is ~mask"
        raise GradcliError(
            "arguments", f"{name}() {text}", hint=hint if masks else "as floats: x.double()"
        )


def _refused_kinds(takes: str, operands: Sequence[Any]) -> str | None:
    """What a function does not take among these operands, in words."""
    kind = takes.removesuffix(ONE_KIND)
    kinds, tensors = dtypes(operands), dtypes(x for x in operands if isinstance(x, Node))
    if "bool" in kinds and ("no masks" in kind or (kind != "any" and kinds == {"bool"})):
        return "takes no mask"
    if tensors and kind.startswith("floats") and "float" not in kinds:
        return "takes floating-point numbers, no integers"
    if kind != takes and tensors and len(kinds) > 1:
        return f"takes no {' beside '.join(WORDS[k] for k in WORDS if k in kinds)}"
    return None


def _may_be_floats(x: Any) -> bool:
    """Whether integers come from an input: they stay integers only where they pick elements."""
    if not isinstance(x, Node) or x.dtype != "int":
        return False
    valued = walk([x], lambda n: () if n.op.dtype in ("int", "bool") else n.inputs)
    return any(n.op.name == "input" and n.dtype == "int" for n in valued)


def dtypes(operands: Iterable[Any]) -> set[str]:
    """What tensors and numbers hold."""
    return {v.dtype if isinstance(v, Node) else type(v).__name__ for v in operands}


def result_dtype(rule: str, dtypes: Sequence[str]) -> str:
    """The dtype of an operator's output, by its `dtype` and those of its inputs."""
    if rule in ("first", "last"):
        return dtypes[0 if rule == "first" else -1]
    for dtype in ("float", "int"):
        if dtype in dtypes:
            return dtype
    return "bool" if rule == "promote" else "int"
