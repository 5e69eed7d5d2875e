"""The migrations, oldest first; each is one module of `versions`."""
