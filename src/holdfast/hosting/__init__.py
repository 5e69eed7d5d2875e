"""The git host: accounts, repositories, their database and the HTTP API. Independent of chat backups."""
