"""Longer searches for input that breaks the reader: `make fuzz`."""
