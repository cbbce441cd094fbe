"""A local Ray cluster.

Ray's own `ray.cluster_utils.Cluster` is handed over: nothing here imports Ray.
"""

from __future__ import annotations

from typing import Any

_N_TRIES = 4
_HEALTH_CHECKS = {"health_check_period_ms": 500, "health_check_initial_delay_ms": 500}
"""A lost node is noticed after five of them, and not after the 15 s of Ray's own setting."""


class TwoNodes:
    """A head and one more node, each with these resources."""

    def __init__(self, cluster: Any, **each: Any) -> None:
        self._cluster = cluster
        self._each = {"object_store_memory": 80 * 2**20, **each}
        self._start(include_dashboard=False, _system_config=_HEALTH_CHECKS)
        self.address: str = cluster.address
        self.add_node()

    def add_node(self) -> None:
        """Start the second node; there are two when this returns, also to a head that has lost one just now."""
        self._other = self._start()
        self._cluster.wait_for_nodes()

    def lose_node(self) -> None:
        """Kill the second node."""
        self._cluster.remove_node(self._other, allow_graceful=False)

    def close(self) -> None:
        """End both."""
        self._cluster.shutdown()

    def _start(self, **settings: Any) -> Any:
        """Ray gives a node half a minute to start, which a machine that others keep busy may not be able to do."""
        for n_left in reversed(range(_N_TRIES)):
            try:
                return self._cluster.add_node(**self._each, **settings)
            except Exception as error:
                if "timed out during startup" not in str(error) or not n_left:
                    raise
        raise AssertionError
