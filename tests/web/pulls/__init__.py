"""Tests of the pages of pull requests."""
