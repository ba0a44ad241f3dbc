"""The playground: a page on which a question is typed and its answer read."""
