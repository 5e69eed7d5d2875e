"""Webhooks: payloads, the outbox worker, request signing, address checks, and chat messages."""
