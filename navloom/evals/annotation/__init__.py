"""Accuracy of room annotation."""
