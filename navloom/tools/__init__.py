"""Tools that an agent may call, grounded in a scene graph. Layer 2: uses scenes and sim."""

from navloom.tools.navcraft.relay import check_collab_path_efficient
from navloom.tools.navcraft.relay_task import RelayTask
from navloom.tools.navcraft.task_paths import check_path_and_adjacency, check_two_path_and_adjacency

__all__ = [
    "RelayTask",
    "check_collab_path_efficient",
    "check_path_and_adjacency",
    "check_two_path_and_adjacency",
]
