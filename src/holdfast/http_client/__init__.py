"""The HTTP client that webhooks and commands share: aiohttp with an address check at connect time.

`client` is the asynchronous interface, `sync` the one for commands. Only these two import aiohttp.
"""
