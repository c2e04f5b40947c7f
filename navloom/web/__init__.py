"""The face in a browser: runs, samples, datasets and homes, served or bundled. Floor 6."""
