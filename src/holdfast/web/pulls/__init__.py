"""Pages of pull requests: conversation, commits and files, merges and reviews."""
