"""Programs that were run, explained: each way back, what went wrong, and what cures it."""
