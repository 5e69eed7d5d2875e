"""Something to look at for whoever starts Holdfast for the first time, made the way people would make it."""
