"""What is printed as JSON, held to docs/schema.json; keys that it does not have are errors here."""

import json
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

try:
    import jsonschema_rs
except ImportError:  # then nothing is held to it
    jsonschema_rs = None

SCHEMA = json.loads((Path(__file__).parent.parent / "docs" / "schema.json").read_text("utf-8"))
LONGEST = 100_000  # characters of what is looked at: numbers without end look alike
DEFINED_AS = {"jacobian": "explanation", "check": "explanation", "examples": "explanation"}


def strict(part: Any) -> Any:
    """A schema whose objects have the keys that it names, and no others."""
    if isinstance(part, list):
        return [strict(item) for item in part]
    if not isinstance(part, dict):
        return part
    found = {key: strict(value) for key, value in part.items()}
    if isinstance(part.get("properties"), dict) and part.get("type") == "object":
        found.setdefault("unevaluatedProperties", False)
    return found


@cache
def validator(name: str) -> Any:
    """What holds JSON to a definition."""
    schema = strict(SCHEMA) | {"$ref": f"#/$defs/{name}"}
    return jsonschema_rs.Draft202012Validator(schema)


def hold(name: str, text: str) -> None:
    """Raises where JSON is not as a definition says."""
    if jsonschema_rs is not None and len(text) <= LONGEST:
        found = next(iter(validator(name).iter_errors(json.loads(text))), None)
        assert found is None, f"{found.instance_path}: {found.message[:500]}"


def hold_command(args: list[str], status: int, out: str) -> None:
    """The same for what a command line printed, if that is JSON."""
    command = args[0] if args else ""
    if status not in (0, 1, 2) or not out or "-o" in args:
        return
    if command == "batch":
        for line in out.splitlines():
            hold("answer", line)
    elif command == "grad":
        if status == 0 and out[:1] in '[{-"0123456789nt':
            hold("grad", out)
    elif ("-f", "json") in pairwise(args):
        name = DEFINED_AS.get(command, command)
        known = name if name in SCHEMA["$defs"] else "explanation"
        hold("failure" if status == 2 else known, out)
