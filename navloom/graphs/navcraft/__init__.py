"""Agents of NavCraft: one crafts errands (NavCraft-S), one lifts them to relays (NavCraft-C)."""
