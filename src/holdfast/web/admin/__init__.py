"""The pages of site administration."""
