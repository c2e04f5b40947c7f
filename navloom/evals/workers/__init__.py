"""Workers: run a session's samples in several processes or on several machines.

The driver is the process that holds the run's folder. Only the driver writes lines, calls and the
summary, and only the driver counts usage. A worker rebuilds the job from ``run.json``, runs samples
and returns complete lines. Messages are JSON objects as text
(:mod:`navloom.evals.workers.worker_protocol`). A
:class:`navloom.evals.workers.worker_pools.WorkerPool` carries them over pipes on this machine or to
Ray actors.

    driver                                         worker
      begin: run.json, settings        ------>       builds the job, or says why it cannot
      sample                           ------>       run_sample
      granted, reply, hold, drain      <----->       reserve, settle, get, put, call, retry
      written                          <----->       line, or why there is none
"""
