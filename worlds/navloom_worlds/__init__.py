"""World package for Navloom's agents: homes, furniture, geometry, motion, rendering, exports.

Navloom finds it through entry points (:mod:`navloom.plugins`).
"""
