"""Git LFS: pointers, and the object stores."""
