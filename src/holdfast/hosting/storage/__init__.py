"""Where repositories are stored, and how writers of one repository are serialized."""
