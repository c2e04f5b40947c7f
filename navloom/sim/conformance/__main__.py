"""Command line of the suite: ``python -m navloom.sim.conformance BACKEND... SCENE``."""

import sys

from navloom.sim.conformance import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
