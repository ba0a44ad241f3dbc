def rewritten(a): return None
