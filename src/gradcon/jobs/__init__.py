"""Many independent pieces of work: run in parallel, each kept when it is done, none computed twice.

Job     a function of plain parameters and hashed inputs; its key says what the answer depends on
Store   a folder of finished jobs, one file each (two where there are arrays), written all-or-nothing
run     has done what the store does not hold yet, by processes of this machine or by a cluster, and tells how it goes
"""

from gradcon.jobs.job import Job, Outcome
from gradcon.jobs.runner import Outcomes, run
from gradcon.jobs.store import Store

__all__ = ["Job", "Outcome", "Outcomes", "Store", "run"]
