"""Checks of gradients that users derived, called claims, and a search for corrections.

Data flows from `claim` (text to formula) through `points` (sizes and values), `findings` (values of
claim and gradient there) and `proof` (equality for all sizes) to `verdict`. For a wrong claim,
`search` tries the `mutations` of the claim and the `omissions` from the right formula.
"""
