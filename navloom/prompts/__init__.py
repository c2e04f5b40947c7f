"""Prompt templates: text files and one loader. Layer 0: uses no other layer."""
