"""Corrections of programs that raise: proposed changes, each tried by running the changed program.

`table.txt` has an entry for each error: the function that proposes changes, the messages, and why
PyTorch raises; entries are tried in order. The functions are grouped into modules by topic. They
use `nodes` for questions about syntax nodes, `text` for edits of the source, and `case` for the
values of the program. `search` runs the proposals, and accepts those that still do what the author
meant.
"""
