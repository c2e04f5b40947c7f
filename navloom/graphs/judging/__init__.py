"""Judges as agents: of reasons why a way is blocked, and of a navigator's steps by a rubric."""
