"""`python -m gradcon` is the command `gradcon`."""

import sys

from gradcon.cli import main

if __name__ == "__main__":
    sys.exit(main())
