"""Commands of the world package, which the ``navloom`` command finds by entry points."""
