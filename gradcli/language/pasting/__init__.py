"""Translation of pasted programs to the language: imports, modules, statements."""
