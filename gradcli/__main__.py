"""`gradcli` and `python -m gradcli`: a process that answers once."""

import os
import signal

from .gc_policy import collect_seldom

INTERRUPTED = 130  # exit status, as of a shell


def _interrupted(*_: object) -> None:
    os._exit(INTERRUPTED)


def main() -> None:
    """Run the command line of this process, and end it. Ctrl-C ends it at once, also where an
    exception would be lost or shown: in an import, or as an object is freed.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupted)
    collect_seldom()
    from .cli.main import run

    run()


if __name__ == "__main__":
    main()
