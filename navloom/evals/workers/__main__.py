"""A worker as a process: texts come by stdin and go by stdout, a line each.

It ends with its driver: when stdin ends, at once, however busy.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading

from navloom.evals.workers.worker import serve


def main() -> None:
    """Serve the driver that started this process."""
    # Whatever prints in here must not be taken for a text.
    come, go = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    sys.stdin, sys.stdout = open(os.devnull), sys.stderr  # noqa: PTH123, SIM115

    async def served() -> None:
        loop, queue = asyncio.get_running_loop(), asyncio.Queue[str]()

        def listen() -> None:
            for line in come:
                loop.call_soon_threadsafe(queue.put_nowait, line.decode(errors="replace"))
            # The driver is gone: nothing that is done from here on is ever written down.
            os._exit(0)

        def tell(text: str) -> None:
            go.write(text.encode(errors="backslashreplace") + b"\n")
            go.flush()

        threading.Thread(target=listen, name="navloom-driver", daemon=True).start()
        await serve(queue.get, tell)

    asyncio.run(served())


if __name__ == "__main__":
    main()
