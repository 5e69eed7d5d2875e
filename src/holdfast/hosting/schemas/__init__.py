"""JSON schemas of the API and of webhook payloads: users, repositories, issues, commits."""
