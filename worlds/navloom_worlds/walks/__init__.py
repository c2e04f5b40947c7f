"""Walks of human raters in a home: their evaluation run, and the endpoints of their web page."""
