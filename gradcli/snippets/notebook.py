"""Jupyter notebooks as text: the code of their cells, one after the other."""

import json
import re

MAGIC = re.compile(r"^[ \t]*[%!?]", re.MULTILINE)  # what IPython alone understands


def code_of(text: str) -> str | None:
    """The code of a notebook's cells, magic commands as comments; None for any other text."""
    if not text.lstrip().startswith("{") or '"cells"' not in text:
        return None
    try:
        cells = json.loads(text)["cells"]
        code = [c["source"] for c in cells if c["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError):
        return None
    sources = ["".join(source) for source in code]
    return "\n\n".join(MAGIC.sub("# ", source) for source in sources)
