"""What git and git-lfs clients talk to: smart HTTP sessions and the LFS batch API."""
