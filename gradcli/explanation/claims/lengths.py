"""How long what is tried and told of a claim may be, in characters."""

TRIED = 40_000  # all changed formulas that are tried, together
TRIED_IN_PAIRS = 20_000  # those with two changes
PART = 60  # a part that is put in the place of another
FACTOR = 60  # a factor that is said to be missing
IN_FULL = 60  # a part that is said in full, and not by its name alone
INSIDE = 30  # the same within a sentence about another part
REASON = 80  # what is said of a part that was left out, while there may be shorter reasons
