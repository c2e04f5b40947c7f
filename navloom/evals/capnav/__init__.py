"""CapNav: runs of its benchmark, scores by two sets of rules, and batch synthesis of questions."""
