"""Runs of judges, and calibration of each judge against known truth."""
