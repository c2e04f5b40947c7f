"""Statistical comparison of generated homes with real ones."""
