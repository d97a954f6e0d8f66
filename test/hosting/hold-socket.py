"""hold-socket.py PORT COMMAND...: keeps a listening socket for a command, as systemd does; SIGHUP restarts the command."""

import os
import signal
import socket
import sys

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=4096)
child = 0
is_over = False


def end_child(number, _):
    global is_over
    is_over = number == signal.SIGTERM
    os.kill(child, signal.SIGTERM)


for number in (signal.SIGHUP, signal.SIGTERM):
    signal.signal(number, end_child)

while not is_over:
    child = os.fork()
    if child == 0:
        os.dup2(listener.fileno(), 3)
        os.set_inheritable(3, True)
        os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
        os.execvp(sys.argv[2], sys.argv[2:])
    os.waitpid(child, 0)
