"""`gradcli` and `python -m gradcli`: a process that gives one answer."""

import os
import sys
from _signal import SIGINT, default_int_handler, getsignal, signal  # built in: nothing is read

INTERRUPTED = 130  # exit status of a process that SIGINT ended, as in a shell


def _interrupted(*_: object) -> None:
    os._exit(INTERRUPTED)


def main() -> None:
    """Run the command line and exit. Ctrl-C ends the process at once, also where Python would
    swallow or print KeyboardInterrupt: in a destructor, or during an import, so that the first
    imports of files come after the handler.
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
