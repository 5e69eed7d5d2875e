"""What the host keeps in SQL: one module per thing, written in that thing's words."""
