"""Rendering of documents, a module for each format."""
