"""The server process: start-up, workers, signals, health endpoints, webhook delivery and scheduled tasks."""
