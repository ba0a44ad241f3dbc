"""Functions of `F` whose `dim` may be omitted, unlike in `torch`.

PyTorch warns if `dim` is omitted; `_stacklevel` selects the caller that the warning names.
"""

from ..graphs import as_node
from .arithmetic import neg
from .families import shorthand
from .networks import log_softmax, softmax


def _dim(x, dim):
    """The dimension that PyTorch chooses if `dim` is None."""
    return dim if dim is not None else 0 if x.ndim in (0, 1, 3) else 1


@shorthand("F.softmax", "functional.softmax", only_aliases=True, input_dtypes="floats")
def functional_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """softmax along dim; by default 0 for one or three dimensions, otherwise 1."""
    x = as_node(input)
    return softmax(x, dim=_dim(x, dim))


@shorthand("F.log_softmax", "functional.log_softmax", only_aliases=True, input_dtypes="floats")
def functional_log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """log_softmax along dim; by default 0 for one or three dimensions, otherwise 1."""
    x = as_node(input)
    return log_softmax(x, dim=_dim(x, dim))


@shorthand(input_dtypes="floats")
def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """softmax of -x along dim; by default 0 for one or three dimensions, otherwise 1."""
    x = as_node(input)
    neg.check_dtypes((x,), "softmin")
    return softmax(-x, dim=_dim(x, dim))
