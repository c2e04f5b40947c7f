"""Tests of ways to mend."""
