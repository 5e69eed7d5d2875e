"""Tests of several machines with one database and one bucket."""
