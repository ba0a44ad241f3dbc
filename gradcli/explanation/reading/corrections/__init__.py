"""Changes of a program that raises, each tried out: what cures it and keeps what it is after.

`table.txt` has an entry for each error: the function that proposes changes, the messages, and why
PyTorch raises, in the order in which they are tried. The functions are in a file for each idea.
They ask `nodes` about a syntax node alone, `text` about its places, and `case` about what stands in
the program and the values that it had. `search` tries proposals, and takes those that still do what
the author meant.
"""
