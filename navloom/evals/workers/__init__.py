"""Workers: a run's samples carried out in several processes or on several machines.

The driver, the process that holds the run's folder, alone writes lines, calls and the summary; it
alone counts what is used. A worker makes the job anew from ``run.json``, takes samples and gives
back whole lines. What passes between them is text, a JSON object each
(:mod:`navloom.evals.workers.spoken`), over whatever a :class:`navloom.evals.workers.pools.Pool`
has: pipes of this machine, or actors of Ray.

    driver (navloom.evals.runner, crew)            worker (worker)
      begin: run.json, settings        ------>       makes the job, or says why it cannot
      sample                           ------>       run_sample
      granted, reply, hold, drain      <----->       reserve, settle, get, put, call, retry
      written                          <----->       line, or how it ended without one
"""
