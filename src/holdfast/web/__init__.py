"""The website: pages of the git host and of the chat viewer, and the application that serves them and the API."""
