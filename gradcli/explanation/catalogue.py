"""The pages of `gradcli ops`: lists of operators, and a page for each."""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

from .. import public_names
from ..autodiff.reverse import Step
from ..errors import MISUSES, GradcliError, did_you_mean, if_applicable
from ..graphs import OPS, Node, Operator
from ..language.arguments.option_texts import read_shapes
from ..language.arguments.seeds import seed_name
from ..language.building.build import ATTRIBUTES
from ..language.libraries import Function
from ..language.libraries import function as of_library
from ..language.posing import pose
from ..language.problem import Input
from ..language.refusals import refusal
from ..language.vocabulary import library_name, module_of, name_in_module
from ..notation import tree
from ..notation.code.torch_code import expression
from ..notation.formulas.formula import formula, too_long
from ..notation.formulas.simplify import simplify
from ..notation.tree import Name, Token, Tree
from ..operators import INTERNAL, all_operators, functions
from ..operators.families import Shorthand
from .analysis import Analysis
from .blocks import (
    Document,
    Formula,
    Line,
    Row,
    Section,
    Table,
    Tensor,
    equality,
    plain,
    text_of,
    words,
)
from .data import SCHEMA
from .formulas import by_index
from .formulas.formula_writer import FormulaWriter, writer_of
from .formulas.shortest_structure import structure_of
from .in_pytorch.stored_kinks import Kink, known
from .operator_groups import ELSEWHERE, GROUPS, Family, all_families

UNFIT = (GradcliError, *MISUSES)  # what a function raises for arguments that do not fit
SHOWN = "gradcli explain, with your own arguments, shows the steps"
PAGE = "operator"  # the name of a section about one operator
KEYS = {  # keys in JSON, by the label of a row
    "in indices": "index", "Jacobian": "jacobian", "at kinks": "kinks", "also": "aliases",
    "PyTorch": "pytorch", "in PyTorch": "pytorch", "example": "examples", "to see it": "examples",
}  # fmt: skip
SINGLE_VALUED = ("meaning", "caveat", "pytorch")
USAGE = (
    ("gradcli ops softmax", "one of them: signature, rule, caveats"),
    ("gradcli ops losses", "a family, one line for each"),
    ("gradcli ops hinge", "operators with this word in their names or meanings"),
    ("gradcli ops --full", "all of them"),
)


def catalogue(name: str | None, full: bool = False) -> Document:
    """The page of the operator called `name`; else the families of that name; else the operators
    whose names or descriptions contain its words. Without a name, the families, or with `full` all
    operators. Raises GradcliError.
    """
    if name is None:
        return _all() if full else _overview()
    elsewhere = library_name(name)
    if elsewhere is not None:
        return Document((), (_library_page(name, of_library(elsewhere, name, None)),))
    callables = functions()
    last = name.rsplit(".", 1)[-1]
    module = module_of(name)
    # F.unfold and Tensor.unfold are different functions
    in_torch = name_in_module(last, module) if module else last
    function = (OPS.get(last) if in_torch == last else None) or callables.get(in_torch)
    if isinstance(function, Operator):
        return Document((), (page(function),))
    if isinstance(function, Shorthand):
        return Document(
            (), (_shorthand_page(function, callables), *map(page, _output_operators(function)))
        )
    reason = (refusal(in_torch) if module else None) or refusal(name.removeprefix("torch."))
    is_refused = module and reason is not None
    result = [] if is_refused else _families_called(last) or _with(last, callables)
    if result:
        return Document((), tuple(result))
    if reason is not None:
        raise GradcliError("unsupported", f"{name} {reason}")
    hint = did_you_mean(last, callables, cutoff=0.7) or "gradcli ops lists them"
    raise GradcliError("unknown-function", f"there is no operator {name}", hint=hint)


def _all() -> Document:
    """All operators, family by family."""
    return Document((), tuple(_family(*family) for family in families().items()))


def _overview() -> Document:
    """The groups of families, each with its most frequent names."""
    count = sum("." not in name and _in_pytorch(f) for name, f in functions().items())
    rows = [Row((words(g.title), _examples(g.names))) for g in GROUPS]
    usage = [Row((plain(command), words(text))) for command, text in USAGE]
    title = words(f"What an expression can call: {count:,} names, with PyTorch's arguments")
    return Document(
        (),
        (
            Section("ops", title, (), (Table(tuple(rows)),)),
            Section("ops", (), (), (Table(tuple(usage)),)),
        ),
    )


def _examples(names: str) -> Line:
    """A few names as a line: `zeros, ones, ...`."""
    pairs = ((Token(name), Token(", ", "word")) for name in names.split())
    return (*chain.from_iterable(pairs), *words("..."))


def _families_called(word: str) -> list[Section]:
    """The families whose group, title or module is called `word`, ignoring a plural s."""
    stem = _stem(word)
    group = next((g.families for g in GROUPS if _stem(g.title) == stem), ())
    return [
        _family(family, members)
        for family, members in families().items()
        if family in group or stem in map(_stem, (family.title, *family.modules))
    ]


def _stem(title: str) -> str:
    return title.lower().replace("_", " ").rstrip("s")


def _with(text: str, callables: Mapping[str, Any]) -> list[Section]:
    """The operators whose names contain all words of a text, and those whose descriptions do.
    Operators that PyTorch lacks are listed only if there are no others.
    """
    query = text.lower().split()
    if not query:
        return []
    plain_names = {n: f for n, f in callables.items() if "." not in n}
    named = {n: f for n, f in plain_names.items() if all(word in n.lower() for word in query)}
    by_meaning = {n: f for n, f in plain_names.items() if f.name == n and _means(f, query)}
    only_by_meaning = {n: f for n, f in by_meaning.items() if f not in named.values()}
    titles = (f"Operators with {text} in their names", f"With {text} in their meaning")
    return [
        Section("ops", words(title), (), (Table(tuple(_line(*n) for n in sorted(shown.items()))),))
        for title, result in zip(titles, (named, only_by_meaning), strict=True)
        if (shown := {n: f for n, f in result.items() if _in_pytorch(f)} or result)
    ]


def _means(function: Any, query: list[str]) -> bool:
    """Whether the names and the description of a function contain all of these words, or words that
    begin with them.
    """
    names = " ".join((function.name, *getattr(function, "aliases", ()))).replace("_", " ")
    text = f"{names} {function.sentence}"
    return all(re.search(rf"\b{re.escape(word)}", text, re.IGNORECASE) for word in query)


def _in_pytorch(function: Any) -> bool:
    return not isinstance(function, Operator) or _is_public(function)


def families() -> dict[Family, dict[str, Operator | Shorthand]]:
    """The operators and shorthands that programs call, by name, in families."""
    members: dict[str, dict[str, Operator | Shorthand]] = {}
    for op in all_operators().values():
        if op.name not in INTERNAL and _is_public(op):
            members.setdefault(ELSEWHERE.get(op.name, op.module), {})[op.name] = op
    for shorthand, (name, *_) in shorthands().items():
        home = shorthand.function.__module__.rsplit(".", 1)[-1]
        members.setdefault(home, {})[name] = shorthand
    grouped = {
        family: {n: f for module in family.modules for n, f in members.get(module, {}).items()}
        for family in all_families()
    }
    return {family: group_members for family, group_members in grouped.items() if group_members}


def _is_public(op: Operator) -> bool:
    """Whether PyTorch has a function with one of the operator's names. It does not for an operator
    that computes one of several outputs, such as `sort_values`.
    """
    names = {name.rpartition(".")[2] for name in (op.name, *op.aliases)}
    written = (op.torch or "").rpartition(".")[2].strip("_")
    return bool(op.torch) and (written in names or bool(names & public_names.functions()))


def shorthands() -> dict[Shorthand, list[str]]:
    """The functions that are defined by other operators, each with all of its names."""
    result: dict[Shorthand, list[str]] = {}
    for name, function in sorted(functions().items()):
        if isinstance(function, Shorthand):
            result.setdefault(function, []).append(name)
    return result


def _family(family: Family, members: Mapping[str, Operator | Shorthand]) -> Section:
    rows = tuple(_line(*member) for member in sorted(members.items()))
    return Section("ops", words(family.title), (), (Table(rows),))


def _line(name: str, function) -> Row:
    is_primary_name = isinstance(function, Operator) and function.name == name
    title = function.signature() if is_primary_name else f"{name}(…)"
    return Row((plain(title), sentence(function.sentence)))


def page(op: Operator) -> Section:
    """The page of an operator: signature, sentence, rule, caveat, other names and an example."""
    rules = [
        (Token(f"to {name}:  "), Formula(written)) if written else plain(f"to {name}:  …")
        for name, written in rule(op)
    ]
    facts: list[tuple[str, list[Line]]] = [
        ("meaning", [sentence(op.sentence)]),
        ("rule", rules or [words("no gradient flows through it")]),
        *_by_example(op),
        ("caveat", [sentence(op.caveat)] if op.caveat else []),
        ("at kinks", list(map(_at_kink, known().get(op.name, [])))),
        ("also", [plain(", ".join(op.aliases))] if op.aliases else []),
        ("PyTorch", [plain(op.torch or "has no such function")]),
        ("example", [plain(command) for command in commands(op)[:2]]),
    ]
    return _page(op.signature(), facts)


def _page(title: str, facts: list[tuple[str, list[Line]]]) -> Section:
    """A section with this title and a labelled row for each line of the facts."""
    rows = [
        Row((words("" if k else fact), line))
        for fact, lines in facts
        for k, line in enumerate(lines)
    ]
    return Section(PAGE, plain(title), (), (Table(tuple(rows)),))


def data(document: Document) -> dict[str, Any]:
    """The pages and the lists of operators of a document, as JSON."""
    pages = [_facts(s) for s in document.sections if s.name == PAGE]
    lists = [_listed(s) for s in document.sections if s.name != PAGE and s.title]
    return {"schema": SCHEMA, "operators": pages, "lists": lists}


def _facts(page: Section) -> dict[str, Any]:
    """The rows of a page as a dict, by the keys of the JSON: `{"signature": "tanh(input)",
    "meaning": "...", "rule": ["to input: ..."]}`.
    """
    result: dict[str, Any] = {}
    for fact, line in _texts(page):
        result.setdefault(fact or [*result][-1], []).append(line)
    facts = {KEYS.get(fact, fact): lines for fact, lines in result.items()}
    facts |= {key: facts[key][0] for key in SINGLE_VALUED if key in facts}
    return {"signature": text_of(page.title), **facts}


def _listed(section: Section) -> dict[str, Any]:
    members = [{"name": name, "meaning": text} for name, text in _texts(section)]
    return {"title": text_of(section.title), "members": members}


def _texts(section: Section) -> Iterator[tuple[str, ...]]:
    """The cells of the rows."""
    for block in section.blocks:
        for row in block.rows if isinstance(block, Table) else ():
            yield tuple(text_of(cell) for cell in row.cells if not isinstance(cell, Tensor))


def _library_page(name: str, called: Function) -> Section:
    """The page of a function of another library: signature, and its PyTorch code for a matrix."""
    module = name.rpartition(".")[0]
    x = OPS["input"](name="x", shape=(2, 3))
    facts = [("meaning", [sentence(called.sentence or f"The function of {module}.")])]
    text = if_applicable(lambda: expression(called(x), {x: Name("x")}), UNFIT)
    if text is None:  # needs other arguments than a matrix
        facts.append(("to see it", [words(SHOWN)]))
    else:
        facts.append(("in PyTorch", [plain(text)]))
        facts.append(("example", [plain(f'gradcli "{name}(x)" -s x=2x3')]))
    return _page(f"{module}.{called.signature()}", facts)


def _shorthand_page(shorthand: Shorthand, callables: Mapping[str, Callable]) -> Section:
    """The page of a shorthand: signature, sentence, its operators and other names."""
    also = [n for n, f in callables.items() if f is shorthand and n != shorthand.name]
    parts = ", ".join(op.name for op in _output_operators(shorthand))
    built = _of_a_matrix(shorthand)
    call = f"x.{shorthand.name}" if shorthand.name in ATTRIBUTES else f"{shorthand.name}(x)"
    rule = parts or (built and built.op.name)
    facts = [
        ("meaning", sentence(shorthand.sentence)),
        ("rule", words(f"that of {rule}" if rule else "those of the operators it is composed of")),
        *([("also", plain(", ".join(also)))] if also else []),
        ("example", plain(f'gradcli "{call}" -s x=2x3')) if built else ("to see it", words(SHOWN)),
    ]
    return _page(call_of(shorthand), [(fact, [line]) for fact, line in facts])


def call_of(shorthand: Shorthand) -> str:
    """The call of a shorthand: a signature, or `x.T` for an attribute."""
    name = shorthand.name
    return f"x.{name}" if name in ATTRIBUTES else shorthand.signature()


def _of_a_matrix(shorthand: Shorthand) -> Node | None:
    """A shorthand's node for a matrix; None if it needs more, or has no gradient."""
    needed = [name for name in shorthand.positional if name not in shorthand.defaults]
    if len(needed) != 1 or shorthand.concrete or shorthand.of_numbers:
        return None
    x = OPS["input"](name="x", shape=(2, 3))
    built = if_applicable(lambda: shorthand(x), UNFIT)
    if not isinstance(built, Node):
        return None
    computed = built.op.name not in INTERNAL and built.dtype == "float"
    return built if computed and built.op.torch else None


def _output_operators(shorthand: Shorthand) -> list[Operator]:
    """The operators that compute the outputs of a shorthand: sort_values, sort_indices."""
    home = shorthand.function.__module__.rsplit(".", 1)[-1]
    begins = f"{shorthand.name}_"
    return [op for op in OPS.values() if op.module == home and op.name.startswith(begins)]


def _by_example(op: Operator) -> list[tuple[str, list[Line]]]:
    """Index notation and the structure of the Jacobian, from the operator's first example."""
    for expr, shapes in op.examples:
        a = Analysis(pose(expr, shapes=read_shapes([shapes])))
        if a.problem.out.op is op and any(grad is not None for grad in a.gradients.of.values()):
            w = writer_of(a)
            wrt = [x for x in a.problem.wrt if a.gradient(x) is not None]
            indices = [result for x in wrt if (result := by_index.gradient(w, x)) is not None]
            return [
                ("in indices", [equality(result.left, result.right) for result in indices]),
                ("Jacobian", [_structure(a, w, x) for x in wrt]),
            ]
    return []


def _structure(a: Analysis, w: FormulaWriter, x: Input) -> Line:
    """The structure of the Jacobian as a line: `wrt x:  diagonal, diag(1 - out ** 2)`."""
    result = structure_of(a, w, x)
    written = () if result.formula is None else (Token(", "), Formula(result.formula))
    return (Token(f"wrt {x.name}:  {result.name}"), *written)


def _at_kink(k: Kink) -> Line:
    """A kink as a line: `x = 0: slope 0 on the left, 1 on the right; PyTorch 0, JAX 0`."""
    suffix = "" if f"{k.by} = " in k.at and "[" not in k.at else f" wrt {k.by}"
    jax = f", JAX {k.jax}" if k.jax is not None else ""
    sides = f"slope {k.left} to the left, {k.right} to the right"
    return plain(f"{k.at}{suffix}: {sides}; PyTorch {k.pytorch}{jax}")


def commands(op: Operator) -> list[str]:
    """The operator's examples as commands."""
    result = []
    for expr, shapes in op.examples:
        options = "".join(f" -s {shape}" for shape in shapes.split(",") if shape)
        result.append(f'gradcli "{expr}"{options}')
    return result


def rule(op: Operator) -> list[tuple[str, Tree | None]]:
    """The gradient with respect to each input, in terms of g, the upstream gradient, and out.

    Taken from the first example that uses the operator; None for a formula that is too long.
    """
    for expr, shapes in op.examples:
        steps = Analysis(pose(expr, shapes=read_shapes([shapes]))).gradients.steps
        step = next((s for s in steps if s.node.op is op), None)
        if step is not None:
            return _sent(step)
    return []


def _sent(step: Step) -> list[tuple[str, Tree | None]]:
    seed = Name(seed_name(step.node.op.inputs), "seed")
    names: dict[Node, Name] = {step.received: seed, step.node: Name("out")}
    for slot, node in enumerate(step.node.inputs):
        if node is not None:
            names.setdefault(node, Name(_input_name(step.node, slot)))
    return [(_input_name(step.node, c.slot), _shorter(c.local, names)) for c in step.contributions]


def _shorter(node: Node, names: dict[Node, Name]) -> Tree | None:
    """The formula of a node, simplified or not, whichever is shorter; None if it is too long."""
    if node in names:
        return names[node]
    candidates = [formula(simplify(node, keep=names), names), formula(node, names)]
    best = min(candidates, key=tree.size)
    return None if too_long(best) else best


def _input_name(node: Node, slot: int) -> str:
    inputs = node.op.inputs
    return f"{inputs[0]}[{slot}]" if node.op.variadic else inputs[slot]


# ---- sentences of docstrings ---------------------------------------------------------------------


NAME = r"(?!then\b)[A-Za-z_]\w*(?:\.\w+)*"
BRACKETS = r"\((?:[^()]|\([^()]*\))*\)"
ATOM = rf"(?:{NAME}{BRACKETS}|{NAME}|\d+(?:\.\d+)?|{BRACKETS}|\|[^|]+\|)"
OPERATOR = r"(?: (?:\*\*|[-+*/@]|[<>=]=?) |\*\*|[*/])"  # a - without blanks is a hyphen
CODE = re.compile(
    rf"`(?P<quoted>[^`]+)`|-?{ATOM}(?:{OPERATOR}{ATOM})+"  # x ** 2, (input - target) * w
    rf"|\|[^|]+\||{NAME}{BRACKETS}|\w+_\w+|{NAME}=\w+"
)


def sentence(text: str) -> Line:
    """A sentence in one line."""
    text = " ".join(text.split())
    line: list[Token] = []
    end = 0
    for code in CODE.finditer(text):
        line += [Token(text[end : code.start()], "word"), Token(code["quoted"] or code[0])]
        end = code.end()
    return tuple(token for token in [*line, Token(text[end:], "word")] if token.text)
