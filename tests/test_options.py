"""language/arguments/option_texts.py: texts after --shape, --value and --wrt, right and wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcli.errors import GradcliError
from gradcli.language.arguments.option_texts import read_names, read_shapes, read_values


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("x=2x3", {"x": (2, 3)}),
        ("x=(2,3)", {"x": (2, 3)}),
        ("x=[2,3]", {"x": (2, 3)}),
        ("x=3", {"x": (3,)}),
        ("x=(3,)", {"x": (3,)}),
        ("x=()", {"x": ()}),
        ("x=[]", {"x": ()}),
        ("x=2×3", {"x": (2, 3)}),
        ("x=2X3", {"x": (2, 3)}),
        ("x=0x3", {"x": (0, 3)}),
        ("x=torch.Size([2, 3])", {"x": (2, 3)}),
        ("x=2x3,a=3x4", {"x": (2, 3), "a": (3, 4)}),
        ("x=(2,3),a=3", {"x": (2, 3), "a": (3,)}),
        ("x=2x3; a=3x4", {"x": (2, 3), "a": (3, 4)}),
        (" x = 2 x 3 , a = ( 3 , 4 ) ;", {"x": (2, 3), "a": (3, 4)}),
        ("x=2x3,x=(2,3)", {"x": (2, 3)}),
    ],
)
def test_shapes(text, shapes):
    assert read_shapes([text]) == shapes


def test_shapes_of_several_options():
    assert read_shapes(["x=2x3", "a=3"]) == {"x": (2, 3), "a": (3,)}
    assert read_shapes([]) == {}


SHAPES = st.dictionaries(
    st.sampled_from(["x", "a", "xx", "x2", "W_1", "β"]),
    st.lists(st.integers(0, 99), max_size=4).map(tuple),
)
SPELLINGS = st.sampled_from([str, lambda shape: str(list(shape))])


@given(SHAPES, SPELLINGS, st.sampled_from([",", ";", " , ", "; "]))
def test_shapes_read_back(shapes, spell, between):
    text = between.join(f"{name}={spell(shape)}" for name, shape in shapes.items())
    assert read_shapes([text] if shapes else []) == shapes


@given(SHAPES)
def test_shapes_with_crosses_read_back(shapes):
    crossed = {name: shape for name, shape in shapes.items() if shape}
    texts = [f"{name}={'x'.join(map(str, shape))}" for name, shape in crossed.items()]
    assert read_shapes(texts) == crossed


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("x", "not NAME=SHAPE", "x"),
        ("", "not NAME=SHAPE", ""),
        ("x:2x3", "not NAME=SHAPE", "x:2x3"),
        ("x=(2", "not NAME=SHAPE", "x=(2"),
        ("a=1,x=(2,3)x4", "not NAME=SHAPE", "x=(2,3)x4"),
        ("x=2,3", "not NAME=SHAPE", "3"),
        ("x=", "missing", ""),
        ("x=2x", "missing", "2x"),
        ("a=1, x=-1", "negative", "-1"),
        ("x=2.5", "not an integer", "2.5"),
        ("x=n", "not an integer", "n"),
        ("x=99999999999x9", "larger than", "99999999999x9"),
        ("x=" + "9" * 5000, "larger than", "9" * 5000),
        ("x=" + "x".join("1" * 65), "dimensions", "x".join("1" * 65)),
        ("=3", "name is missing", ""),
        ("a=1,for=2", "not a name", "for"),
        ("2=3", "not a name", "2"),
        ("x=2x3,x=3", "two shapes: (2, 3) and (3,)", "x"),
    ],
)
def test_no_shapes(text, message, place):
    with pytest.raises(GradcliError) as caught:
        read_shapes([text])
    error = caught.value
    assert error.code == "shape-option"
    assert message in error.message
    assert error.hint
    assert error.span.origin == "--shape"
    assert error.span.text == text
    assert text[error.span.start : error.span.end] == place


def test_two_shapes_in_two_options():
    with pytest.raises(GradcliError, match="two shapes"):
        read_shapes(["x=2", "x=3"])


@pytest.mark.parametrize("blanks", [" " * 100_000, "x=" + " " * 100_000 + "(", "x=" * 50_000])
def test_refusals_are_quick(blanks):
    with pytest.raises(GradcliError):
        read_shapes([blanks])


def test_values():
    printed = "tensor([1.], requires_grad=True)"
    assert read_values(["x=[1,2]", f" a = {printed}"]) == {"x": "[1,2]", "a": f" {printed}"}
    assert read_values([]) == {}


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["x"], "there is no ="),
        (["[1,2]"], "there is no ="),
        (["=1"], "name is missing"),
        (["x="], "x has no value"),
        (["a b=1"], "not a name"),
        (["lambda=1"], "not a name"),
        (["x=1", "x=1"], "two values"),
    ],
)
def test_no_values(texts, message):
    with pytest.raises(GradcliError) as caught:
        read_values(texts)
    assert caught.value.code == "value"
    assert message in caught.value.message
    assert caught.value.hint
    assert caught.value.span.origin == "--value"


def test_names():
    assert read_names("x") == ["x"]
    assert read_names(" x , a,x") == ["x", "a"]


@pytest.mark.parametrize("text", ["", "x,", "x a", "1", "x,if"])
def test_no_names(text):
    with pytest.raises(GradcliError) as caught:
        read_names(text)
    assert caught.value.code == "option"
    assert caught.value.hint
    assert caught.value.span.origin == "--wrt"
