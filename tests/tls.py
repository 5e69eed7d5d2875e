"""What a client of a service on loopback needs of TLS: nothing.

Reading the world's certificates takes longer than many a test, and httpx does so for every client.
"""

import ssl

__all__ = ["PLAIN"]

PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
