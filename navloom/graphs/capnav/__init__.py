"""Agents of CapNav: one answers whether a body gets there, one designs such questions."""
