"""Commands ``navloom eval capnav`` and ``navloom synth capnav``."""
