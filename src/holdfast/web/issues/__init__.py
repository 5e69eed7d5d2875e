"""The issue pages: lists, board, the issue itself, its dependencies, labels and milestones."""
