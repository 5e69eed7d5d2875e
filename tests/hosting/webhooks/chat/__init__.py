"""Tests of what chat services are told."""
