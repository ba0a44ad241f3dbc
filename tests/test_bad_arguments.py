"""Arguments that PyTorch refuses: gradcli refuses them too."""

import re

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")
pytest.importorskip("expecttest", reason="PyTorch's database of operators needs expecttest")

from op_db import bad_samples, entries  # noqa: E402
from support import run_torch  # noqa: E402
from test_refusals import CASES, answer  # noqa: E402

from gradcli.errors import GradcliError  # noqa: E402

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("double_precision")]

# What PyTorch says of arguments that gradcli takes, since their meaning is plain.
TAKEN = {
    "a number where PyTorch has a tensor": r"must be Tensor, not int|invalid combination of arg",
    "integers as floats": r"Input dtype must be either|should be the same",
    "a 0-d tensor as a vector of one": "Dimension specified as 0 but tensor has no dim",
    "integers as a mask": "only supports boolean masks",
    "weights below 0": "weights cannot be negative",
}


@pytest.mark.parametrize("name", [n for n, op in entries().items() if op.error_inputs_func])
def test_what_the_database_says_is_refused(name):
    for sample in bad_samples(name):
        try:
            run_torch(sample.text, {n: torch.tensor(v) for n, v in sample.values.items()})
        except Exception as error:
            if any(re.search(said, str(error)) for said in TAKEN.values()):
                continue
            with pytest.raises(GradcliError):
                answer(sample.text, sample.values)


PYTORCH_RAISES = (
    RuntimeError, TypeError, ValueError, IndexError, AttributeError, AssertionError
)  # fmt: skip


@pytest.mark.parametrize(("text", "values"), CASES)
@pytest.mark.filterwarnings("ignore:torch.range is deprecated:UserWarning")
def test_what_pytorch_refuses(text, values):
    with pytest.raises(PYTORCH_RAISES):
        run_torch(text, {name: torch.tensor(value) for name, value in values.items()})


@pytest.mark.parametrize("text", ["x.T.as_strided((2,), (1,))", "x[1:].as_strided((1,), (1,))"])
def test_counting_through_the_memory_of_another_tensor_is_refused(text):
    """PyTorch answers, with elements of x: a view keeps no memory of its own here."""
    with pytest.raises(GradcliError, match="indexes the storage"):
        answer(text, {"x": np.ones((2, 3))})


LINEAR_ALGEBRA = [
    *("inv_ex(M)[0]", "solve_ex(M, M)[0]", "tensorinv(M, 1)", "tensorsolve(M, M[0])"),
    *("lu(M)[1]", "lu_factor(M)[0]", "lu_factor_ex(M)[0]", "qr(M)[1]", "svd(M)[1]", "eigh(M)[0]"),
    *("pinv(M)", "norm(M)", "slogdet(M)[1]", "cholesky_ex(M)[0]", "vecdot(M, M)"),
]
OF_FLOATS = [
    *(f"torch.linalg.{text}" for text in LINEAR_ALGEBRA),
    *("torch.qr(M)[1]", "torch.svd(M)[1]", "torch.slogdet(M)[1]", "torch.pinverse(M)"),
    *("torch.triangular_solve(M, M)[0]", "torch.frexp(M)[0]", "torch.dist(M, M)", "torch.norm(M)"),
    *("M.norm()", "torch.var_mean(M)[0]", "torch.std_mean(M)[0]", "torch.lu_solve(M, M, M[0])"),
    *("F.softmax(M, 0)", "F.log_softmax(M, 0)", "F.softmin(M, 0)", "F.rrelu(M)"),
    *("F.layer_norm(M, (2,))", "F.batch_norm(M, None, None, None, None, True)"),
]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("text", OF_FLOATS)
def test_integers_are_refused_where_pytorch_takes_floats(text):
    integers = "tensor([[2, 1], [1, 3]])"
    text = f"({text.replace('M', integers)}).sum() * x"
    with pytest.raises(PYTORCH_RAISES):
        run_torch(text, {"x": torch.tensor(1.0)})
    with pytest.raises(GradcliError, match="takes floating-point numbers"):
        answer(text, {"x": 1.0})


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("text", [
    *("torch.linalg.solve_ex(x, M)[0]", "torch.linalg.tensorsolve(x, M[0])"),
    *("torch.linalg.lstsq(x, M)[0]", "torch.linalg.vecdot(x, M)", "torch.lu_solve(M, x, M[0])"),
    *("torch.triangular_solve(M, x)[0]", "F.batch_norm(x, None, None, M[0], None, True)"),
    "torch.native_layer_norm(x, [2], M[0], None, 1)[0]",
    "F.linear_cross_entropy(M, x, M[0] - 1)",
])  # fmt: skip
def test_integers_beside_floats_are_refused_where_pytorch_takes_one_dtype(text):
    text, x = text.replace("M", "tensor([[2, 1], [1, 3]])"), np.array([[2.0, 1.0], [1.0, 3.0]])
    with pytest.raises(PYTORCH_RAISES):
        run_torch(text, {"x": torch.tensor(x)})
    with pytest.raises(GradcliError, match="cannot combine integers and floats"):
        answer(text, {"x": x})
