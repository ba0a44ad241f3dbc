"""Einsums as matrix products, outer products, transposes and elementwise products."""

from itertools import permutations

from ....graphs import OPS, Node, intern
from ....graphs.shapes import Shape
from .registry import normal


@normal("einsum")
def einsum_of_one_or_two(node: Node) -> Node | None:
    """einsum("ij->ij", A) = A; einsum("ji->ij", A) = A.T; einsum("i,j->ij", a, b) = outer(a, b);
    einsum("bij,bkj->bik", A, B) = A @ B.mT.
    """
    terms, arrow, right = node.attrs["equation"].replace(" ", "").partition("->")
    if not arrow:
        return None
    letters = terms.split(",")
    if len(letters) == 1:
        return _transpose(letters[0], right, node.parents[0])
    return _batched_product(letters, right, node.parents) if len(letters) == 2 else None


@normal("einsum")
def vector_out_of_einsum(node: Node) -> Node | None:
    """einsum("b,ij,bj->bi", g, A, x) = g.unsqueeze(1) * einsum("ij,bj->bi", A, x)."""
    terms, arrow, right = node.attrs["equation"].replace(" ", "").partition("->")
    letters = terms.split(",")
    if "." in right:  # an ellipsis
        return None
    for k, letter in enumerate(letters):
        others = letters[:k] + letters[k + 1 :]
        if len(letter) != 1 or letter not in right or letter not in "".join(others):
            continue
        v, rest = node.parents[k], [x for j, x in enumerate(node.parents) if j != k]
        for _ in right[right.index(letter) + 1 :]:
            v = v.unsqueeze(dim=v.ndim)
        return v * intern(node.op, tuple(rest), {"equation": ",".join(others) + arrow + right})
    return None


@normal("einsum")
def ones_in_einsum(node: Node) -> Node | None:
    """einsum("ik,ij->jk", ones(2, 4), A) = A.sum(dim=0).unsqueeze(1).expand(3, 4), unless the ones
    broadcast A along a letter.
    """
    terms, arrow, right = node.attrs["equation"].replace(" ", "").partition("->")
    letters = terms.split(",")
    if not arrow or len(letters) != 2 or "." in terms:
        return None
    for (t, one), (s, x) in permutations(zip(letters, node.parents, strict=True)):
        known, sizes = {*s, *right}, dict(zip(s, x.shape, strict=True))
        applies = one.op.name == "ones" and {*t} <= known and len(sizes) == len(s)
        if applies and all(sizes.get(c, n) == n for c, n in zip(t, one.shape, strict=True)):
            return _sum_and_expand(x, s, right, node.shape)
    return None


def _sum_and_expand(x: Node, left: str, right: str, shape: Shape) -> Node:
    """A tensor summed over letters that are not in `right`, permuted and expanded to `shape`."""
    over = tuple(d for d, letter in enumerate(left) if letter not in right)
    out = x.sum(dim=over) if over else x
    kept = [letter for letter in left if letter in right]
    order = [kept.index(letter) for letter in right if letter in kept]
    out = out if order == sorted(order) else out.permute(dims=tuple(order))
    for place, letter in enumerate(right):
        out = out if letter in kept else out.unsqueeze(dim=place)
    return out if out.shape == shape else out.expand(shape=shape)


def _transpose(left: str, right: str, x: Node) -> Node | None:
    if left == right and len(set(left)) == len(left):
        return x
    if len(left) == 2 and left[::-1] == right and left[0] != left[1]:
        return x.mT
    return None


def _batched_product(letters: list[str], right: str, nodes: list[Node]) -> Node | None:
    if any(len(set(t)) != len(t) for t in (*letters, right)):
        return None
    batch = right[:-2]
    if batch and batch not in [t[:-2] for t in letters]:
        return None
    a, b = (t.removeprefix(batch) for t in letters)
    if batch and not len(a) == len(b) == 2:
        return None
    return _product((a, b), right.removeprefix(batch), nodes)


def _product(letters: tuple[str, str], right: str, nodes: list[Node]) -> Node | None:
    """The einsum of two operands without their batch letters; None if it is no simple product."""
    (a, b), (x, y) = letters, nodes
    for (s, u), (t, v) in (((a, x), (b, y)), ((b, y), (a, x))):
        if s == t == right:
            return u * v
        if len(s) == len(t) == 1 and right == s + t:
            return OPS["outer"](u, v)
        if len(s) == 2 and len(t) == 1 and t in s and right == s.replace(t, ""):
            return (u if s[1] == t else u.mT) @ v
        if len(s) == len(t) == 2 and len(right) == 2:
            for p, m in ((s, u), (s[::-1], u.mT)):
                for q, n in ((t, v), (t[::-1], v.mT)):
                    if p[1] == q[0] and right == p[0] + q[1] and p[0] != q[1]:
                        return m @ n
        if right == s and len(s) == 2 and len(t) == 1 and t in s:
            return u * (v if s[1] == t else v.unsqueeze(dim=1))
    return None
