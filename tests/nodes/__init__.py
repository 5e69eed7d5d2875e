"""Several machines with one database and one bucket."""
