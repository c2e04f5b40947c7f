"""The graders. Floor 3: uses tools, prompts and models.

A judge is a graph: prompt, grade, parse (``reasoning``, ``rubric``). What it reads of others is
fenced (``fence``), its last verdict wins, off the menu is unscored, and how far it can be trusted
is measured on items of known truth (``calibrate``, ``calibrate_trace``).
"""
