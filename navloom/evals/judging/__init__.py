"""Judges through whole runs, and how far each judge can be trusted."""
