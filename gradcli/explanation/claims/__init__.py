"""Formulas that somebody derived by hand: are they the gradient, and if not, what would mend them?

Data flows from `given` (text to formula) over `points` (sizes and values to try it at), `findings`
(what it comes to there) and `proof` (for every size) to `verdict`; where it is wrong, `search` goes
over the `mutations` of the claim and the `omissions` from the right formula for what is near and
right.
"""
