"""The playground: a web page for questions and their answers."""
