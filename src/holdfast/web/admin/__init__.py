"""The pages of whoever looks after the service."""
