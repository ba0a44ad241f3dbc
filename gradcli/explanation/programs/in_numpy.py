"""Programs for NumPy: the function, its gradient written out, and central differences."""

from ...language.problem import Input
from ...notation.code.array_code import ArrayWriter, array_text
from ...notation.code.statements import Statements
from .arrays import (
    assigned,
    close,
    forward,
    function,
    helpers,
    mentions,
    modules,
    returned,
    seed_text,
    values,
    with_generator,
)
from .at_sizes import AtSizes
from .draws import Choice, suitable
from .plan import Plan

MANY = 200  # inputs with more elements are perturbed along one random direction only
ELEMENTS = '''
def {name}(f, x, g, h=1e-6):
    """The gradient of (g * f(x)).sum() by central differences, element by element."""
    grad = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = h
        grad[i] = np.sum(g * (f(x + step) - f(x - step))) / (2 * h)
    return grad
'''
SLOPE = '''
def {name}(f, x, direction, g, h=1e-6):
    """The slope of (g * f(x)).sum() along a direction, by central differences."""
    step = h * direction
    return np.sum(g * (f(x + step) - f(x - step))) / (2 * h)
'''


def program(plan: Plan, sized: AtSizes) -> str:
    """Forward, gradient, and a test by finite differences, at given values or random ones."""
    plan.refuse_barriers("numpy")
    return _NumPy(plan, sized).text()


class _NumPy:
    def __init__(self, plan: Plan, sized: AtSizes):
        self.plan, self.sized, self.choice = plan, sized, suitable(plan)
        names = plan.fresh()
        self.f, self.f_grad = names.free("f"), names.free("f_grad")
        self.elements, self.slope = names.free("differences"), names.free("slope")
        self.arguments = [plan.safe(i.name) for i in plan.arguments]
        self.grads = {x.name: names.free(f"{plan.safe(x.name)}_grad") for x in self.plan.wrt}
        self.seed = "" if plan.problem.seed.implicit else plan.problem.seed.name

    def text(self) -> str:
        plan, sized = self.plan, self.sized
        writers = [ArrayWriter(n, sized.generic_sizes) for n in (sized.names, sized.all_names)]
        f = function(self.f, self.arguments, forward(sized, writers[0], plan.fresh()))
        parts = [f, self._gradient(writers[1]), *self._differences(), self._test()]
        whole = helpers(*writers)
        for part in parts:
            whole += [*part, "", ""]
        return "\n".join([*modules(whole), "", "", *whole[:-2]]) + "\n"

    def _gradient(self, writer: ArrayWriter) -> list[str]:
        plan, call = self.plan, f"{self.f}({', '.join(self.arguments)})"
        grads = self.sized.gradients(seeded=bool(self.seed))
        built = Statements(writer, grads, self.sized.named_nodes, plan.fresh())
        what = f"({self.seed} * {call}).sum()" if self.seed else call
        by = " and ".join(", ".join(plan.safe(x.name) for x in plan.wrt).rsplit(", ", 1))
        body = [*assigned(built.lines), *returned(built.formulas)]
        return function(
            self.f_grad, self._all, body, f"The gradient of {what} with respect to {by}."
        )

    @property
    def _all(self) -> list[str]:
        return [*self.arguments, self.seed] if self.seed else self.arguments

    def _differences(self) -> list[list[str]]:
        """The finite-difference functions that the test calls."""
        many = {x.node.numel > MANY for x in self.plan.wrt}
        built = [(False, ELEMENTS, self.elements), (True, SLOPE, self.slope)]
        return [text.strip().format(name=name).splitlines() for m, text, name in built if m in many]

    def _test(self) -> list[str]:
        plan, lines = self.plan, []
        if plan.has_values and not self.choice.keeps_values and plan.holds:
            lines += [*self._at(Choice(None)), *self._by_numbers(), ""]
            lines += ["# at values where differences on both sides agree"]
        elif plan.has_values and not self.choice.keeps_values:
            lines += ["# not at the given values, where the formula does not hold"]
        lines += self._at(self.choice)
        lines += self._by_numbers() if self.choice.keeps_values else []
        for x in plan.wrt:
            lines += self._by_differences(x)
        lines += [f"# {plan.problem.out_name} does not depend on {x.name}" for x in plan.unused]
        return with_generator(lines)

    def _at(self, choice: Choice) -> list[str]:
        """Values, and the gradient there."""
        plan, out = self.plan, self.plan.safe(self.plan.problem.out_name)
        lines = values(plan, choice, plan.inputs, "np")
        if self.seed:
            text = seed_text(plan, ArrayWriter)
            if mentions(text, out):
                lines.append(f"{out} = {self.f}({', '.join(self.arguments)})")
            lines.append(f"{self.seed} = {text}")
        call = f"{self.f_grad}({', '.join(self._all)})"
        return [*lines, "", f"{', '.join(self.grads.values())} = {call}"]

    def _by_numbers(self) -> list[str]:
        """Assertions that the gradients have the values of the answer."""
        lines = []
        for x in self.plan.wrt:
            expected, grad = self.plan.expected(x), self.grads[x.name]
            if expected is not None:
                text = array_text(expected, "np").removeprefix("np.array(").removesuffix(")")
                lines += close(grad, text, "np")
        return lines

    def _by_differences(self, x: Input) -> list[str]:
        """An assertion that a gradient agrees with finite differences."""
        name, grad, seed = self.plan.safe(x.name), self.grads[x.name], self.seed or "1.0"
        f, symmetric = self.f, x in self.plan.symmetric
        if len(self.arguments) > 1:
            f = f"lambda {name}: {self.f}({', '.join(self.arguments)})"
        if x.node.numel > MANY:
            slope = f"{self.slope}({f}, {name}, direction, {seed})"
            lines = [f"direction = rng.normal(size={name}.shape)"]
            lines += ["direction = (direction + direction.mT) / 2"] if symmetric else []
            return [*lines, *close(f"({grad} * direction).sum()", slope, "np")]
        if symmetric:  # perturbs each element together with its mirror image
            shifted = [f"{a} + (step + step.mT) / 2" if a == name else a for a in self.arguments]
            f, grad = f"lambda step: {self.f}({', '.join(shifted)})", f"({grad} + {grad}.mT) / 2"
            name = f"np.zeros_like({name})"
        return close(grad, f"{self.elements}({f}, {name}, {seed})", "np")
