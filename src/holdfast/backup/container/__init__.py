"""Encrypted containers: key derivation, decryption, compression, attachment files.

keys       material -> find_layout -> KeyMaterial.message_keys
reading    file -> decrypt -> gunzip -> plain frame stream
writing    plain frame stream -> GzipWriter -> encrypt -> file
"""
