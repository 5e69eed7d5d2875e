"""Smart HTTP and Git LFS for git and git-lfs clients."""
