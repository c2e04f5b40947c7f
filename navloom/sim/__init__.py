"""Simulators: one protocol, several backends, one conformance suite. Layer 1: uses scenes."""

from navloom.sim.protocol import (
    Action,
    Candidate,
    Captions,
    Contact,
    Forward,
    Hop,
    Look,
    Observation,
    Path,
    Pose,
    SeenObject,
    Simulator,
    Stop,
    Turn,
    Velocity,
    View,
    Waypoint,
)
from navloom.sim.registry import get_simulator

__all__ = [
    "Action",
    "Candidate",
    "Captions",
    "Contact",
    "Forward",
    "Hop",
    "Look",
    "Observation",
    "Path",
    "Pose",
    "SeenObject",
    "Simulator",
    "Stop",
    "Turn",
    "Velocity",
    "View",
    "Waypoint",
    "get_simulator",
]
