"""Programs as they are pasted: read, run by a machine of our own, and explained."""
