"""The style sheet and the script of the HTML page, as separate files."""

import base64
import hashlib
from functools import cache
from pathlib import Path


@cache
def text(name: str) -> str:
    """The text of a file in this folder."""
    return (Path(__file__).parent / name).read_text("utf-8")


@cache
def script_digest() -> str:
    """The hash of the script, for a Content Security Policy that allows only this script."""
    return base64.b64encode(hashlib.sha256(text("script.js").encode()).digest()).decode()
