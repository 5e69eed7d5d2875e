"""The settings pages: of repositories, organizations and one's own account."""
