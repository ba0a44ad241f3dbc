"""The explanation as data: what is shown, in which order, in which words; not how it looks."""
