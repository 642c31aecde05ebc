"""`python -m gradcon` is the command `gradcon`."""

from gradcon.cli import run

if __name__ == "__main__":
    run()
