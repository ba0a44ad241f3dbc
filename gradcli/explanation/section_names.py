"""What --show calls the sections of an explanation."""

SECTIONS = (
    "answer",
    "inputs",
    "forward",
    "seed",
    "jacobian",
    "cost",
    "backward",
    "gradient",
    "claims",
    "checks",
    "code",
    "notes",
)
ON_REQUEST = ("cost",)  # shown where they are named, and only there
SHAPES_ALONE = ("cost",)  # for these no array is made
