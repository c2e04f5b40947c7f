"""Generated homes compared with real ones."""
