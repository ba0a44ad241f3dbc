"""The style and the script of the page, as files that an editor knows."""

import base64
import hashlib
from functools import cache
from pathlib import Path


@cache
def text(name: str) -> str:
    """The text of one of the files here."""
    return (Path(__file__).parent / name).read_text("utf-8")


@cache
def script_digest() -> str:
    """What a policy says of the script, so that no other runs."""
    return base64.b64encode(hashlib.sha256(text("script.js").encode()).digest()).decode()
