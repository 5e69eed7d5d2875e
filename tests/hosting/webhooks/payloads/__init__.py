"""Tests of webhook payloads."""
