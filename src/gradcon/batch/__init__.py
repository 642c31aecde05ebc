"""Many scenes, each into a folder of its own: what `gradcon batch` does.

scenes    which scenes there are, and what their folders are called
inputs    the hash of all that a scene's estimate reads
work      the job of one scene, which a worker does: no file is written there, its bytes are sent back
folder    the output folder: whose it is, and what is finished in it
summary   summary.csv and index.html
run       all of it
"""

from gradcon.batch.run import run_batch

__all__ = ["run_batch"]
