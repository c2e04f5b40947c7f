"""Report kit for all kinds of runs: tables, intervals, blocks and self-contained pages."""
