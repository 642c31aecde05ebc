"""The hunt for defects: mutated files and random command lines, run in child processes that may not misbehave.

samples/            makes small valid inputs, and says which of their files to mutate; `corpus` has what ever broke
byte_mutations      changes bytes, integers and blocks
text_mutations      changes numbers, words and structure of texts
repairs             corrects checksums, so that a mutation gets past them
cases               turns a format and a number into a mutated sample, always the same one
readers             reads a sample as a user would, and checks what comes out
texts               says which texts a terminal must not get
judge               decides whether a case is fine, refused, or a finding
sandbox             writes the files of a case, and restores what an earlier case changed
batches             runs many cases in a child process, with limits
usage               measures CPU time and memory of a process and its children
hunt                shares the cases among processes, and counts
findings            keeps what was found, with a command that repeats it
table               prints the counts, for people and for the documentation
command_lines       makes random command lines
command_sandbox     makes the folder in which they run
command_runs        runs them, and judges how they end
in_tests            runs a fixed share of it all in the tests
"""
