"""Procedurally generated homes: floor plans, doors, stairs, furnishing."""
