"""Corrections of invalid parameters of distributions: scores in place of probabilities, scales that
are not positive, matrices that are not covariances.
"""

import ast
from collections.abc import Iterator

from .case import Case, Proposal
from .nodes import argument, dotted, keyword

PARAMETERS = {
    **dict.fromkeys(
        ("Normal", "Laplace", "LogNormal", "Cauchy", "Gumbel", "LogisticNormal"), ("loc", "scale")
    ),
    **dict.fromkeys(
        ("Categorical", "Bernoulli", "OneHotCategorical", "Geometric", "ContinuousBernoulli"),
        ("probs", "logits"),
    ),
    **dict.fromkeys(("Exponential", "Poisson"), ("rate",)),
    "Beta": ("concentration1", "concentration0"),
    "Gamma": ("concentration", "rate"),
    "Dirichlet": ("concentration",),
    "HalfNormal": ("scale",),
    "StudentT": ("df", "loc", "scale"),
    "Binomial": ("total_count", "probs", "logits"),
    "MultivariateNormal": ("loc", "covariance_matrix", "precision_matrix", "scale_tril"),
}  # in the order of arguments


def column_of_values(case: Case) -> Iterator[Proposal]:
    """Pass a column to log_prob() of a distribution that has several components for each value."""
    for call in case.calls("log_prob", "cdf"):
        for value in call.args[:1]:
            note = "Each value is compared with all components of its row."
            yield case.appended(value, ".unsqueeze(-1)", note=note)


def constrained(case: Case) -> Iterator[Proposal]:
    """Transform the parameter so that it is always valid."""
    name, distribution, constraint = case.match.groups()
    if "nan" in case.message.rpartition("invalid values:")[2]:
        return
    names = PARAMETERS.get(distribution, ())
    for call in case.calls(distribution):
        given = argument(call, names.index(name), name) if name in names else None
        if given is None:
            continue
        if name == "probs" and constraint in ("Simplex", "Interval"):
            yield from _as_logits(case, call, given)
        elif constraint in ("GreaterThan", "GreaterThanEq", "IndependentConstraint"):
            yield from _positive(case, given)
        elif constraint == "PositiveDefinite":
            text = case.operand(given)
            new = f"{text} @ {text}.mT + 1e-3 * torch.eye({text}.shape[-1])"
            note = "A matrix times its transpose is a valid covariance, but it is another matrix."
            yield case.replaced(given, new, note=note)


def _as_logits(case: Case, call: ast.Call, given: ast.expr) -> Iterator[Proposal]:
    """Pass logits in place of probs."""
    note = "With logits, the distribution converts scores to probabilities itself."
    named = keyword(call, "probs")
    new = f"logits={case.of(given)}"
    if named:
        yield case.proposal(case.replacing(named, new), note=note)
    elif given is call.args[-1]:
        yield case.replaced(given, new, note=note)


def _positive(case: Case, given: ast.expr) -> Iterator[Proposal]:
    """Apply exp if the name says that it is a logarithm, otherwise softplus."""
    text, called = case.of(given), dotted(given).lower()
    if "logvar" in called or "log_var" in called:
        yield case.replaced(given, f"torch.exp(0.5 * {text})", note=f"{text} is a logarithm.")
    elif "log" in called:
        yield case.appended(given, ".exp()", note=f"{text} is a logarithm.")
    else:
        note = "softplus maps any number to a positive one."
        yield case.replaced(given, f"torch.nn.functional.softplus({text})", note=note)
