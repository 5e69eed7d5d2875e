"""Chat backups."""
