"""Programs for people who change Holdfast; nothing here is installed."""
