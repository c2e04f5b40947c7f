"""Teams on paper: robots with bodies carry several things over handoffs; an agent plans it."""
