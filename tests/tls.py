"""A TLS context without certificates, for clients of a service on loopback.

Loading the certificate authorities takes longer than many tests, and httpx does so for every client.
"""

import ssl

__all__ = ["PLAIN"]

PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
