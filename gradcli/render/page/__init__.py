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
    """The hash of the script for a Content Security Policy that allows no other."""
    return base64.b64encode(hashlib.sha256(text("script.js").encode()).digest()).decode()
