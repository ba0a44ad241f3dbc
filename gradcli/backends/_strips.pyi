LOOPS: tuple[str, ...]

def run(
    steps: bytes,
    strides: bytes,
    arrays: tuple[object, ...],
    first_output: int,
    rows: int,
    width: int,
) -> None: ...
