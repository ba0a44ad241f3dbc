"""`python -m gradcli`."""

from .cli.main import run

run()
