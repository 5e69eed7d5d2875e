"""Redacted copies of a backup: same structure without content, fit to attach to a bug report.

fields         the table of how each field of the schema is replaced
texts          replaces text by meaningless text of the same size
identities     replaces ids, phone numbers and usernames by consistent pseudonyms
badges         replaces the proofs of gift badges by ones that still parse
unknown        clears unknown fields
broken         replaces records that cannot be parsed by ones with the same fault
redacted_copy  copies a whole backup, block by block

Every value is overwritten in place by one of the same number of bytes, so that all lengths, offsets and encodings
are kept. Replacements depend on the seed, on sizes and on the equality of identities, never on the values:
somebody who knows the seed can neither reverse a redaction nor verify guesses.
"""
