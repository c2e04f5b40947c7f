"""Runs of agents over datasets: execution, results, scores and reports (layer 5).

Common to all runs: ``pick_run_folder`` (files), ``runner`` (execution), ``session`` (execution
settings), ``request`` (what to run), ``kinds`` (registry) and ``dry`` (dry run). Subjects:
``navcraft`` (task synthesis), ``navigation`` (navigators, metrics, failures), ``capnav`` (questions
and answers), ``judging`` and ``people`` (human studies). ``tasks`` loads the navigation datasets.
``captions`` and ``annotation`` complete scenes.
"""
