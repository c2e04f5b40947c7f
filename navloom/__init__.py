"""Navloom: language-model agents woven with indoor scenes."""
