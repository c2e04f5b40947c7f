"""Homes made from a seed: a floor plan, furniture that obeys a catalogue, and one scene of both."""
