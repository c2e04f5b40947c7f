"""Runs, and what they are worth. Floor 5: uses everything below.

Of every run: ``run_folder`` its files, ``runner`` what carries it out, ``session`` one sitting,
``request`` what was asked, ``kinds`` the registry, ``dry`` a run that calls nobody. Four kinds
of runs: ``navcraft`` (tasks, their scores, their datasets), ``navigation`` (navigators, metrics,
failures), ``capnav`` (questions and answers) and ``judging``. ``tasks`` are the datasets that
navigators are put through; ``captioning`` and ``annotation`` complete scenes.
"""
