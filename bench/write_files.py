"""Writes files of 5 MiB durably into a folder for some seconds; prints a result line like the wrk scripts."""

import os
import sys
import threading
import time

folder, thread_count, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
content = b"0123456789abcdef" * (5 * 1024 * 1024 // 16)
written = []


def write(thread):
    number = 0
    while time.monotonic() < deadline:
        name = os.path.join(folder, f"{thread}-{number}")
        with open(f"{name}.new", "xb", buffering=0) as file:
            if file.write(content) != len(content):
                raise OSError("incomplete write")
            os.fsync(file.fileno())
        os.rename(f"{name}.new", name)
        # Make the name durable, too.
        directory = os.open(folder, os.O_RDONLY)
        os.fsync(directory)
        os.close(directory)
        number += 1
    written.append(number)


started = time.monotonic()
deadline = started + seconds
threads = [threading.Thread(target=write, args=[number]) for number in range(thread_count)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
if len(written) != thread_count:
    sys.exit("a thread failed")
micros = int((time.monotonic() - started) * 1e6)
print(f"RESULT requests={sum(written)} micros={micros} not_200=0 broken=0")
