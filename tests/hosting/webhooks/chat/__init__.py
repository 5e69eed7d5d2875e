"""Tests of the messages to chat services."""
