"""Browser interface: runs, samples, datasets and homes, served or bundled. Layer 6."""
