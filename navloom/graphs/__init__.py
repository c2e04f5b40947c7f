"""Agents, each a LangGraph graph. Layer 4 of the architecture: uses all layers below."""
