"""The HTTP layer that the API and the website share: endpoint declarations, decoding, errors and responses."""
