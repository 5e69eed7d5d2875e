"""The pages of a repository's code: files, history, differences, and changing files in the browser."""
