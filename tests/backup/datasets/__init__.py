"""Datasets of many backups."""
