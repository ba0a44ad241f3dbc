"""Where there is no derivative, and how far a number there is one."""
