"""The pages people look at, for both halves, and the application that serves them together with the API."""
