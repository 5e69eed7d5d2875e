"""The pages of users and organizations, and the forms to create repositories and organizations."""
