"""What the API answers with: the shapes clients know, made from what the host keeps."""
