"""`gradcli` and `python -m gradcli`: a process that answers once."""

from .collection import collect_seldom


def main() -> None:
    """Run the command line of this process, and end it."""
    collect_seldom()
    from .cli.main import run

    run()


if __name__ == "__main__":
    main()
