"""Tests of team plans."""
