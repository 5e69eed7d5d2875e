"""The pages of issues: lists, the issue itself, what it depends on, labels and milestones."""
