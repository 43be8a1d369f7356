"""A program that runs a PostgreSQL server until its standard input is closed, also if the tests are killed.

Usage: python engine_guard.py UID FOLDER COMMAND… It starts COMMAND as the user UID (-1: this user), prints its process
id, and, after the end of the input, stops it and deletes FOLDER if that is not empty.
"""

import os
import shutil
import signal
import subprocess
import sys

PATIENCE = 10.0
"""Seconds for an immediate shutdown."""


def main() -> None:
    """Run the server."""
    user, folder, *command = sys.argv[1:]
    # The server must not get the signals of a terminal, and this program must survive them to stop the server.
    os.setsid()
    rights = {} if user == "-1" else {"user": int(user), "group": int(user), "extra_groups": []}
    with open(os.path.join(folder, "log"), "ab") as log:
        server = subprocess.Popen(  # type: ignore[call-overload]
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder, **rights
        )
    print(server.pid, flush=True)
    delete = sys.stdin.read() != "keep"
    for wanted in (signal.SIGCONT, signal.SIGQUIT):
        server.send_signal(wanted)
    try:
        server.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        server.kill()
    if delete:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
