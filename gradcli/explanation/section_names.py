"""What --show calls the sections of an explanation."""

SECTIONS = (
    "answer",
    "inputs",
    "forward",
    "seed",
    "jacobian",
    "cost",
    "modes",
    "backward",
    "gradient",
    "claims",
    "checks",
    "code",
    "notes",
)
ON_REQUEST = ("cost", "modes")  # shown where they are named, and only there
SHAPES_ALONE = ("cost", "modes")  # for these no array is made
