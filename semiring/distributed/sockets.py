"""Messages between processes over TCP, where no launcher of MPI has started them.

`Endpoint` has the few methods of mpi4py's communicators that `mpi` uses, with the same meaning: messages between two
processes that match by group, tag and order, collectives of such messages, and requests that are tested.  Nothing runs
between the tests: they write and read what the sockets take and have.

Small collectives are made in ceil(log2 p) rounds, in each of which a process sends one message and receives one.

Source of the rounds: Bruck, Ho, Kipnis, Upfal, Weathersby, "Efficient Algorithms for All-to-All Communications in
Multiport Message-Passing Systems", IEEE Transactions on Parallel and Distributed Systems 8(11), 1997.

The processes meet at an address, where rank 0 listens: each sends its rank and the port at which it listens itself, and
receives those of all; then every two processes have a connection.  What is sent is neither encrypted nor authenticated,
as with MPI and NCCL: the address must be in a network whose hosts are trusted.
"""

from __future__ import annotations

import contextlib
import hashlib
import ipaddress
import re
import selectors
import socket
import struct
import time
import weakref
import zlib
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..exceptions import CollectiveTimeout, InvalidValue, NotSupported, SemiringError

# What precedes a message: its group, its tag and its bytes.
_FRAME = struct.Struct("<QqQ")
# What a process sends first: a digest of the address and the number of processes, its rank, and its own port.
_HELLO = struct.Struct("<32sqq")
# Seconds between attempts to connect, and for which a process that has connected may be silent.
_RETRY_S, _SILENT_S = 0.05, 10.0
# The tags of the messages of collectives; those that are under way at the same time have different ones.
_SUM, _GATHER, _GATHER_SIZES, _ALL_TO_ALL, _BCAST = range(-5, 0)
# Seconds for which a collective goes on after a process of the group has ended: what it has sent may be on its way.
_GRACE_S = 5.0
# Ports for steps of Slurm: below those that systems give to connections, above those of services.
_PORTS = range(20000, 30000)


class Request:
    """A message that is sent or received, at once or each time it is started."""

    def __init__(self, endpoint: Endpoint, rank: int, tag: int, content: memoryview, *, sends: bool) -> None:
        self.endpoint, self.rank, self.key = endpoint, rank, (endpoint.group, tag)
        self.content, self.sends = content, sends
        self.done = True

    def start(self) -> None:
        """Begin to send or receive."""
        self.done = False
        link = self.endpoint.links[self.rank]
        if self.sends:
            link.send(self)
        else:
            link.receive(self)

    def Test(self) -> bool:
        """Return whether the message is sent, or has arrived."""
        if not self.done:
            self.endpoint.progress()
        self.check()
        return self.done

    def check(self) -> None:
        """Raise SemiringError if the message cannot be sent, or arrive, any more."""
        if not self.done and (ended := self.endpoint.links[self.rank].ended) is not None:
            raise SemiringError(ended)

    @staticmethod
    def Startall(requests: Sequence[Request]) -> None:
        """Begin all."""
        for request in requests:
            request.start()


class Rounds:
    """A collective: each round begins when all requests of the one before are done.

    That happens in the tests of any request of this process: one that waits for other groups first must not delay this.
    """

    def __init__(self, endpoint: Endpoint, rounds: Iterator[Sequence[Request]]) -> None:
        self._endpoint, self._rounds = endpoint, rounds
        self._pending: Sequence[Request] = ()
        self._until: float | None = None
        self.complete = False
        endpoint.begin(self)

    def advance(self) -> None:
        """Begin the rounds that can begin."""
        while not self.complete and all(request.done for request in self._pending):
            following = next(self._rounds, None)
            self.complete, self._pending = following is None, following or ()

    def Test(self) -> bool:
        """Return whether the collective is complete on this process."""
        if not self.complete:
            self._endpoint.progress()
        if self.complete:
            return True
        for request in self._pending:
            request.check()
        ended = self._endpoint.ended()
        if ended is not None:  # a process that waits for others may never receive what follows from that one
            self._until = self._until or time.monotonic() + _GRACE_S
            if time.monotonic() > self._until:
                raise SemiringError(ended)
        return False


class _Link:
    """The connection to one process: what is to be written, and what is being read.

    A message that arrives before it is expected is kept.  Without memory for it nothing more is read, until there is
    some or the message is expected.
    """

    def __init__(self, rank: int, connection: socket.socket) -> None:
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rank, self.socket = rank, connection
        # Why nothing arrives any more.
        self.ended: str | None = None
        self._out: deque[tuple[memoryview, Request | None]] = deque()
        # Receives that wait for a message, and messages for which none waits, by group and tag.
        self._posted: defaultdict[tuple[int, int], deque[Request]] = defaultdict(deque)
        self._early: defaultdict[tuple[int, int], deque[bytearray]] = defaultdict(deque)
        # The message that is being read: None while its frame is.
        self._frame = memoryview(bytearray(_FRAME.size))
        self._request: Request | None = None
        self._key = (0, 0)
        self._left = self._frame
        self._body: bytearray | None = None
        # The bytes of a message that has no memory.
        self._delayed: int | None = None

    def send(self, request: Request) -> None:
        content = request.content.cast("B")
        self._out.append((memoryview(_FRAME.pack(*request.key, content.nbytes)), None))
        self._out.append((content, request))
        self.write()

    def receive(self, request: Request) -> None:
        early = self._early[request.key]
        if early:
            _put(request, early.popleft())
        else:
            self._posted[request.key].append(request)

    def early(self, group: int, tag: int) -> bool:
        """Return whether a message has arrived for which nothing waits."""
        return bool(self._early.get((group, tag)))

    def write(self) -> None:
        """Write what the socket takes."""
        while self._out and self.ended is None:
            content, request = self._out[0]
            if content.nbytes:
                try:
                    sent = self.socket.send(content)
                except BlockingIOError:
                    return
                except OSError as error:
                    self._end(error)
                    return
                if sent < content.nbytes:
                    self._out[0] = content[sent:], request
                    continue
            self._out.popleft()
            if request is not None:
                request.done = True

    def read(self) -> None:
        """Read what has arrived."""
        if self._delayed is not None:
            self._place(self._delayed)
        while self.ended is None and self._delayed is None:
            try:
                count = self.socket.recv_into(self._left)
            except BlockingIOError:
                return
            except OSError as error:
                self._end(error)
                return
            if count == 0:
                self._end(None)
                return
            self._left = self._left[count:]
            if not self._left.nbytes:
                self._advance()

    def _advance(self) -> None:
        """A frame or a message has been read: continue with what follows it."""
        if self._request is None and self._body is None:
            group, tag, size = _FRAME.unpack(self._frame)
            self._key = group, tag
            self._place(size)
            return
        if self._request is not None:
            self._request.done = True
        elif self._body is not None:
            posted = self._posted[self._key]
            if posted:  # posted while the message was read
                _put(posted.popleft(), self._body)
            else:
                self._early[self._key].append(self._body)
        self._request = self._body = None
        self._left = self._frame

    def _place(self, size: int) -> None:
        """Read the message of a frame into the memory of the request for it, else into some of its own."""
        posted = self._posted[self._key]
        if posted:
            self._request = posted.popleft()
            content = self._request.content.cast("B")
            if size > content.nbytes:
                raise InvalidValue(f"a message of {size} bytes has arrived where {content.nbytes} are expected")
            self._left = content[:size]
        else:
            try:
                self._body = bytearray(size)
            except MemoryError:
                self._delayed = size
                return
            self._left = memoryview(self._body)
        self._delayed = None
        if not size:
            self._advance()

    def _end(self, error: OSError | None) -> None:
        self.ended = f"rank {self.rank} has ended" + (f": {error}" if error is not None else "")


def _put(request: Request, body: bytearray) -> None:
    content = request.content.cast("B")
    if len(body) > content.nbytes:
        raise InvalidValue(f"a message of {len(body)} bytes has arrived where {content.nbytes} are expected")
    content[: len(body)] = body
    request.done = True


def _close(selector: selectors.BaseSelector, connections: Sequence[socket.socket]) -> None:
    selector.close()
    for connection in connections:
        connection.close()


class _Poll:
    """The connections of this process, and which of them have something to read."""

    def __init__(self, links: Sequence[_Link]) -> None:
        self._links = list(links)
        self._selector = selectors.DefaultSelector()
        for link in links:
            self._selector.register(link.socket, selectors.EVENT_READ, link)
        # Whether any process has ended.
        self.ended = False
        # The collectives of all groups that are not complete.
        self.open: list[Rounds] = []
        # With the last group, or at the end of the process.
        weakref.finalize(self, _close, self._selector, [link.socket for link in links])

    def progress(self) -> None:
        for link in self._links:
            link.write()
        for key, _ in self._selector.select(0) if self._links else ():
            link = key.data
            link.read()
            if link.ended is not None:
                self.ended = True
                self._selector.unregister(link.socket)
                self._links.remove(link)
        if self.open:
            for rounds in self.open:
                rounds.advance()
            self.open = [rounds for rounds in self.open if not rounds.complete]


class Endpoint:
    """The processes of a group, by rank, and this one among them: as a communicator of mpi4py.

    between_hosts: whether they are on several hosts.
    """

    def __init__(self, rank: int, links: Sequence[_Link | None], poll: _Poll, group: int, between_hosts: bool) -> None:
        self.rank, self.group, self.between_hosts = rank, group, between_hosts
        self._links, self._poll = list(links), poll
        self._splits = 0

    @property
    def links(self) -> list[Any]:
        """The connection to each process; None for this one."""
        return self._links

    def progress(self) -> None:
        """Write and read what the sockets take and have, and begin the rounds of collectives that follow."""
        self._poll.progress()

    def begin(self, rounds: Rounds) -> None:
        """Begin a collective."""
        self._poll.open.append(rounds)
        rounds.advance()
        self._poll.progress()

    def ended(self) -> str | None:
        """Return which process of the group has ended; None if all run."""
        if not self._poll.ended:
            return None
        return next((link.ended for link in self._links if link is not None and link.ended is not None), None)

    def Get_rank(self) -> int:
        """Return the number of this process."""
        return self.rank

    def Get_size(self) -> int:
        """Return how many processes there are."""
        return len(self._links)

    def Send_init(self, content: Any, rank: int, tag: int) -> Request:
        """Return a request that sends the content each time it is started."""
        return Request(self, rank, tag, memoryview(content), sends=True)

    def Recv_init(self, content: Any, rank: int, tag: int) -> Request:
        """Return a request that receives into the content each time it is started."""
        return Request(self, rank, tag, memoryview(content), sends=False)

    def Isend(self, content: Any, rank: int, tag: int) -> Request:
        """Begin to send."""
        request = self.Send_init(content, rank, tag)
        request.start()
        return request

    def Irecv(self, content: Any, rank: int, tag: int) -> Request:
        """Begin to receive."""
        request = self.Recv_init(content, rank, tag)
        request.start()
        return request

    def Iprobe(self, rank: int, tag: int) -> bool:
        """Return whether a message of another process has arrived for which nothing waits."""
        self.progress()
        return bool(self.links[rank].early(self.group, tag))

    def Iallreduce(self, array: Any, total: Any) -> Rounds:
        """Begin to add up the arrays of all processes."""

        def rounds() -> Iterator[Sequence[Request]]:
            whole = np.empty((len(self._links), *array.shape), array.dtype)
            yield from self._gathered(array, whole, _SUM)
            whole.sum(axis=0, dtype=array.dtype, out=total)

        return Rounds(self, rounds())

    def Iallgather(self, array: Any, whole: Any) -> Rounds:
        """Begin to gather the arrays of all processes, of one size."""
        return Rounds(self, self._gathered(array, whole.reshape(len(self._links), -1), _GATHER))

    def _gathered(self, array: Any, whole: Any, tag: int) -> Iterator[Sequence[Request]]:
        """In round k a process has the arrays of 2^k ranks from its own on, and sends them to the rank 2^k before."""
        size, distance = len(self._links), 1
        found = np.empty_like(whole)  # from the own rank on
        found[0] = array.reshape(whole.shape[1:])
        while distance < size:
            count = min(distance, size - distance)
            yield (
                self.Irecv(found[distance : distance + count], (self.rank + distance) % size, tag),
                self.Isend(found[:count], (self.rank - distance) % size, tag),
            )
            distance *= 2
        whole[:] = np.roll(found, self.rank, axis=0)

    def Iallgatherv(self, array: Any, into: Any) -> Rounds:
        """Begin to gather arrays of bytes of all processes, of any size; each is sent to all others."""
        whole, (counts, places) = into
        parts = [whole[place : place + count] for count, place in zip(counts, places, strict=True)]
        parts[self.rank][:] = array
        others = [rank for rank in range(len(parts)) if rank != self.rank]
        received = [self.Irecv(parts[rank], rank, _GATHER_SIZES) for rank in others if counts[rank]]
        return Rounds(
            self, iter([received + [self.Isend(array, rank, _GATHER_SIZES) for rank in others if array.size]])
        )

    def Ialltoall(self, array: Any, found: Any) -> Rounds:
        """Begin to send element k to process k."""

        def rounds() -> Iterator[Sequence[Request]]:
            size, distance = len(self._links), 1
            # Element k goes k ranks on: in a round those with this bit in k.
            moving = np.roll(array, -self.rank)
            while distance < size:
                chosen = (np.arange(size) & distance).astype(bool)
                sent, arrived = moving[chosen], np.empty(int(chosen.sum()), moving.dtype)
                yield (
                    self.Irecv(arrived, (self.rank - distance) % size, _ALL_TO_ALL),
                    self.Isend(sent, (self.rank + distance) % size, _ALL_TO_ALL),
                )
                moving[chosen] = arrived
                distance *= 2
            found[:] = np.roll(moving[::-1], self.rank + 1)

        return Rounds(self, rounds())

    def Ibcast(self, content: Any, root: int) -> Rounds:
        """Begin to send bytes of process `root` to all, along a binomial tree."""

        def rounds() -> Iterator[Sequence[Request]]:
            size = len(self._links)
            own = (self.rank - root) % size
            above = 1 << (size - 1).bit_length() if own == 0 else own & -own
            if own:
                yield [self.Irecv(content, (own - above + root) % size, _BCAST)]
            below = [own + (1 << k) for k in reversed(range(above.bit_length() - 1)) if own + (1 << k) < size]
            yield [self.Isend(content, (rank + root) % size, _BCAST) for rank in below]

        return Rounds(self, rounds())

    def Split(self, color: int, key: int) -> Endpoint:
        """Return the group of the processes that gave this color, ordered by key.  Collective."""
        given = np.empty((len(self._links), 2), np.int64)
        gathered = self.Iallgather(np.array([color, key]), given)
        while not gathered.Test():
            time.sleep(0)
        chosen = sorted((other, rank) for rank, (group, other) in enumerate(given.tolist()) if group == color)
        self._splits += 1
        name = f"{self.group} {self._splits} {color}".encode()
        group = int.from_bytes(hashlib.sha256(name).digest()[:8], "little")
        ranks = [rank for _, rank in chosen]
        links = [self._links[rank] for rank in ranks]
        return Endpoint(ranks.index(self.rank), links, self._poll, group, self.between_hosts)


class Place(NamedTuple):
    """Where the processes meet, and which one this is."""

    host: str
    port: int
    rank: int
    size: int

    @classmethod
    def of_launcher(cls, environment: Mapping[str, str]) -> Place | None:
        """Return the place that torchrun or srun has set in the environment; None for one process, or without them.

        torchrun listens at MASTER_PORT itself, so the processes meet at the next port.  srun names no port: it follows
        from the numbers of the job and of the step.
        """
        host, port = environment.get("MASTER_ADDR"), environment.get("MASTER_PORT")
        rank, size = environment.get("RANK"), environment.get("WORLD_SIZE")
        if host and port and rank and size:
            return cls(host, int(port) + 1, int(rank), int(size)) if int(size) > 1 else None
        rank, size = environment.get("SLURM_PROCID"), environment.get("SLURM_STEP_NUM_TASKS")
        hosts = environment.get("SLURM_STEP_NODELIST")
        if rank and size and hosts and int(size) > 1:
            step = f"{environment.get('SLURM_JOB_ID')} {environment.get('SLURM_STEP_ID')}"
            return cls(_first_host(hosts), _PORTS[zlib.crc32(step.encode()) % len(_PORTS)], int(rank), int(size))
        return None

    def connect(self, timeout: float) -> Endpoint:
        """Connect every two processes.

        Raises
        ------
        CollectiveTimeout
            If not all have come within `timeout` seconds (0: without a limit).
        NotSupported
            If rank 0 cannot listen at the address.
        """
        end = time.monotonic() + timeout if timeout else float("inf")
        host, port, rank, size = self
        digest = hashlib.sha256(f"semiring {host} {port} {size}".encode()).digest()
        if size == 1:
            return Endpoint(0, [None], _Poll([]), 0, False)
        try:
            own = _listening(port if rank == 0 else 0, size)
        except OSError as error:
            raise NotSupported(f"rank 0 cannot listen at port {port}: {error}") from error
        sockets: list[socket.socket | None] = [None] * size
        with own, _closed_on_error(sockets):
            if rank == 0:
                places: list[Any] = [None] * size
                while None in places[1:]:
                    connection, found, listening = self._accept(own, digest, end, places)
                    at = _peer(connection)
                    # A process of this host may have come by a name that is the loopback here alone.
                    places[found] = host if ipaddress.ip_address(at).is_loopback else at, listening
                    sockets[found] = connection
                for connection in filter(None, sockets):
                    connection.sendall(_table(places))
            else:
                first = self._reach((host, port), digest, own.getsockname()[1], end)
                sockets[0] = first
                places = _read_table(first, size, end, self)
                for other in range(1, rank):
                    sockets[other] = self._reach(places[other], digest, 0, end)
                known = [True] * (rank + 1) + [None] * (size - rank - 1)
                while None in known:
                    connection, found, _ = self._accept(own, digest, end, known)
                    sockets[found], known[found] = connection, True
        links = [None if each is None else _Link(other, each) for other, each in enumerate(sockets)]
        hosts = {each[0] for each in places[1:]}
        # Rank 0 sees the addresses from which others come: those of its own host are the host's.
        local = {host} | {_own(each) for each in filter(None, sockets)}
        between = bool(hosts - local) if rank == 0 else len(hosts) > 1 or not _is_here(sockets[0])
        return Endpoint(rank, links, _Poll([link for link in links if link is not None]), 0, between)

    def _accept(
        self, own: socket.socket, digest: bytes, end: float, known: Sequence[Any]
    ) -> tuple[socket.socket, int, int]:
        """Return the connection of a process, its rank and its port; connections of other programs are closed."""
        while True:
            own.settimeout(min(1.0, max(end - time.monotonic(), 0.01)))
            try:
                connection, _ = own.accept()
            except TimeoutError:
                if time.monotonic() > end:
                    missing = [rank for rank, each in enumerate(known) if each is None and rank != self.rank]
                    raise CollectiveTimeout(
                        f"rank {self.rank} of {self.size} has waited for rank{'s' if len(missing) > 1 else ''} "
                        f"{', '.join(map(str, missing[:8]))} to connect to {self.host}:{self.port}"
                    ) from None
                continue
            connection.settimeout(_SILENT_S)
            try:
                given, rank, port = _HELLO.unpack(_received(connection, _HELLO.size))
            except (OSError, EOFError):
                connection.close()
                continue
            if given != digest or not 0 < rank < self.size or known[rank] is not None:
                connection.close()
                continue
            return connection, rank, port

    def _reach(self, place: tuple[str, int], digest: bytes, port: int, end: float) -> socket.socket:
        """Connect to a process, which may not listen yet, and send it the rank and the port of this one."""
        while True:
            connection = None
            try:
                connection = socket.create_connection(place, timeout=_SILENT_S)
                connection.sendall(_HELLO.pack(digest, self.rank, port))
                return connection
            except OSError as error:
                if connection is not None:
                    connection.close()
                if time.monotonic() > end:
                    raise CollectiveTimeout(
                        f"rank {self.rank} of {self.size} cannot connect to {place[0]}:{place[1]}: {error}"
                    ) from error
                time.sleep(_RETRY_S)


@contextlib.contextmanager
def _closed_on_error(connections: Sequence[socket.socket | None]) -> Iterator[None]:
    try:
        yield
    except BaseException:
        for connection in filter(None, connections):
            connection.close()
        raise


def _first_host(hosts: str) -> str:
    """Return the first host of a list as Slurm writes it: ``a01``, ``a[01-04,09],b2``."""
    found = re.match(r"([^\[,]+)(?:\[(\w+)[^\]]*\]([^,\[]*))?", hosts)
    return hosts if found is None else "".join(part or "" for part in found.groups())


def _listening(port: int, backlog: int) -> socket.socket:
    """Return a socket that accepts connections of IPv4, and of IPv6 where the system has both."""
    if socket.has_dualstack_ipv6():
        return socket.create_server(("", port), family=socket.AF_INET6, backlog=backlog, dualstack_ipv6=True)
    return socket.create_server(("", port), backlog=backlog)


def _peer(connection: socket.socket) -> str:
    """Return the address of the other process."""
    return str(connection.getpeername()[0]).removeprefix("::ffff:").partition("%")[0]


def _own(connection: socket.socket) -> str:
    """Return the address of this process."""
    return str(connection.getsockname()[0]).removeprefix("::ffff:").partition("%")[0]


def _is_here(connection: socket.socket | None) -> bool:
    """Return whether a connection is between processes of one host."""
    return connection is not None and _own(connection) == _peer(connection)


def _table(places: Sequence[Any]) -> bytes:
    """Return the hosts and ports of the processes but rank 0, as text."""
    text = "\n".join(f"{host} {port}" for host, port in places[1:]).encode()
    return struct.pack("<q", len(text)) + text


def _read_table(connection: socket.socket, size: int, end: float, place: Place) -> list[Any]:
    """Return what `_table` made; rank 0 sends it once all processes have connected to it."""
    connection.settimeout(None if end == float("inf") else max(end - time.monotonic(), 0.01))
    try:
        (length,) = struct.unpack("<q", _received(connection, 8))
        lines = _received(connection, length).decode().split("\n")
    except (OSError, EOFError) as error:
        raise CollectiveTimeout(
            f"rank {place.rank} of {place.size} has connected to {place.host}:{place.port}, and not all others have"
        ) from error
    return [None, *((host, int(port)) for host, port in (line.rsplit(" ", 1) for line in lines))][:size]


def _received(connection: socket.socket, size: int) -> bytes:
    parts, left = [], size
    while left:
        part = connection.recv(left)
        if not part:
            raise EOFError
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
