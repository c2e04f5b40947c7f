"""The distribution navloom-worlds: its package and its tests."""
