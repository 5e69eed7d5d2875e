"""Longer searches for input that breaks what reads it: `make fuzz`."""
