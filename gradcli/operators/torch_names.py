"""Functions of `torch` that take other arguments than those of the same name in `F`.

A reduction is a number there, none by default, and stands where F keeps places for older arguments.
"""

from ..errors import GradcliError
from .distances import cosine_embedding_loss, triplet_margin_loss
from .dropout import alpha_dropout, dropout, feature_alpha_dropout
from .embeddings import embedding
from .families import shorthand
from .losses import (
    binary_cross_entropy_with_logits,
    hinge_embedding_loss,
    kl_div,
    margin_ranking_loss,
    poisson_nll_loss,
)
from .sequences import ctc_loss

REDUCTIONS = ("none", "mean", "sum")


def _reduction(number):
    if isinstance(number, int) and 0 <= number < len(REDUCTIONS):
        return REDUCTIONS[number]
    raise GradcliError(
        "arguments",
        f"a reduction of torch.* is 0 for none, 1 for mean or 2 for sum, not {number!r}",
        hint="F.* takes 'none', 'mean' and 'sum'",
    )


# ---- losses --------------------------------------------------------------------------------------


@shorthand("torch.kl_div", alone=True)
def torch_kl_div(input, target, reduction=0, *, log_target=False):
    """kl_div with a number for its reduction: 0 none, 1 mean, 2 sum."""
    return kl_div(input, target, reduction=_reduction(reduction), log_target=log_target)


@shorthand("torch.ctc_loss", alone=True, numbers=("input_lengths", "target_lengths"))
def torch_ctc_loss(
    log_probs, targets, input_lengths, target_lengths, blank=0, reduction=0, zero_infinity=False
):
    """ctc_loss with a number for its reduction."""
    return ctc_loss(
        log_probs, targets, input_lengths, target_lengths, blank, _reduction(reduction),
        zero_infinity,
    )  # fmt: skip


@shorthand("torch.binary_cross_entropy_with_logits", alone=True)
def torch_binary_cross_entropy_with_logits(
    input, target, weight=None, pos_weight=None, reduction=0
):
    """binary_cross_entropy_with_logits with a number for its reduction."""
    return binary_cross_entropy_with_logits(
        input, target, weight=weight, pos_weight=pos_weight, reduction=_reduction(reduction)
    )


@shorthand("torch.cosine_embedding_loss", alone=True)
def torch_cosine_embedding_loss(input1, input2, target, margin=0.0, reduction=0):
    """cosine_embedding_loss with a number for its reduction."""
    return cosine_embedding_loss(
        input1, input2, target, margin=margin, reduction=_reduction(reduction)
    )


@shorthand("torch.hinge_embedding_loss", alone=True)
def torch_hinge_embedding_loss(input, target, margin=1.0, reduction=0):
    """hinge_embedding_loss with a number for its reduction."""
    return hinge_embedding_loss(input, target, margin=margin, reduction=_reduction(reduction))


@shorthand("torch.margin_ranking_loss", alone=True)
def torch_margin_ranking_loss(input1, input2, target, margin=0.0, reduction=0):
    """margin_ranking_loss with a number for its reduction."""
    return margin_ranking_loss(
        input1, input2, target, margin=margin, reduction=_reduction(reduction)
    )


@shorthand("torch.poisson_nll_loss", alone=True)
def torch_poisson_nll_loss(input, target, log_input, full, eps, reduction):
    """poisson_nll_loss, all of whose arguments are needed, with a number for its reduction."""
    return poisson_nll_loss(
        input, target, log_input=log_input, full=full, eps=eps, reduction=_reduction(reduction)
    )


@shorthand("torch.triplet_margin_loss", alone=True)
def torch_triplet_margin_loss(
    anchor, positive, negative, margin=1.0, p=2.0, eps=1e-06, swap=False, reduction=0
):
    """triplet_margin_loss with a number for its reduction."""
    return triplet_margin_loss(
        anchor, positive, negative, margin=margin, p=p, eps=eps, swap=swap,
        reduction=_reduction(reduction),
    )  # fmt: skip


# ---- dropout and embeddings ----------------------------------------------------------------------


@shorthand("torch.dropout", alone=True)
def torch_dropout(input, p, train):
    """dropout, all of whose arguments are needed."""
    return dropout(input, p, train)


@shorthand("torch.alpha_dropout", alone=True)
def torch_alpha_dropout(input, p, train):
    """alpha_dropout, all of whose arguments are needed."""
    return alpha_dropout(input, p, train)


@shorthand("torch.feature_alpha_dropout", alone=True)
def torch_feature_alpha_dropout(input, p, train):
    """feature_alpha_dropout, all of whose arguments are needed."""
    return feature_alpha_dropout(input, p, train)


@shorthand("torch.embedding", alone=True)
def torch_embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    """embedding with the table first."""
    padding = None if padding_idx == -1 else padding_idx
    return embedding(
        indices, weight, padding_idx=padding, scale_grad_by_freq=scale_grad_by_freq
    )


@shorthand("torch.embedding_bag", alone=True)
def torch_embedding_bag(*_, **__):
    """Four tensors, of which F.embedding_bag gives the first."""
    raise GradcliError(
        "unsupported",
        "torch.embedding_bag() answers with four tensors, of which three are for its own use",
        hint="F.embedding_bag(indices, weight, offsets, mode='sum') is the first",
    )
