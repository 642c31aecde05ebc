"""Many scenes, each estimated into a folder of its own: what `gradcon batch` does.

scenes    finds the scenes and names their folders
inputs    hashes everything that a scene's estimate reads
checks    refuses what cannot be the result of a scene
work      the job of one scene; the worker sends the files of the result back as bytes, and writes none itself
folder    the output folder: which batch it belongs to, and what is finished in it
summary   writes summary.csv and index.html
run       puts these together
"""

from gradcon.batch.run import run_batch

__all__ = ["run_batch"]
