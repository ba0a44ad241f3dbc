"""Programs as they are pasted: run, and made requests of the language."""
