"""Demo content for a first start, created through the public API."""
