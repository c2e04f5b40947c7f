"""The product under attack: ``python -m tests.attack``, a row a way in, counted and said."""
