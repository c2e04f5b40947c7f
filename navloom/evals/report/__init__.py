"""The report kit: tables, intervals, and a page that needs nothing outside it, for every kind."""
