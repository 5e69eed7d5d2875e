"""The code pages of a repository: files, history, diffs, and editing files in the browser."""
