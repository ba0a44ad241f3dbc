"""Hessians, second orders and directions: derived problems."""
