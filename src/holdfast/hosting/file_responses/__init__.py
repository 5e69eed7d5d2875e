"""Responses with the content of files: byte ranges, media types, conditional requests and caching."""
