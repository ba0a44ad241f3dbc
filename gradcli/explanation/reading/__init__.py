"""Programs that were run, explained: each backward pass, what went wrong, and what cures it."""
