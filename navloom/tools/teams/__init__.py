"""Teams on paper: robots with bodies that carry several things over several handoffs."""
