"""Tells receivers of webhooks what happened: what is sent, where to, and when again."""
