"""A client for smithyd in one file, for Python 3.8 and newer, without dependencies. Copy it.

    from smithyd import VersioningTracker

    tracker = VersioningTracker("/path/to/project")
    checkpoint = tracker.create_checkpoint("Before the refactoring")

    with tracker.edit(["src/app.py"]) as edit:          # announced: others are kept off the file
        write("src/app.py")                             # an exception puts the file back
    print(edit.changes)                                 # what was recorded

    tracker.restore_checkpoint(checkpoint.commit_id)

The same by hand, as a tool does it:

    tracker.start_edit(["src/app.py"])
    try:
        write("src/app.py")
    except BaseException:
        tracker.abort_edit()
        raise
    tracker.finalize_edit()

Every other method of the daemon (docs/METHODS.md) is ``tracker.client.call("method", name=value)``.

An edit belongs to the connection it was started on: when this process dies, the daemon puts the
files back. Calls of one client are made one after another, under a lock; use one tracker per thread
if several edits are to be open at once. After a fork each process opens a connection of its own.

The daemon is found by ``.agentsmithy/run/daemon.json``. When none runs, it is started with the
command ``smithyd`` of the PATH, or the one that is named:
``VersioningTracker(root, smithyd=["node", "/opt/smithyd/dist/cli/main.js"])``.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import stat
import subprocess
import threading
import time
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Union

__all__ = [
    "CheckpointInfo",
    "Client",
    "DaemonUnavailableError",
    "Edit",
    "EditConflictError",
    "NotFoundError",
    "SmithydError",
    "StaleReadError",
    "UnknownChangesError",
    "VersioningTracker",
]

Answer = Dict[str, Any]
PathName = Union[str, "os.PathLike[str]"]

#: A first start reads the whole project.
START_TIMEOUT_S = 120.0
#: How long a daemon that ends, or another one that starts, is waited for.
PATIENCE_S = 20.0
LOOK_AGAIN_S = 0.1


class SmithydError(Exception):
    """A failure the daemon has a name for.

    ``code`` is that name (``EDIT_CONFLICT``), ``hint`` says what to do, ``data`` has the details.
    """

    def __init__(
        self,
        code: str,
        message: str,
        hint: Optional[str] = None,
        data: Optional[Answer] = None,
    ) -> None:
        super().__init__(message if hint is None else "{} {}".format(message, hint))
        self.code = code
        self.message = message
        self.hint = hint
        self.data: Answer = {} if data is None else data

    @staticmethod
    def of(error: Answer) -> "SmithydError":
        """The error of a JSON-RPC answer, as the class that stands for its code."""
        data = dict(error.get("data") or {})
        code = str(data.pop("code", "INTERNAL"))
        hint = data.pop("hint", None)
        kind = NotFoundError if code.endswith("_NOT_FOUND") else _ERRORS.get(code, SmithydError)
        return kind(code, str(error.get("message", code)), hint, data)


class DaemonUnavailableError(SmithydError):
    """No daemon runs and none could be started, or the connection broke during a call."""


class EditConflictError(SmithydError):
    """Another edit holds a path; ``data["holder"]`` says whose."""


class UnknownChangesError(SmithydError):
    """A file holds content that nobody announced."""


class StaleReadError(SmithydError):
    """A file is not what the caller has read."""


class NotFoundError(SmithydError):
    """There is no such dialog, checkpoint, session, edit or method."""


_ERRORS = {
    "DAEMON_UNAVAILABLE": DaemonUnavailableError,
    "EDIT_CONFLICT": EditConflictError,
    "UNKNOWN_CHANGES": UnknownChangesError,
    "STALE_READ": StaleReadError,
}


class CheckpointInfo(NamedTuple):
    """A saved state of the whole project."""

    commit_id: str
    message: str


class Client:
    """Calls methods of the daemon of one project. Opens its connection when it is first needed."""

    def __init__(
        self,
        root: PathName,
        smithyd: Union[str, Sequence[str], None] = None,
        start: bool = True,
        timeout: float = 60.0,
    ) -> None:
        """``smithyd``: the command that starts a daemon; ``start=False``: never start one.

        ``timeout`` is the number of seconds that one call may take.
        """
        self.root = os.path.realpath(os.fspath(root))
        self.timeout = timeout
        self._command = [smithyd] if isinstance(smithyd, str) else smithyd
        self._may_start = start
        self._lock = threading.RLock()
        self._socket: Optional[socket.socket] = None
        self._unread = b""
        self._process = os.getpid()
        self._last_id = 0

    def call(self, method: str, **params: Any) -> Answer:
        """The answer of a method; parameters that are None are left out.

        Raises SmithydError. When the connection broke before the answer came, the call may or may
        not have happened: look, then call again.
        """
        given = {name: value for name, value in params.items() if value is not None}
        with self._lock:
            if not self._is_connected():
                self._connect()
            # The daemon may wait that long for a path somebody else holds.
            waiting = float(given.get("wait_ms", 0)) / 1000.0
            return self._exchange(method, given, self.timeout + waiting)

    def close(self) -> None:
        """Ends the connection, and with it every edit that is still open on it."""
        with self._lock:
            if self._socket is not None:
                self._socket.close()
            self._socket = None
            self._unread = b""

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # How a daemon is reached.

    def _is_connected(self) -> bool:
        if self._process != os.getpid():
            # The connection is our parent's, and so are the edits on it.
            self.close()
            self._process = os.getpid()
        if self._socket is None:
            return False
        # A daemon that ended, or closed a connection nobody used, has said so by now.
        self._socket.setblocking(False)
        try:
            is_open = self._socket.recv(1, socket.MSG_PEEK) != b""
        except BlockingIOError:
            is_open = True
        except OSError:
            is_open = False
        if not is_open:
            self.close()
        return is_open

    def _connect(self) -> None:
        end = time.monotonic() + PATIENCE_S
        while True:
            if self._try_connect():
                return
            if time.monotonic() > end:
                raise self._unavailable("it does not answer")
            if not self._may_start:
                raise self._unavailable("none runs")
            self._start_daemon()

    def _try_connect(self) -> bool:
        """A daemon that was just killed still accepts: only one that answers counts."""
        address = self._address()
        if address is None:
            return False
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(self.timeout)
            connection.connect(address)
        except (FileNotFoundError, ConnectionError, NotADirectoryError):
            connection.close()
            return False
        except OSError:
            connection.close()
            raise
        self._socket = connection
        self._unread = b""
        try:
            self._exchange("status", {}, self.timeout)
            return True
        except SmithydError as error:
            self.close()
            if error.code not in ("DAEMON_UNAVAILABLE", "SHUTTING_DOWN"):
                raise
            time.sleep(LOOK_AGAIN_S)
            return False

    def _address(self) -> Optional[str]:
        file = os.path.join(self.root, ".agentsmithy", "run", "daemon.json")
        try:
            with open(file, encoding="utf-8") as opened:
                daemon = json.load(opened)
            # A folder that was copied with its state names the daemon of the original.
            if daemon["root"] != self.root:
                return None
            address = str(daemon["socket"])
            places = [os.path.dirname(file), os.path.dirname(address), address]
            stats = [(place, os.lstat(place)) for place in places]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        for place, seen in stats:
            if seen.st_uid != os.geteuid() or stat.S_ISLNK(seen.st_mode) or seen.st_mode & 0o022:
                raise SmithydError(
                    "FORBIDDEN",
                    "{} is not this user's alone; refusing to talk to it.".format(place),
                    "Somebody else may have taken the place of the daemon. Look who made it.",
                    {"path": place},
                )
        return address

    def _start_daemon(self) -> None:
        command = self._command
        if command is None:
            found = shutil.which("smithyd")
            command = None if found is None else [found]
        if not command:
            raise self._unavailable("none runs, and there is no command smithyd to start it")
        try:
            started = subprocess.run(
                [*command, "--json", "--root", self.root, "start"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                timeout=START_TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise self._unavailable("it could not be started: {}".format(error)) from error
        if started.returncode != 0:
            raise self._start_failure(started.stderr.decode("utf-8", "replace"))

    def _start_failure(self, text: str) -> SmithydError:
        try:
            error = json.loads(text)["error"]
            return SmithydError.of({"message": error["message"], "data": error})
        except (ValueError, KeyError, TypeError):
            return self._unavailable("it could not be started: {}".format(text.strip()))

    def _unavailable(self, why: str) -> SmithydError:
        return DaemonUnavailableError(
            "DAEMON_UNAVAILABLE",
            "The daemon of {} cannot be reached: {}.".format(self.root, why),
            "Start it with `smithyd start`; `smithyd start --foreground` shows what is wrong.",
            {"root": self.root},
        )

    # How a call is made: one JSON object per line in each direction.

    def _exchange(self, method: str, params: Answer, timeout: float) -> Answer:
        self._last_id += 1
        request = {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}
        end = time.monotonic() + timeout
        try:
            self._send(json.dumps(request).encode("utf-8") + b"\n", timeout)
            while True:
                message = self._receive(end)
                if message.get("id") == self._last_id and "result" in message:
                    return message["result"]
                # Without an id: the daemon could not read the frame, and it was ours.
                if "error" in message and message.get("id") in (self._last_id, None):
                    raise SmithydError.of(message["error"])
        except socket.timeout:
            raise SmithydError(
                "TIMEOUT",
                "{} was not answered within {} s.".format(method, timeout),
                "See `smithyd status`; the call may still finish.",
            ) from None

    def _send(self, frame: bytes, timeout: float) -> None:
        connection = self._open_socket()
        connection.settimeout(timeout)
        try:
            connection.sendall(frame)
        except OSError as error:
            # Half a frame would spoil every later one.
            self.close()
            raise error if isinstance(error, socket.timeout) else self._lost() from error

    def _receive(self, end: float) -> Answer:
        chunks = [self._unread]
        while b"\n" not in chunks[-1]:
            connection = self._open_socket()
            connection.settimeout(max(end - time.monotonic(), 0.001))
            try:
                chunk = connection.recv(65536)
            except socket.timeout:
                self._unread = b"".join(chunks)
                raise
            except OSError as error:
                self.close()
                raise self._lost() from error
            if not chunk:
                self.close()
                raise self._lost()
            chunks.append(chunk)
        line, _, self._unread = b"".join(chunks).partition(b"\n")
        message = json.loads(line.decode("utf-8"))
        return message if isinstance(message, dict) else {}

    def _open_socket(self) -> socket.socket:
        if self._socket is None:
            raise self._lost()
        return self._socket

    def _lost(self) -> SmithydError:
        return DaemonUnavailableError(
            "DAEMON_UNAVAILABLE",
            "The connection to the daemon was lost.",
            "The call may or may not have happened: look, then call again.",
            {"sent": True},
        )


class Edit:
    """An announced change. Ends with ``finalize`` or ``abort``, or by itself in a ``with``."""

    def __init__(self, client: Client, started: Answer) -> None:
        self._client = client
        self.edit_id: str = started["edit_id"]
        #: The files as they were: ``{"path", "exists", "hash"}``.
        self.files: List[Answer] = started["files"]
        #: What was there that nobody had announced.
        self.unknown: Answer = started["unknown"]
        self.warnings: List[str] = started["warnings"]
        #: The answer of ``finalize_edit`` or ``abort_edit``.
        self.answer: Optional[Answer] = None

    @property
    def changes(self) -> List[Answer]:
        """After ``finalize``: ``{"path", "change", "before", "after", "additions", ..}``."""
        return [] if self.answer is None else list(self.answer.get("files", []))

    def finalize(self, rationale: Optional[str] = None) -> Answer:
        """Records what was changed. It makes no checkpoint."""
        self.answer = self._client.call(
            "finalize_edit", edit_id=self.edit_id, rationale=rationale
        )
        return self.answer

    def abort(self) -> Answer:
        """Puts the files back; what was there instead is saved and named in the answer."""
        self.answer = self._client.call("abort_edit", edit_id=self.edit_id)
        return self.answer

    def __enter__(self) -> "Edit":
        return self

    def __exit__(self, kind: Optional[type], error: object, trace: object) -> None:
        if self.answer is not None:
            return
        if kind is None:
            self.finalize()
            return
        try:
            self.abort()
        except SmithydError:
            # The error of the work counts. A broken connection aborts the edit by itself.
            pass


class VersioningTracker:
    """Checkpoints, sessions and edits of one dialog; without an id, of the current one."""

    def __init__(
        self,
        project_root: PathName,
        dialog_id: Optional[str] = None,
        agent: Union[str, Answer, None] = None,
        tool: Optional[str] = None,
        client: Optional[Client] = None,
        **client_options: Any,
    ) -> None:
        """``agent`` and ``tool`` are whom edits are ascribed to; other options are the Client's."""
        self.client = Client(project_root, **client_options) if client is None else client
        self.dialog_id = dialog_id
        self.agent = {"name": agent} if isinstance(agent, str) else agent
        self.tool = tool
        self._given_root = os.path.abspath(os.fspath(project_root))
        self._edit: Optional[Edit] = None

    # Checkpoints and sessions. Only whoever leads the dialog makes them, tools never do.

    def create_checkpoint(self, message: str) -> CheckpointInfo:
        """Saves the whole project."""
        answer = self.client.call("create_checkpoint", message=message, dialog_id=self.dialog_id)
        return CheckpointInfo(answer["commit_id"], answer["message"])

    def approve_all(self, message: Optional[str] = None) -> Answer:
        """Makes the present state the approved one: ``approved_commit``, ``new_session``, .."""
        return self.client.call("approve", message=message, dialog_id=self.dialog_id)

    def reset_to_approved(self) -> Answer:
        """Back to the approved state; pending work is saved first: ``reset_to``, .."""
        return self.client.call("reset", dialog_id=self.dialog_id)

    def restore_checkpoint(self, checkpoint_id: str) -> Answer:
        """Back to a checkpoint; pending work is saved first: ``restored_to``, ``restored``, .."""
        return self.client.call(
            "restore", checkpoint_id=checkpoint_id, dialog_id=self.dialog_id
        )

    # Edits.

    def edit(
        self, paths: Union[PathName, Iterable[PathName], None] = None, **options: Any
    ) -> Edit:
        """Announces an edit, for ``with``; without paths, of whatever changes in the project.

        Options are those of ``start_edit``: ``expect``, ``wait_ms``, ``strategy``, ``rationale``, ..
        """
        asked: Answer = {"dialog_id": self.dialog_id, "agent": self.agent, "tool": self.tool}
        if paths is None:
            asked["scope"] = "project"
        else:
            alone = isinstance(paths, (str, os.PathLike))
            asked["files"] = [self._relative(path) for path in ([paths] if alone else paths)]
        asked.update(options)
        return Edit(self.client, self.client.call("start_edit", **asked))

    def start_edit(self, paths: Union[PathName, Iterable[PathName]], **options: Any) -> Edit:
        """Saves what the files hold and keeps others off them until the edit ends."""
        if self._edit is not None:
            raise SmithydError(
                "INVALID_REQUEST",
                "The edit {} of this tracker is still open.".format(self._edit.edit_id),
                "Finalize or abort it first, or use `with tracker.edit(..)`.",
            )
        self._edit = self.edit(paths, **options)
        return self._edit

    def finalize_edit(self, rationale: Optional[str] = None) -> Answer:
        """Records what was changed. When that fails the edit stays open, to be aborted."""
        if self._edit is None:
            raise SmithydError(
                "EDIT_NOT_FOUND", "No edit of this tracker is open.", "Call start_edit first."
            )
        answer = self._edit.finalize(rationale)
        self._edit = None
        return answer

    def abort_edit(self) -> Optional[Answer]:
        """Puts the files back. None when nothing is open: `start_edit` itself may have failed."""
        edit, self._edit = self._edit, None
        return None if edit is None else edit.abort()

    def close(self) -> None:
        """Ends the connection, and with it every edit that is still open."""
        self._edit = None
        self.client.close()

    def __enter__(self) -> "VersioningTracker":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _relative(self, path: PathName) -> str:
        """A path as the daemon knows it; it refuses by itself what is not in the project."""
        name = os.fspath(path)
        for root in (self._given_root, self.client.root):
            if name.startswith(root + os.sep):
                return name[len(root) + 1 :]
        return name
