"""Navigators through whole datasets: runs, metrics, what went wrong, comparisons, subsets."""
