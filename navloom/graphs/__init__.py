"""The agents, each a LangGraph graph. Floor 4: uses everything below."""
