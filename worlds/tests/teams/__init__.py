"""Tests of teams on paper."""
