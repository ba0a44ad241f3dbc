"""Names for reductions that every element of a formula would repeat, such as n for x.norm() in the
entries of the Jacobian of `x / x.norm()`.

Formulas, index notation and elements of one answer use the same names.
"""

from collections.abc import Collection, Iterator
from copy import copy
from itertools import chain, count

from ...graphs import OPS, Node, downstream, walk
from ...notation import tree
from ...notation.formulas.formula import Writer
from ...notation.tree import Name
from ..analysis import is_large
from .formula_writer import Definition, FormulaWriter

LETTERS = {"vector_norm": "n", "softmax": "p"}  # names by operator
STANDARDISED = "z"  # the name of layer_norm(x), and of similar results that have the shape of x
OTHER = "s"  # the name for other operators
# a name stands for a reduction with these operations on it and constants: sqrt(x.var() + eps)
CONTINUED = ("add", "sub", "sqrt", "rsqrt")
WITH_REDUCTIONS = ("softmax", "sqrt", "rsqrt")  # get names even if elements are linear in them
LINEAR = ("add", "sub", "neg", "mul", "div")


def with_named_reductions(w: FormulaWriter) -> FormulaWriter:
    """A copy of the writer with names for the reductions that elements of gradients repeat."""
    if is_large(w.problem):
        return w
    result = copy(w)
    vars(result).pop("indices", None)
    generic = w.generic
    here = _reductions_with_texts(w)
    if generic is None:
        result.introduced = _reduction_names(w, here, {*here.values()})
        return result
    there = _reductions_with_texts(generic)
    both = {*here.values()} & {*there.values()}
    result.introduced = _reduction_names(w, here, both)
    result.generic = copy(generic)
    vars(result.generic).pop("indices", None)
    result.generic.introduced = _reduction_names(generic, there, both)
    return result


def _reduction_names(
    w: FormulaWriter, nodes: dict[Node, str], texts: set[str]
) -> dict[Node, Definition]:
    """Names for nodes whose formulas are among `texts`, the same at generic sizes."""
    write, used = Writer(w.names, w.problem.generic_sizes), tree.words_in_use(w.names.values())
    result = dict[Node, Definition]()
    for node in (n for n, text in nodes.items() if text in texts):
        other = STANDARDISED if _is_normalisation(node) else OTHER
        letter = LETTERS.get(node.op.name, other)
        name = next(n for n in chain([letter], (f"{letter}{k}" for k in count(1))) if n not in used)
        used.add(name)
        result[node] = Name(name), write.tree(node)
    return result


def _reductions_with_texts(w: FormulaWriter) -> dict[Node, str]:
    """The reductions to be named, with the texts of their formulas, in the order of the inputs."""
    write, result = Writer(w.names, w.problem.generic_sizes), dict[Node, str]()
    for x in w.problem.wrt:
        grad = None if w.is_long(x) else w.read_off(x)
        if grad is not None:
            nodes = _written_out(w.shortened(grad), w.problem.seed.node, w.names)
            result |= {n: tree.text(write.tree(n)) for n in nodes if write.is_in_words(n)}
    order = {x.node: k for k, x in enumerate(w.problem.inputs.values())}
    first = {n: min((order[m] for m in walk([n]) if m in order), default=0) for n in result}
    return {n: result[n] for n in sorted(result, key=lambda n: first[n])}


def _written_out(grad: Node, seed: Node, names: Collection[Node]) -> Iterator[Node]:
    """The unnamed reductions, or roots of reductions, that do not depend on the seed, and by which
    the gradient divides or of which it is a nonlinear function.
    """
    order = walk([grad], lambda n: () if n in names else n.parents)
    dependent = downstream(order, [seed])
    order = [n for n in order if n not in names]
    for node in order:
        if node not in dependent and _is_reduction(node):
            whole = _continued(node, order)
            if _contains_reductions(whole) or _is_in_function(whole, order):
                yield whole


def _is_reduction(node: Node) -> bool:
    of_vectors = node.op is OPS["matmul"] and not node.shape
    reduces = node.op.family == "reduction" and node.numel < node.parents[0].numel
    reduces = reduces and node.parents[0].dtype == "float"  # no names for counts and integers
    return reduces or of_vectors or _contains_reductions(node)


def _contains_reductions(node: Node) -> bool:
    """Whether a node is a function of reductions that always gets a name, such as softmax."""
    return node.op.name in WITH_REDUCTIONS or _is_normalisation(node)


def _is_normalisation(node: Node) -> bool:
    """Whether a node combines a tensor with its reductions, and has its shape: layer_norm."""
    if node.op.expand is None or [i.shape for i in node.parents] != [node.shape]:
        return False
    inner = walk([node.op.expanded(node)], lambda n: () if n in node.inputs else n.inputs)
    return any(n.op.family == "reduction" for n in inner)


def _continued(node: Node, order: list[Node]) -> Node:
    """The largest expression that only adds constants to a reduction and takes roots, such as
    sqrt(x.var() + eps) for x.var(). It ends at a node that is used several times.
    """
    users = [n for n in order if node in n.parents]
    if len(users) != 1 or users[0].op.name not in CONTINUED:
        return node
    others = [p for p in users[0].parents if p is not node]
    return _continued(users[0], order) if all(p.op.name == "constant" for p in others) else node


def _is_in_function(node: Node, order: list[Node]) -> bool:
    """Whether an operation divides by a node, or is a nonlinear elementwise function of it."""
    for user in (n for n in order if node in n.parents):
        moved = user.op.family == "movement" and _is_in_function(user, order)
        divides = user.op is OPS["div"] and user.parents[1] is node
        others = user.op.family == "elementwise" and user.op.name not in LINEAR
        if moved or divides or others:
            return True
    return False
