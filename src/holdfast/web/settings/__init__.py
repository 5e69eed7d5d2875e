"""The settings pages of repositories, organizations and the user's own account."""
