"""Git repositories on disk: folders, objects, refs and git processes."""
