"""Tests of the JSON schemas of the API."""
