"""Storage of repositories, and serialization of concurrent writes to one repository."""
