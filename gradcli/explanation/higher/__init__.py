"""Hessians and Jacobian-vector products."""
