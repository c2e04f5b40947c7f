"""Runs, and what they are worth. Floor 5: uses everything below.

Of every run: ``run`` the folder, ``batch`` the engine, ``session`` one sitting, ``request`` what
was asked, ``dry`` a run that calls nobody, ``stats`` and ``table`` for what comes out. Four kinds
of runs: ``navcraft`` (tasks, their scores, their datasets), ``navigation`` (navigators, metrics,
failures), ``capnav`` (questions and answers) and ``judging``. ``tasks`` are the datasets that
navigators are put through; ``captioning`` and ``annotation`` complete scenes.
"""
