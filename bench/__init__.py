"""One benchmark per promise of the README: ratios taken in one run, never timed tests. `make bench` runs them."""
