"""Repositories on disk: their folders, what is in them, and how git clients reach them."""
