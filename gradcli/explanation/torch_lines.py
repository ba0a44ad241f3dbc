"""PyTorch code that reproduces a problem: inputs, statements, backward."""

from functools import cached_property

from ..autodiff.reverse import double_backward_errors
from ..graphs import Node, walk
from ..graphs.shapes import Shape
from ..language.problem import Input, Problem
from ..notation import tree
from ..notation.code.statements import Names, Statements
from ..notation.code.torch_code import LARGE, TorchWriter, array
from ..notation.formulas.formula import TOO_LONG
from ..notation.tree import Name

UNDERIVED = "# no backward(): PyTorch has no derivative of this, and raises an error"
MODULES = ("torch", "F", "math")


def program_lines(problem: Problem, in_double: bool) -> list[str]:
    """The lines of Python that reproduce a Problem: inputs, statements, backward; for a higher
    order a line for each gradient in place of backward.
    """
    lowest, *further = problem.orders
    first = _Program(lowest._replace(wrt=problem.wrt))
    programs = [first, *map(_Program, further)]
    lines = ["torch.set_default_dtype(torch.float64)"] if in_double else []
    lines += first.statements()
    return lines + (first.backward() if not further else _gradients(programs))


def _gradients(programs: "list[_Program]") -> list[str]:
    """A line for the gradient of each order with respect to the only input in `wrt`."""
    (x,) = programs[-1].problem.wrt
    lines = []
    for order, program in enumerate(programs, 1):
        if order == 2:
            refused = double_backward_errors(programs[0].problem.out, x.node).values()
            lines += [f"# here PyTorch raises an error: {text}" for text in refused]
        seeds = [] if program.problem.seed.implicit else [program.seed()]
        options = ["create_graph=True"] if order < len(programs) else []
        arguments = ", ".join([program.out_name, x.name, *seeds, *options])
        lines.append(f"{gradient_variable(x.name, order)} = torch.autograd.grad({arguments})[0]")
    return lines


def gradient_variable(x: str, order: int) -> str:
    """The variable for the gradient of some order: x_grad, x_grad2."""
    return f"{x}_grad{order if order > 1 else ''}"


class _Program:
    def __init__(self, problem: Problem):
        self.problem = problem
        self.names = {i.node: Name(i.name) for i in problem.inputs.values()}
        self.out_name = problem.out_name.replace(".", "_")
        if problem.lower_order is not None:
            self.names |= {node: Name(name) for name, node in problem.named.items()}
            self.names[problem.out] = Name(self.out_name)

    def statements(self) -> list[str]:
        """The lines that define the inputs and the output."""
        p = self.problem
        inputs = [self._input(i, i.node in self.differentiated) for i in p.inputs.values()]
        return [*inputs, *self._statements()]

    @cached_property
    def differentiated(self) -> set[Node]:
        """The inputs that PyTorch differentiates with respect to."""
        return {i.node for i in self.problem.wrt} - fixed(self.problem.out)

    def _input(self, x: Input, differentiated: bool) -> str:
        option = ", requires_grad=True" if differentiated else ""
        if x.value is None:
            sizes = ", ".join(map(str, x.shape)) or "()"
            return f"{x.name} = torch.randn({sizes}{option})"
        if x.value.size > LARGE:
            return f"# {x.name}: your values, shape {_times(x.shape)}"
        return f"{x.name} = {array(x.value, differentiated)}"

    def _statements(self) -> list[str]:
        """The user's statements that the output needs, in the order of their nodes."""
        p = self.problem
        named = {node: name for name, node in p.named.items() if node not in self.names}
        lines = []
        for node in walk([p.out]):
            if node in named and node is not p.out:
                lines += self._assigned(node, named[node])
        return [*lines, *self._assigned(p.out, p.out_name)]

    def _assigned(self, node: Node, name: str) -> list[str]:
        """The line that assigns a node to a name. If its formula is long by repetition, lines that
        name the repeated parts come before it.
        """
        lines, written = [], TorchWriter(self.names).tree(node)
        if tree.size(written) > max(TOO_LONG, 2 * tree.length(written)):
            parts = Statements(TorchWriter(self.names), [node], {}, self.fresh)
            lines = [f"{part.name} = {part.text}" for part in parts.lines]
            self.names |= {part: Name(called) for part, called in parts.named.items()}
            (written,) = parts.formulas
        self.names.setdefault(node, Name(name))
        return [*lines, f"{name} = {tree.text(written)}"]

    @cached_property
    def fresh(self) -> Names:
        """Names that the program does not use."""
        p = self.problem
        taken: set[str] = {*MODULES, *p.inputs, *p.named, self.out_name, p.seed.name}
        return Names(taken | {name.text for name in self.names.values()})

    def backward(self) -> list[str]:
        """The call of backward(), or a comment why there is none."""
        p, seed = self.problem, self.problem.seed
        if not self.differentiated:
            return [UNDERIVED]
        if seed.implicit:
            return [f"{p.out_name}.backward()"]
        if seed.value is None:
            hint = f"# or any seed of shape {p.out.shape}"
            return [f"{p.out_name}.backward({self.seed()})  {hint}"]
        values = p.seed.array
        if values is not None and values.size > LARGE:
            comment = f"# {seed.name}: your seed, shape {_times(values.shape)}"
            return [comment, f"{p.out_name}.backward({self.seed()})"]
        return [f"{p.out_name}.backward({self.seed()})"]

    def seed(self) -> str:
        """The seed in Python; ones if none was given."""
        p = self.problem
        if p.seed.value is None:
            return f"torch.ones_like({self.out_name})"
        values = p.seed.array
        if values is None:
            return self._written(p.seed.value)
        return p.seed.name if values.size > LARGE else array(values)

    def _written(self, value: Node) -> str:
        writer = TorchWriter(self.names)
        written = writer.tree(value)
        if value in writer.numbers:
            return f"torch.tensor(float({tree.text(written)}))"
        return tree.text(written)


def fixed(out: Node) -> set[Node]:
    """The nodes that PyTorch refuses to differentiate with respect to."""
    result: list[Node] = []
    for node in walk([out], lambda n: (*n.inputs, n.expansion)):
        result += node.op.inputs_without_derivative(node).values()
    return set(walk(result, lambda n: () if n.op.family == "barrier" else n.inputs))


def _times(shape: Shape) -> str:
    return "×".join(map(str, shape))
