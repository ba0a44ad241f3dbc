"""The steps from a request to a problem: parsing, and the inference of missing shapes and
dtypes.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import chain, count
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any, NoReturn

from ..errors import GradcliError, did_you_mean
from ..graphs import OPS, Node
from ..graphs.operator import NeedsIntegers
from ..graphs.shapes import Shape, numel, text
from ..lazy import np
from ..limits import Limits
from ..process import uncollected
from .arguments.assumptions import Assumed, check_shape, check_value
from .arguments.directions import Direction, as_graph, read_direction
from .arguments.integer_inputs import (
    MOST,
    assumable_input,
    check_bounds,
    floats_error,
    integer_nodes,
    placeholder_values,
)
from .arguments.seeds import Seed, implied, seed_name, wrong_shape
from .arguments.values import Reader
from .built import Built, built, built_without_values
from .names import check_derivative, check_words, free_names
from .namespaces import check_modules
from .problem import Input, Problem
from .program import Program, read_program
from .wrt import check_output, chosen

if TYPE_CHECKING:
    from .inference.infer import Outcome


@uncollected()
def pose(
    expr: str,
    *,
    shapes: Mapping[str, Shape] | None = None,
    values: Mapping[str, Any] | None = None,
    grad: Any = None,
    wrt: Collection[str] | None = None,
    limits: Limits | None = None,
    random_seed: int = 0,
    stdin: IO[bytes] | None = None,
    assume: Assumed | None = None,
    out_shape: Shape | None = None,
    suppose: bool = False,
    ranks: Mapping[str, int] | None = None,
    leaves: Collection[str] = (),
    notes: tuple[tuple[str, str], ...] = (),
) -> Problem:
    """The problem that a request poses. Raises GradcliError for an invalid request.

    Missing shapes are inferred such that the output has `out_shape` and some inputs have these
    `ranks`. `suppose`: if no input has a value, integer inputs get placeholder values. `leaves` are
    inputs even if the expression does not use them; `notes` are added to the problem.
    """
    shapes, values, limits = dict(shapes or {}), values or {}, limits or Limits()
    program = read_program(expr, limits)
    names = tuple(dict.fromkeys([*free_names(program, (*shapes, *values)), *leaves]))
    check_derivative(program, names, {*shapes, *values})
    check_words(program, names, {*shapes, *values})
    check_modules(program, names, {*names} - {*shapes, *values})
    _check_used([*shapes, *values, *(assume or {})], names)
    reader = Reader(limits, random_seed, stdin)
    arrays = {name: reader.read(value, name) for name, value in values.items()}
    arguments = program, names, shapes, arrays, reader, assume or {}
    posing = Posing(*arguments, grad=grad, out_shape=out_shape, ranks=ranks or {})
    try:
        suppose = suppose and not arrays
        return (posing.with_placeholders if suppose else posing.problem)(wrt)._replace(notes=notes)
    except NeedsIntegers as error:
        raise floats_error(error, arrays) from None


def _check_used(given_names: Collection[str], names: Collection[str]) -> None:
    for name in given_names:
        if name not in names:
            near = did_you_mean(name, names)
            listed = (
                f"the inputs are {', '.join(names)}" if names else "the expression has no inputs"
            )
            raise GradcliError(
                "unused-option", f"there is no input {name} in the expression", hint=near or listed
            )


class Posing:
    """The steps from parsed arguments to a Problem."""

    def __init__(
        self,
        program: Program,
        names: Sequence[str],
        shapes: dict[str, Shape],
        arrays: dict[str, Any],
        reader: Reader,
        assume: Assumed,
        *,
        grad: Any = None,
        out_shape: Shape | None = None,
        ranks: Mapping[str, int] = MappingProxyType({}),
        sizes: bool = False,
    ):
        self.program, self.names, self.arrays = program, names, arrays
        self.reader, self.limits, self.assume = reader, reader.limits, assume
        self.ranks, self.sizes = ranks, sizes
        self.known_shapes: dict[str, Shape] = {
            name: self._shape(name, shapes) for name in (*shapes, *arrays)
        }
        self.floats: set[str] = set()
        self.supposed: dict[str, str] = {}  # dtypes of inputs with placeholder values, by name
        self.seed = None if grad is None else read_direction(grad, "--grad", reader)
        self.out_shape = out_shape if self.seed is None else _shape_of(self.seed)

    def _shape(self, name: str, shapes: dict[str, Shape]) -> Shape:
        if name not in self.arrays:
            self.limits.check_shape(numel(shapes[name]), f"the input {name}")
            return tuple(shapes[name])
        have = self.arrays[name].shape
        if name in shapes and tuple(shapes[name]) != have:
            shape_given = f"its shape was given as {text(shapes[name])}"
            message = f"the value of {name} has shape {text(have)}, and {shape_given}"
            raise GradcliError("shape", message, hint="one of the two is enough")
        return have

    # ---- shapes and dtypes -----------------------------------------------------------------------

    def with_placeholders(self, wrt: Collection[str] | None) -> Problem:
        """The problem, with placeholder values for inputs that are used as indices or masks."""
        first: NeedsIntegers | None = None
        while True:
            try:
                result = self.problem(wrt)
            except NeedsIntegers as error:
                name = assumable_input(error, (*self.supposed, *(wrt or ())))
                if name is None:
                    raise
                first, self.supposed[name] = first or error, error.kind
                continue
            if first and any(result.inputs[name].shape == () for name in self.supposed):
                raise first  # a single index must be a literal number
            return result

    def problem(self, wrt: Collection[str] | None) -> Problem:
        """The problem. Raises GradcliError."""
        shapes, assumed = self._all_shapes()
        for name, words in self.assume.items():
            check_shape(name, words, shapes[name])
            if name in self.arrays:
                check_value(name, words, self.arrays[name])
        self._determine_dtypes(shapes)
        nodes, result = self._build(shapes)
        for name in assumed:
            self.limits.check_shape(numel(shapes[name]), f"the input {name}")
        out, scope = result.out, result.scope
        inputs = self._inputs(nodes, assumed)
        check_output(out, self.program)
        self._check_integer_inputs(out, nodes, self.limits)
        by = chosen(wrt, inputs)
        seed = self._seed(out, nodes, scope)
        out_name = self._out_name()
        built = {name: v for name, v in scope.items() if isinstance(v, Node)}
        named = {name: node for name, node in built.items() if name not in self.names}
        constants = {name: v for name, v in scope.items() if name not in built}
        return Problem(
            self.program,
            inputs,
            out,
            out_name,
            named,
            seed,
            by,
            self.limits,
            constants,
            generic_sizes=result.of_sizes if self.sizes else None,
            indices=tuple(result.indices),
            statement_values=result.statement_values,
        )

    def _check_integer_inputs(self, out: Node, nodes: dict[str, Node], limits: Limits) -> None:
        check_bounds(out, {nodes[name]: self._value(name) for name in self.arrays}, limits)

    def _inputs(
        self, nodes: dict[str, Node], assumed: Mapping[str, tuple[int, ...]]
    ) -> dict[str, Input]:
        values = self._values(nodes)
        return {
            name: Input(
                name,
                nodes[name],
                values.get(nodes[name]),
                assumed.get(name, ()),
                name in self.floats,
                name in self.supposed,
                name not in self.known_shapes,
            )
            for name in self.names
        }

    def _out_name(self) -> str:
        """The name of the output: that of the last statement, or an unused one: out, out2, ..."""
        name = self.program.output_name
        if name not in self.names:
            return name
        used = {*self.names, *self.program.names}
        return next(n for n in chain(["out"], map("out{}".format, count(2))) if n not in used)

    def _all_shapes(self) -> tuple[dict[str, Shape], dict[str, tuple[int, ...]]]:
        known = self.known_shapes
        unknown = [name for name in self.names if name not in known]
        if not unknown:
            return known, {}
        from .inference.infer import infer

        rank = None if self.out_shape is None else len(self.out_shape)
        arguments = self.program, known, unknown, self.attempt, rank, self.ranks, self.supposed
        match = self.limits.budget.search(
            lambda: infer(*arguments), lambda: _shapes_unknown(unknown, self.limits)
        )
        return known | match.shapes, match.assumed

    def attempt(self, shapes: dict[str, Shape]) -> "Outcome":
        """Build the program with these shapes, for inference. Raises GradcliError."""
        from .inference.infer import Outcome

        for name, words in self.assume.items():
            check_shape(name, words, shapes[name])
        nodes, result = self._build(shapes, self.limits.without("elements"))
        self._check_integer_inputs(result.out, nodes, Limits({"elements": MOST}))
        roots = [result.out, *result.named]
        if self.out_shape is not None:
            return Outcome.of(roots, self.out_shape)
        seed = self._build_seed(nodes, result.out, result.scope)
        return Outcome.of(roots, None if seed is None else seed.shape)

    def _determine_dtypes(self, shapes: dict[str, Shape]) -> None:
        """Keep integer values that are used as indices as integers; convert others to floats."""
        whole = [name for name, array in self.arrays.items() if array.dtype.kind == "i"]
        if whole:
            nodes, result = self._build(shapes)
            integers = integer_nodes(
                [result.out, *result.named, *result.outputs], result.indices, result.out
            )
            self.floats = {name for name in whole if nodes[name] not in integers}

    def _value(self, name: str) -> Any:
        array = self.arrays[name]
        return array.astype(np.float64) if name in self.floats else array

    def _values(self, nodes: dict[str, Node]) -> dict[Node, Any]:
        """The arrays of the inputs, including placeholder values."""
        built = {nodes[name]: placeholder_values(nodes[name]) for name in self.supposed}
        return built | {nodes[name]: self._value(name) for name in self.arrays}

    def _dtype(self, name: str) -> str:
        array = self.arrays.get(name)
        if array is None or name in self.floats:
            return self.supposed.get(name, "float")
        return {"i": "int", "b": "bool"}.get(array.dtype.kind, "float")

    # ---- graph -----------------------------------------------------------------------------------

    def _build(
        self, shapes: dict[str, Shape], limits: Limits | None = None
    ) -> tuple[dict[str, Node], Built]:
        """The input nodes, and the graph of the program."""
        make = OPS["input"]
        nodes = {
            name: make(
                name=name,
                shape=shapes[name],
                dtype=self._dtype(name),
                known=self.assume.get(name, ()),
            )
            for name in self.names
        }
        seed, limit = self.reader.random_seed, limits or self.limits
        how = self.program, tuple(nodes.values()), limit, seed, self.sizes
        result = built_without_values(*how) if limits is None else None
        if result is None:
            result = built(*how, self._values(nodes), {nodes[name] for name in self.supposed})
        return nodes, result

    def _build_seed(self, nodes: dict[str, Node], out: Node, scope: dict[str, Any]) -> Node | None:
        """The given seed as a graph; None if there is none."""
        if self.seed is None:
            return None
        values, names = self._values(nodes), {"out": out} | scope
        return as_graph(self.seed, "g", names, values, out.shape, self.reader)

    def _seed(self, out: Node, nodes: dict[str, Node], scope: dict[str, Any]) -> Seed:
        node = OPS["input"](name=seed_name(scope), shape=out.shape, is_direction=True)
        value = self._build_seed(nodes, out, scope)
        if value is None:
            return implied(node)
        if value.shape != out.shape:
            raise wrong_shape(value.shape, out, self.program)
        assert self.seed is not None
        return Seed(node, value, self.seed.text)


def _shapes_unknown(names: Sequence[str], limits: Limits) -> NoReturn:
    """Raise the error that shapes could not be inferred within the budget."""
    hint = f"give shapes: {' '.join(f'-s {name}=2x3' for name in names)}; or --limit seconds=N"
    message = f"it takes more than {limits.sizes['seconds']} s to find shapes for the inputs"
    raise GradcliError("limit", message, hint=hint)


def _shape_of(direction: Direction) -> Shape | None:
    """The shape of an array; None for an expression."""
    return None if direction.array is None else direction.array.shape


# ---- targets -------------------------------------------------------------------------------------


def pose_targets(
    targets: Mapping[str, Any], reader: Reader, arguments: dict[str, Any]
) -> tuple[Problem, dict[str, Any]]:
    """The problem, differentiated with respect to the inputs with targets, and the targets as float
    arrays.

    `arguments` are those of `pose`. An input without a given shape has that of its target. Raises
    GradcliError.
    """
    if not targets:
        hint = 'as in --target "x=[1, 2]"'
        raise GradcliError("option", "there is no target: which gradient should it be?", hint=hint)
    arrays = {n: np.asarray(reader.read(t, f"--target {n}"), float) for n, t in targets.items()}
    for name, target in arrays.items():
        if not np.all(np.isfinite(target)):
            raise GradcliError(
                "value", f"the target of {name} contains a number that is not finite"
            )
    shapes = {name: a.shape for name, a in arrays.items() if name not in arguments["values"]}
    shapes |= dict(arguments["shapes"])
    problem = pose(**arguments | {"shapes": shapes, "wrt": list(arrays)})
    for x in problem.wrt:
        have = arrays[x.name].shape
        if have != x.shape:
            message = f"the target of {x.name} has shape {text(have)}, and {x.name} {text(x.shape)}"
            raise GradcliError("shape", message, hint="a gradient has the shape of its input")
    return problem, arrays
