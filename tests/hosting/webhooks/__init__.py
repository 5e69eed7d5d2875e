"""Tests of what webhooks send, and how."""
