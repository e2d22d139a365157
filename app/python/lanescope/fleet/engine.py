"""Asks many files one question: maps over files and merges the results, in any order and with any engine.

A Question is a value that can be sent to another process. A file that can't be read becomes a row of the table `files` with the reason; it does not stop the
rest. The partial result of each file can be kept in a folder, by the file's identity and the question, so that for a fleet that has grown only new files are
read.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import multiprocessing
import os
import secrets
import signal
import sys
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Optional, Protocol

import zstandard

from .._frames import TraceError
from ..trace import Trace
from .inputs import kept_private
from .same_recording import distinct_recordings

PARTIAL_VERSION = 11


class Question(Protocol):
    """What is asked. map must be pure; merge must be associative and commutative, and must not change its arguments."""

    def key(self) -> str:
        """A text that identifies the question and its arguments."""
        ...

    def part(self, trace: Trace) -> Trace:
        """The part of a recording that map is given."""
        ...

    def map(self, trace: Trace, path: str) -> Any: ...

    def merge(self, one: Any, other: Any) -> Any: ...

    def to_json(self, partial: Any) -> Any:
        """A partial result as a JSON value. Equal results give equal values."""
        ...

    def from_json(self, data: Any) -> Any: ...


@dataclass
class FileState:
    """What happened to one file."""

    path: str
    read: bool = True
    reason: str = ""   # why it was not read, or what is missing in it
    events: int = 0
    same_as: str = ""  # the file that was read in its place, because it holds the same recording


@dataclass
class Outcome:
    """The merged partial result, None if no file could be read, and the files by name."""

    partial: Optional[Any] = None
    files: "list[FileState]" = field(default_factory=list)

    def to_bytes(self, question: Question) -> bytes:
        """The same bytes for the same files, whatever the order and the engine."""
        partial = None if self.partial is None else question.to_json(self.partial)
        data = {"version": PARTIAL_VERSION, "question": question.key(), "partial": partial, "files": [vars(state) for state in self.files]}
        return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")  # file names need not be UTF-8

    @classmethod
    def from_bytes(cls, data: bytes, question: Question) -> "Outcome":
        try:
            said = json.loads(data.decode("utf-8", "surrogatepass"))
            is_of_question = said["version"] == PARTIAL_VERSION and said["question"] == question.key()
            if is_of_question:
                partial = None if said["partial"] is None else question.from_json(said["partial"])
                return cls(partial, [FileState(**state) for state in said["files"]])
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
            raise TraceError("These are no partial results, or not whole.") from error
        raise TraceError("These partial results are of another question, or of another version of lanescope: make them anew.")

    def merged(self, other: "Outcome", question: Question) -> "Outcome":
        if self.partial is None or other.partial is None:
            partial = self.partial if other.partial is None else other.partial
        else:
            partial = question.merge(self.partial, other.partial)
        return Outcome(partial, sorted(self.files + other.files, key=lambda state: state.path))


class _Merged:
    """Merges outcomes as they come. Only outcomes of equally many files are merged, because otherwise each new outcome would go through all earlier ones."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._parts: "list[Outcome]" = []  # each is of more files than the following ones

    def add(self, outcome: Outcome) -> None:
        while self._parts and len(self._parts[-1].files) <= len(outcome.files):
            outcome = self._parts.pop().merged(outcome, self._question)
        self._parts.append(outcome)

    def whole(self) -> Outcome:
        outcome = Outcome()
        while self._parts:
            outcome = self._parts.pop().merged(outcome, self._question)
        return outcome


def map_files(question: Question, paths: "list[str]", cache: Optional[str]) -> bytes:
    """The merged outcome of some files; the work of a worker. With a cache, the merged outcome is kept beside those of the files, so that it is not merged
    again for the next question."""
    kept = [Path(cache) / f"{_identity(question, path)}.json.zst" if cache else None for path in paths]
    together = Path(cache) / f"{hashlib.sha256(' '.join(str(each) for each in kept).encode()).hexdigest()[:40]}.json.zst" if cache and len(paths) > 1 else None
    found = _kept(together, question)
    if found is not None:
        return found.to_bytes(question)
    with kept_private(paths if cache else ()):
        merged = _Merged(question)
        for path, place in zip(paths, kept):
            merged.add(_one(question, path, place))
        outcome = merged.whole()
        data = outcome.to_bytes(question)
        if together is not None and all(state.read for state in outcome.files):
            _keep(together, data)
    return data


def _kept(place: Optional[Path], question: Question) -> Optional[Outcome]:
    """The outcome that was kept there; None if there is none or it is incomplete."""
    if place is None:
        return None
    try:
        return Outcome.from_bytes(zstandard.ZstdDecompressor().decompress(place.read_bytes(), max_output_size=1 << 30), question)
    except (OSError, ValueError, TraceError, zstandard.ZstdError):
        return None


def _one(question: Question, path: str, place: Optional[Path]) -> Outcome:
    found = _kept(place, question)
    if found is not None:
        return found
    state = FileState(path)
    partial = None
    try:
        with Trace(path) as trace:
            partial = question.map(question.part(trace), path)
            state.events = trace.event_count()
            state.reason = _missing(trace)
    except TraceError as error:
        state.read, state.reason = False, str(error)
    except OSError as error:
        state.read, state.reason = False, f"It can't be read: {error.strerror or error}."
    except MemoryError:
        state.read, state.reason = False, "There was not enough memory to read it."
    except Exception as error:  # whatever one file contains, the others are read
        state.read, state.reason = False, f"What it holds makes no sense ({type(error).__name__}: {error})."
    outcome = Outcome(partial, [state])
    if place is not None and state.read:
        _keep(place, outcome.to_bytes(question))
    return outcome


def _missing(trace: Trace) -> str:
    lost = trace.lost
    parts = []
    if lost.damaged_frames or lost.damaged_bytes or lost.damaged_chunks or lost.cut:
        skipped = [f"{number} {what}" for number, what in ((lost.damaged_frames, "frames"), (lost.damaged_chunks, "chunks"), (lost.damaged_bytes, "bytes")) if number]
        parts.append(f"damaged: {', '.join(skipped)} could not be read" if skipped else "damaged at its end")
    if lost.unknown_frames:
        parts.append(f"{lost.unknown_frames} frames of kinds that a newer version writes were skipped, with {lost.unknown_events} events")
    if lost.unfinished:
        parts.append("the recording was cut off, or is still being written")
    if lost.unread:
        parts.append(f"{lost.unread} bytes at its end were not read: it holds more than a file of its size may")
    if lost.before:
        parts.append("what it was made from lacked something")
    if lost.dropped or lost.late or lost.invalid:
        parts.append(f"{lost.dropped} records dropped, {lost.late} late, {lost.invalid} invalid")
    if lost.unwritten:
        parts.append(f"{lost.unwritten} events had no room in the file")
    if lost.unreturned_buffers:
        parts.append(f"{lost.unreturned_buffers} CUPTI buffers lost")
    if lost.python_stacks:
        parts.append(f"{lost.python_stacks} Python stacks dropped")
    if lost.pc_samples or lost.full_pc_windows:
        parts.append(f"{lost.pc_samples} PC samples dropped, and more in {lost.full_pc_windows} full buffers")
    if lost.file_was_full:
        parts.append("the file was full")
    if lost.unfollowed:
        parts.append("processes could not be followed")
    if lost.failed:
        parts.append(f"{lost.failed} warnings of what could not be recorded")
    return "; ".join(parts)


def _identity(question: Question, path: str) -> str:
    """Identifies the file as it is now, and the question. The file's last bytes contain the checksum of its last frame."""
    hashed = hashlib.sha256(question.key().encode() + b"\0" + path.encode(errors="surrogateescape"))
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            file.seek(max(0, status.st_size - 4096))
            hashed.update(f"{PARTIAL_VERSION} {status.st_size} {status.st_mtime_ns}".encode() + file.read(4096))
    except OSError:
        pass
    return hashed.hexdigest()[:40]


def new_beside(path: Path) -> Path:
    """A newly created file, under a name that nobody can prepare in advance: others may write to the folder."""
    partial = path.with_name(f"{path.name[:50]}.{secrets.token_hex(8)}.partial")
    os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_WRONLY | os.O_CLOEXEC, 0o666))
    return partial


def _keep(path: Path, data: bytes) -> None:
    """Writes the file completely or not at all, because several workers may share the folder."""
    partial = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = new_beside(path)
        partial.write_bytes(zstandard.ZstdCompressor(level=3).compress(data))
        partial.replace(path)
    except OSError:  # a cache that can't be written only costs time
        with contextlib.suppress(OSError):
            if partial:
                partial.unlink()


Progress = Callable[[int, int], None]


@dataclass
class Engine:
    """How the work is distributed: `none` (this process), `pool` (processes of this machine), or a Dask client's address, scheduler file or `local:N`."""

    kind: str = "pool"
    workers: int = field(default_factory=lambda: max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1))
    dask: str = ""
    cache: Optional[str] = None

    def run(self, question: Question, paths: "Iterable[str]", progress: Optional[Progress] = None, shard: "tuple[int, int]" = (1, 1)) -> Outcome:
        """The merged outcome of all files, or of a shard of them: (i, n) is every nth from the ith on. Ctrl+C stops it; with a cache, finished work is not repeated."""
        files, same = distinct_recordings(sorted(set(paths)))
        files, left_out = files[shard[0] - 1 :: shard[1]], sorted(same)[shard[0] - 1 :: shard[1]]
        # A task has at most 16 files, and fewer if there are few files: at the end, workers wait for at most one task, after 16 or more each.
        size = max(1, min(16, len(files) // (16 * self.workers)))
        batches = [files[i : i + size] for i in range(0, len(files), size)]
        merged, done = _Merged(question), 0
        for data, count in self._mapped(question, batches):
            merged.add(Outcome.from_bytes(data, question))
            done += count
            if progress:
                progress(done, len(files))
        outcome = merged.whole()
        copies = [FileState(path, False, f"It holds the same recording as {same[path]}.", same_as=same[path]) for path in left_out]
        return Outcome(outcome.partial, sorted(outcome.files + copies, key=lambda state: state.path))

    def _mapped(self, question: Question, batches: "list[list[str]]") -> "Iterator[tuple[bytes, int]]":
        if self.kind == "none" or (self.kind == "pool" and (self.workers == 1 or len(batches) < 2)):
            for batch in batches:
                yield map_files(question, batch, self.cache), len(batch)
        elif self.kind == "pool":
            done = set()
            try:
                with _pool(self.workers) as executor, _ended_by_interrupts(executor) as interrupt:
                    for number, data in _collected(executor, question, batches, self.cache, 4 * self.workers, interrupt):
                        done.add(number)
                        yield data, len(batches[number])
            except BrokenProcessPool:
                # A file got its process killed. Running each file alone shows which one.
                for path in (path for number, batch in enumerate(batches) if number not in done for path in batch):
                    yield _alone(question, path, self.cache), 1
        elif self.kind == "dask":
            with _dask_client(self.dask) as client:
                for number, data in _collected(client.get_executor(), question, batches, self.cache, 64, _Interrupt()):
                    yield data, len(batches[number])
        else:
            raise TraceError(f"There is no engine {self.kind!r}; there are none, pool and dask.")


@dataclass
class _Interrupt:
    """Whether Ctrl+C was pressed."""

    came: bool = False


_INTERRUPT_SECONDS = 0.2  # within which a Ctrl+C is noticed


def _collected(
    executor: Executor, question: Question, batches: "list[list[str]]", cache: Optional[str], at_once: int, interrupt: _Interrupt
) -> "Iterator[tuple[int, bytes]]":
    """The numbers of batches and their results, as they come. Only a limited number is queued, so that memory does not grow with the fleet."""
    waiting: "dict[Future[bytes], int]" = {}
    rest = iter(enumerate(batches))
    try:
        while True:
            while len(waiting) < at_once and (following := next(rest, None)) is not None:
                number, batch = following
                waiting[executor.submit(map_files, question, batch, cache)] = number
            if not waiting:
                return
            for future in wait(waiting, timeout=_INTERRUPT_SECONDS, return_when=FIRST_COMPLETED).done:
                yield waiting.pop(future), future.result()
            if interrupt.came:
                raise KeyboardInterrupt
    except BaseException:
        for future in waiting:
            future.cancel()
        raise


def _pool(workers: int) -> ProcessPoolExecutor:
    # Forked workers have the modules already. If other threads could hold a lock at that moment, a process without threads forks instead.
    method = "fork" if sys.platform == "linux" and threading.active_count() == 1 else "forkserver"
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context(method), initializer=_begin_worker)


def _begin_worker() -> None:
    # Ctrl+C goes to all processes of a terminal. A worker that it ends may hold the lock of a queue, for which the others would then wait for ever.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    keep_freed_memory()


def keep_freed_memory() -> None:
    """Makes this process reuse memory that it has freed, if the C library is glibc. Otherwise, returning it and filling new memory with zeros for each column
    takes half of the time of a file. For processes that do nothing else."""
    trim_threshold, map_threshold = -1, -3  # <malloc.h>
    with contextlib.suppress(OSError, AttributeError):
        change = ctypes.CDLL(None).mallopt
        change(map_threshold, 1 << 30)
        change(trim_threshold, 1 << 30)


@contextlib.contextmanager
def _ended_by_interrupts(executor: ProcessPoolExecutor) -> "Iterator[_Interrupt]":
    """Makes Ctrl+C, or an error here, end the workers at once instead of after what each has started to read. A second Ctrl+C has no effect, so that no
    worker remains.

    Ctrl+C is only noted here and raised by the code that waits for the workers. An exception inside the executor could leave its lock held, and its end would
    wait for ever.
    """
    interrupt = _Interrupt()

    def note(*_: object) -> None:
        interrupt.came = True

    is_ours = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_ours:
        signal.signal(signal.SIGINT, note)
    try:
        yield interrupt
    except (KeyboardInterrupt, GeneratorExit):
        for worker in list((executor._processes or {}).values()):
            worker.kill()
        executor.shutdown(wait=True, cancel_futures=True)
        raise
    finally:
        if is_ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _alone(question: Question, path: str, cache: Optional[str]) -> bytes:
    """The outcome of one file, from a process of its own."""
    try:
        with _pool(1) as executor:
            return executor.submit(map_files, question, [path], cache).result()
    except BrokenProcessPool:
        return Outcome(None, [FileState(path, False, "The process that read it was killed, as for want of memory.")]).to_bytes(question)


def _dask_client(where: str) -> Any:
    """A Dask client that closes what it started: a cluster of N processes for `local:N`, otherwise nothing. Without a place, Dask's own settings are used."""
    try:
        from dask.distributed import Client
    except ImportError as error:
        raise TraceError("--dask needs Dask: pip install 'dask[distributed]'.") from error
    kind, _, count = where.partition(":")
    if kind == "local":
        if not count.isdecimal() or not 1 <= int(count) <= 10_000:
            raise TraceError(f"--dask local:N takes a number of processes, not {count!r}.")
        return Client(n_workers=int(count), threads_per_worker=1, dashboard_address=None, set_as_default=False)
    try:
        if os.path.exists(where):
            return Client(scheduler_file=where, set_as_default=False)
        return Client(where or None, set_as_default=False)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TraceError(f"There is no Dask scheduler at {where}: {error}") from error


class ProgressLine:
    """One line on a terminal, rewritten at most ten times a second."""

    def __init__(self) -> None:
        self._begin = self._last = time.monotonic()
        self._shown = sys.stderr.isatty()

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if not self._shown or (now - self._last < 0.1 and done < total):
            return
        self._last = now
        left = (now - self._begin) / done * (total - done)
        end = "\n" if done == total else ""
        print(f"\r{done} of {total} files, about {left:.0f} s left   ", end=end, file=sys.stderr, flush=True)
