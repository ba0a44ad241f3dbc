"""Index notation: graphs lowered to it, made short, and written."""
