"""One module per change of the tables, named r<number>_<what it is about>."""
