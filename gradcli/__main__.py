"""The entry point of `gradcli` and `python -m gradcli`."""

import os
import sys
from _signal import SIGINT, default_int_handler, getsignal, signal  # built in: no file is read

INTERRUPTED = 130  # exit status of a process that SIGINT ended, as in a shell


def _interrupted(*_: object) -> None:
    os._exit(INTERRUPTED)


def main() -> None:
    """Run the command line and exit.

    Ctrl-C ends the process at once, even in a destructor or during an import, where Python would
    ignore or print KeyboardInterrupt. The handler is therefore set before other imports.
    """
    if getsignal(SIGINT) is default_int_handler:
        signal(SIGINT, _interrupted)
    from contextlib import suppress

    from .process import collect_seldom, one_thread

    collect_seldom()
    one_thread()
    from .cli.main import run

    status = run()
    for stream in filter(None, (sys.stdout, sys.stderr)):
        with suppress(OSError):
            stream.flush()
    os._exit(status)  # Python would first free every object, which takes as long as an import


if __name__ == "__main__":
    main()
