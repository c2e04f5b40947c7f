"""NavCraft runs: batch synthesis of tasks, their scores, and validation of datasets."""
