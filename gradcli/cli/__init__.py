"""The command line: from options to the output and the exit status."""
