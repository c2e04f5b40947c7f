"""Moving a body, over any simulator: what is around it, how far it is, going there, a way tried."""
