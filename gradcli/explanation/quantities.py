"""Large numbers as texts: 10¹² entries, 65.5 MB, 1.34 GFLOP."""

PREFIXES = ("", "k", "M", "G", "T", "P", "E", "Z", "Y", "R", "Q")
POWERS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
BYTES = {"float64": 8, "float32": 4, "int": 8, "bool": 1}  # of an element in PyTorch
WRITTEN_OUT = 10**9  # from here on a count is written with a power of ten


def count_text(count: int) -> str:
    """16,384,000, 8.59·10¹² or, of powers of ten from a million on, 10⁶."""
    if count < WRITTEN_OUT and (count < 10**6 or str(count).strip("0") != "1"):
        return f"{count:,}"
    digits, power = f"{count:.2e}".split("e+")
    head = digits.rstrip("0").rstrip(".")
    tail = f"10{str(int(power)).translate(POWERS)}"
    return tail if head == "1" else f"{head}·{tail}"


def amount(count: int, unit: str) -> str:
    """A count with its unit, to three digits: 24 FLOP, 1.34 GFLOP."""
    if count < 1000:
        return f"{count} {unit}"
    digits, power = f"{count:.2e}".split("e+")
    thousands, rest = divmod(int(power), 3)
    if thousands >= len(PREFIXES):
        return f"{count_text(count)} {unit}"
    return f"{float(digits) * 10**rest:.3g} {PREFIXES[thousands]}{unit}"


def memory(count: int) -> str:
    """1 byte, 48 bytes, 65.5 MB."""
    return amount(count, "B") if count >= 1000 else f"{count} byte{'s' * (count != 1)}"


def size_words(entries: int, item: int) -> str:
    """`10¹² entries (8 TB)`: how large a matrix is, of elements that take `item` bytes."""
    return f"{count_text(entries)} entr{'y' if entries == 1 else 'ies'} ({memory(entries * item)})"


def item_size(kind: str, dtype: str) -> int:
    """Bytes of an element; floats are computed as `dtype`."""
    return BYTES[dtype if kind == "float" else kind]
