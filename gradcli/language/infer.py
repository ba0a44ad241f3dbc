"""Shapes that nobody gave.

An unknown size is stood in for by a large prime of its own, and the program is built with it. Where
two sizes must agree and do not, the operator says which two (shapes.Conflict), and the primes tell
whose they are. So every operator takes part through the shape function that it has anyway. Ranks
are tried in order of plausibility.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count, islice, product
from typing import NamedTuple

from ..errors import GradcliError
from ..graph.shapes import Conflict, Shape, text
from .program import Program

PRIMES = (
    1013,
    1009,
    997,
    991,
    983,
    977,
    971,
    967,
    953,
    947,
    941,
    937,
    929,
    919,
    911,
    907,
    887,
    883,
    881,
    877,
    863,
    859,
    857,
    853,
    839,
    829,
    827,
    823,
)
ATTEMPTS = 400  # combinations of ranks

Trial = Callable[[dict[str, Shape]], "tuple[Shape, Shape | None]"]


class Inferred(NamedTuple):
    """A shape for every unknown input, and the axes whose size nothing fixes."""

    shapes: dict[str, Shape]
    assumed: dict[str, tuple[int, ...]]


def infer(
    program: Program,
    known: dict[str, Shape],
    unknown: Sequence[str],
    trial: Trial,
    seed_rank: int | None,
) -> Inferred:
    """Shapes for the inputs `unknown`, given those of `known`.

    `trial(shapes)` builds the program and returns the shapes of the output and of the seed, if
    there is one. Raises the error of the most plausible attempt where none works.
    """
    matrices = _operands_of_matmul(program)
    first_error: GradcliError | None = None
    for ranks in islice(_ranks(unknown, matrices, seed_rank), ATTEMPTS):
        try:
            return _solve(dict(zip(unknown, ranks, strict=True)), known, trial)
        except GradcliError as error:
            if error.code not in ("shape", "index", "seed-shape"):
                raise
            first_error = first_error or error
    assert first_error is not None
    hint = f"give shapes: {' '.join(f'-s {name}=2x3' for name in unknown)}"
    raise GradcliError(first_error.code, first_error.message, span=first_error.span, hint=hint)


def _operands_of_matmul(program: Program) -> set[str]:
    """The names that stand beside an @, transposed or not."""
    found = set()
    for statement in program.statements:
        for e in ast.walk(statement.value):
            if isinstance(e, ast.BinOp) and isinstance(e.op, ast.MatMult):
                for side in (e.left, e.right):
                    while isinstance(side, ast.Attribute | ast.UnaryOp):
                        side = side.value if isinstance(side, ast.Attribute) else side.operand
                    if isinstance(side, ast.Name):
                        found.add(side.id)
    return found


def _ranks(
    unknown: Sequence[str], matrices: set[str], seed_rank: int | None
) -> Iterator[tuple[int, ...]]:
    """Numbers of dimensions to try: vectors, then the seed's, then one for all, then mixtures."""
    order = list(dict.fromkeys([1, *([] if seed_rank is None else [seed_rank]), 2, 3, 4, 0]))
    tried = set()
    for rank in order:
        ranks = tuple(2 if name in matrices else rank for name in unknown)
        if ranks not in tried:
            tried.add(ranks)
            yield ranks
    choices = [
        sorted(order, key=lambda r: r != 2) if name in matrices else order for name in unknown[:6]
    ]
    for ranks in sorted(
        product(*choices),
        key=lambda ranks: sum(c.index(r) for c, r in zip(choices, ranks, strict=True)),
    ):
        if ranks not in tried:
            yield ranks + (1,) * (len(unknown) - len(ranks))


def _solve(ranks: dict[str, int], known: dict[str, Shape], trial: Trial) -> Inferred:
    """Sizes for inputs of these ranks. Raises GradcliError where there are none."""
    taken = {n for shape in known.values() for n in shape}
    stand_ins = (p for p in PRIMES if p not in taken)
    try:
        symbolic = {
            name: tuple(next(stand_ins) for _ in range(rank)) for name, rank in ranks.items()
        }
    except StopIteration:
        raise GradcliError(
            "shape", "too many inputs have no shape", hint="give shapes with -s"
        ) from None
    sizes = _Sizes(p for shape in symbolic.values() for p in shape)
    while True:
        shapes = known | {name: sizes.of(shape) for name, shape in symbolic.items()}
        try:
            out, seed = trial(shapes)
            if seed is None or out == seed:
                break
        except Conflict as conflict:
            if not sizes.unify(conflict.left, conflict.right):
                raise
            continue
        if len(out) != len(seed):
            raise GradcliError(
                "seed-shape",
                f"the seed has shape {text(seed)}, and the output {len(out)} dimensions",
            )
        different = next((a, b) for a, b in zip(out, seed, strict=True) if a != b)
        if not sizes.unify(*different):
            raise GradcliError(
                "seed-shape", f"the seed has shape {text(seed)}, and the output cannot have it"
            )
    return _smallest(symbolic, known, sizes, seed or (), trial)


class _Sizes:
    """What the stand-ins have turned out to be: another stand-in, or a size."""

    def __init__(self, stand_ins: Iterable[int]):
        self.meaning: dict[int, int] = {p: p for p in stand_ins}

    def find(self, size: int) -> int:
        while self.meaning.get(size, size) != size:
            size = self.meaning[size]
        return size

    def of(self, shape: Shape) -> Shape:
        return tuple(map(self.find, shape))

    def free(self) -> list[int]:
        """The stand-ins that nothing fixes, in order of appearance."""
        return [p for p in self.meaning if self.find(p) == p]

    def unify(self, a: int, b: int) -> bool:
        """Make two sizes equal, if one of them is a stand-in or a multiple of one."""
        free = set(self.free())
        for left, right in ((a, b), (b, a)):
            for p in free:
                if left % p == 0 and right % (left // p) == 0 and right // (left // p) != p:
                    target = right // (left // p)
                    if target in free or not any(target % q == 0 for q in free):
                        self.meaning[p] = target
                        return True
        return False


def _smallest(
    symbolic: dict[str, Shape], known: dict[str, Shape], sizes: _Sizes, seed: Shape, trial: Trial
) -> Inferred:
    """Free sizes as the smallest numbers from 2 up that no other dimension has.

    Larger ones where these are too small.
    """
    free = sizes.free()
    fixed = {
        n
        for s in (*known.values(), *map(sizes.of, symbolic.values()), seed)
        for n in s
        if n not in free
    }
    error: GradcliError | None = None
    for start, backward in ((s, b) for s in (2, 3, 4, 5, 8, 16, 32) for b in (False, True)):
        numbers = list(islice((n for n in count(start) if n not in fixed), len(free)))
        chosen = dict(zip(reversed(free) if backward else free, numbers, strict=True))
        shapes = {
            name: tuple(chosen.get(n, n) for n in sizes.of(shape))
            for name, shape in symbolic.items()
        }
        try:
            trial(known | shapes)
        except GradcliError as failed:
            error = error or failed
            continue
        assumed = {
            name: tuple(d for d, p in enumerate(shape) if sizes.find(p) in chosen)
            for name, shape in symbolic.items()
        }
        return Inferred(shapes, assumed)
    assert error is not None
    raise error
