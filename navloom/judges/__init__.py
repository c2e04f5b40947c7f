"""Judges: graders of explanations, traces and tasks. Layer 3: uses tools, prompts and models.

A judge is a graph: prompt, grade, parse (``reasoning``, ``rubric``). Untrusted text is neutralised
and delimited before a judge reads it (``fence``). The last verdict in a reply counts, and an
invalid one leaves the item unscored. A judge's reliability is measured on items of known truth
(``calibrate``, ``calibrate_trace``).
"""
