"""Command line of Navloom. Layer 7: uses everything below."""
