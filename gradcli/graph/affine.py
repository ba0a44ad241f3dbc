"""Places in a tensor that depend on an index letter: `i`, `2*i + 1`, `n - 1 - i`."""

from typing import NamedTuple


class Affine(NamedTuple):
    """scale * letter + offset; a letter alone is written as a plain string, a number as an int."""

    letter: str
    scale: int
    offset: int

    @classmethod
    def of(cls, place) -> "Affine":
        """An int, a letter or an Affine as an Affine; an int has no letter."""
        if isinstance(place, Affine):
            return place
        return cls(place, 1, 0) if isinstance(place, str) else cls("", 0, place)

    def plain(self):
        """The shortest form of it."""
        if self.scale == 0 or not self.letter:
            return self.offset
        return self.letter if (self.scale, self.offset) == (1, 0) else self

    def plus(self, offset: int):
        """This place, `offset` further on."""
        return self._replace(offset=self.offset + offset).plain()

    def times(self, scale: int):
        """This place, `scale` times as far from the beginning."""
        return self._replace(scale=self.scale * scale, offset=self.offset * scale).plain()

    def mirror(self, size: int):
        """This place counted from the end of a dimension of `size`."""
        return self._replace(scale=-self.scale, offset=size - 1 - self.offset).plain()

    def at(self, value: int) -> int:
        """The place when the letter stands for `value`."""
        return self.scale * value + self.offset

    def __str__(self) -> str:
        head = "" if self.scale == 1 else "-" if self.scale == -1 else str(self.scale)
        if self.scale < 0 and self.offset > 0:
            return f"{self.offset}{head}{self.letter}"
        return f"{head}{self.letter}" + (f"{self.offset:+d}" if self.offset else "")
