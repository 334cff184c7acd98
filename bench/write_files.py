"""Writes files of 5 MiB into a folder for a while, as durably as can be; says what `load.py` reads of wrk."""

import os
import sys
import threading
import time

folder, ways, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
content = b"0123456789abcdef" * (5 * 1024 * 1024 // 16)
written = []


def write(way):
    number = 0
    while time.monotonic() < deadline:
        name = os.path.join(folder, f"{way}-{number}")
        with open(f"{name}.new", "xb", buffering=0) as file:
            if file.write(content) != len(content):
                raise OSError("written in part")
            os.fsync(file.fileno())
        os.rename(f"{name}.new", name)
        # The name must be as durable as the bytes.
        directory = os.open(folder, os.O_RDONLY)
        os.fsync(directory)
        os.close(directory)
        number += 1
    written.append(number)


begun = time.monotonic()
deadline = begun + seconds
threads = [threading.Thread(target=write, args=[way]) for way in range(ways)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
if len(written) != ways:
    sys.exit("a thread has failed")
micros = int((time.monotonic() - begun) * 1e6)
print(f"RESULT requests={sum(written)} micros={micros} not_200=0 broken=0")
