"""Evaluation of navigators on datasets: runs, metrics, failures, comparisons and subsets."""
