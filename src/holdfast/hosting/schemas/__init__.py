"""What clients and receivers of webhooks read: the JSON of people, repositories, issues and commits."""
