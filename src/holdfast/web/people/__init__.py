"""The pages of people and organizations, and the forms that make new ones of what they own."""
