"""The repository host: accounts, their database and the HTTP API. Knows nothing of chat backups."""
