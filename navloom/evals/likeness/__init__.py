"""How like each other two sets of homes are: figures of each, distances between, and a bound."""
