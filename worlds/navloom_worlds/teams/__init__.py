"""Teams: plans in which robots with bodies carry objects over handoffs, and agents that plan."""
