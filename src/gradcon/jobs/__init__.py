"""Many independent pieces of work: they run in parallel, each outcome is kept, and none is computed twice.

job        Job, a function with its parameters and hashed inputs, and the key under which its Outcome is kept
checks     refuses what a worker answers unless it is an Outcome that the job can have
store      Store, a folder of finished jobs
runner     run, which does the jobs that the store does not hold yet, and returns their Outcomes
workers    the interface of the workers that do the jobs
processes  workers that are processes on this machine
cluster    the workers of a Dask cluster; scheduler connects to it
pools      chooses between processes and a cluster
tally      counts the jobs of a run and shows its progress
"""

from gradcon.jobs.job import Job, Outcome
from gradcon.jobs.runner import Outcomes, run
from gradcon.jobs.store import Store

__all__ = ["Job", "Outcome", "Outcomes", "Store", "run"]
