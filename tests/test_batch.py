"""Batches with several workers, half-written ones, and what is seen of them."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from concurrent.futures.process import _threads_wakeups
from itertools import chain, count, islice
from pathlib import Path

import pytest
from console import Input, Terminal, gradcli, process, shell

from gradcli.cli import parallel
from gradcli.cli.batch import Progress
from gradcli.cli.main import run
from gradcli.cli.parallel import WINDOW, in_parallel
from gradcli.cli.processes import AT, Processes
from gradcli.cli.streams import Streams
from gradcli.cli.work import Answered, all_answered
from gradcli.limits import Limits

BAD = ['{"expr": "x @@ y", "id": "bad"}', "{", "[]", '{"id": NaN, "expr": "x"}']
# inverses of large matrices, a minute of them
CHAIN = "; ".join(["h = x"] + ["h = torch.linalg.pinv(h)"] * 100)
VALUES = {"x": "randn(700, 700)"}
SLOW = json.dumps({"id": "slow", "expr": f"{CHAIN}; h.sum()", "values": VALUES, "want": "output"})


watches = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc")


def square(k: int) -> str:
    return json.dumps({"id": k, "expr": "x*x", "values": {"x": k}, "want": ["grad"]})


def answer_to_square(k: int) -> dict:
    return {"id": k, "ok": True, "grad": {"x": 2 * k}}


def each_in_parallel(lines, slots):
    """The answers one by one."""
    return chain.from_iterable(in_parallel(lines, Limits(), slots))


def is_alive(pid: int) -> bool:
    """Whether a process is there and has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # it ends before, or while, it is read
        return False


def children_of(pid: int) -> list[int]:
    """The processes that one has started: two workers at least."""
    found = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    assert len(found) >= 2
    return found


def wait_until(condition, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@contextlib.contextmanager
def batch_process(*args: str, **how: bool):
    """A `gradcli batch -` whose lines are sent as one likes."""
    command = [sys.executable, "-m", "gradcli", "batch", "-", *args]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, **how
    ) as running:
        try:
            yield running
        finally:
            running.kill()


class AtOnce:
    """A slot that answers as it is asked."""

    def submit(self, lines, limits):
        future = Future()
        future.set_result(all_answered(lines, limits))
        return future


# ---- several processes ---------------------------------------------------------------------------


def test_the_answers_of_two_are_those_of_one():
    lines = [line for k in range(40) for line in (square(k), BAD[k % len(BAD)], "")]
    text = "\n".join(lines)
    one, two = gradcli("batch", "-", stdin=text), process("batch", "-", "-j", "2", stdin=text)
    assert (two.status, two.out, two.err) == (one.status, one.out, one.err)
    assert (one.status, len(one.lines)) == (1, 80)


def test_pools_have_ended_with_their_block():
    with Processes(2) as slots:
        futures = [slot.submit([square(k)], Limits()) for k, slot in enumerate(slots)]
        assert [json.loads(f.result()[0].text) for f in futures] == [*map(answer_to_square, (0, 1))]
        running = [thread.name for thread in threading.enumerate() if thread in _threads_wakeups]
        assert len(running) == 2
    assert not [t for t in threading.enumerate() if t in _threads_wakeups]


def test_a_line_is_answered_before_the_next_is_sent():
    with batch_process("--jobs", "2") as running:
        for k in range(3):
            print(square(k), file=running.stdin, flush=True)
            assert json.loads(running.stdout.readline()) == answer_to_square(k)
        running.stdin.close()
        assert running.wait(60) == 0


def test_of_an_endless_input_no_more_is_read_than_has_room():
    read = []

    def endless():
        for k in count():
            read.append(k)
            yield square(k)

    found = list(islice(each_in_parallel(endless(), [AtOnce()]), 5))
    assert [json.loads(answer.text)["id"] for answer in found] == [*range(5)]
    wait_until(lambda: len(read) >= WINDOW)
    time.sleep(0.05)
    assert len(read) <= WINDOW + len(found) + 1


def test_answers_that_wait_for_one_before_them_have_a_limit(monkeypatch):
    monkeypatch.setattr(parallel, "HELD", 50_000)
    first, with_first, sent = Future(), [], []

    class Large(AtOnce):
        """The first line takes until others have stopped; all answers are long."""

        def submit(self, lines, limits):
            sent.extend(lines)
            if "0" in lines:
                with_first.extend(lines)
                return first
            future = Future()
            future.set_result([Answered(True, line + "." * 10_000) for line in lines])
            return future

    def lines():
        yield from map(str, range(400))
        time.sleep(0.2)
        held = len(sent)
        first.set_result([Answered(True, line) for line in with_first])
        assert held < 160

    found = each_in_parallel(lines(), [Large(), Large()])
    assert [int(answer.text.strip(".")) for answer in found] == [*range(400)]


@watches
def test_a_killed_worker_costs_the_line_that_it_was_at():
    lines = [square(0), SLOW, square(2), square(3)]
    with Processes(1) as (slot,):
        future = slot.submit(lines, Limits())
        wait_until(lambda: slot._shared[AT] == 1)
        (pid,) = slot._pool._processes
        os.kill(pid, signal.SIGKILL)
        assert slot.lost(future.exception(60)) == 1
        (again,) = slot.submit([square(4)], Limits()).result(60)
        assert json.loads(again.text) == answer_to_square(4)
        (pid,) = slot._pool._processes
        os.kill(pid, signal.SIGKILL)  # with nothing to do
        wait_until(lambda: not is_alive(pid))
        time.sleep(0.2)
        (again,) = slot.submit([square(5)], Limits()).result(60)
        assert json.loads(again.text) == answer_to_square(5)


@pytest.mark.sweep
@watches
def test_and_nothing_else():
    lines = [square(k) for k in range(200)]
    lines[50] = SLOW
    with Processes(2) as slots:

        def pids():
            return [pid for slot in slots for pid in slot._pool._processes or ()]

        def sent():
            yield from lines[:51]
            wait_until(lambda: any(cpu_seconds(pid) > 2 for pid in pids()))
            os.kill(max(pids(), key=cpu_seconds), signal.SIGKILL)
            yield from lines[51:]

        found = each_in_parallel(sent(), slots)
        answers = [json.loads(answer.text) for answer in found]
    assert answers[50]["id"] == "slow"
    assert answers[50]["error"]["code"] == "limit"
    del answers[50]
    assert answers == [answer_to_square(k) for k in range(200) if k != 50]


def cpu_seconds(pid: int) -> float:
    """What a process has computed so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) / os.sysconf("SC_CLK_TCK")


@watches
def test_workers_end_with_a_parent_that_is_killed():
    with batch_process("-j", "2") as running:
        for k in range(80):
            print(square(k), file=running.stdin, flush=True)
        assert json.loads(running.stdout.readline()) == answer_to_square(0)
        pids = children_of(running.pid)
        running.kill()
        running.wait()
        wait_until(lambda: not any(map(is_alive, pids)))


@watches
def test_an_interrupt_ends_all_at_once():
    with batch_process("-j", "2", start_new_session=True) as running:
        print(f"{square(0)}\n{SLOW}\n{SLOW}", file=running.stdin, flush=True)
        assert json.loads(running.stdout.readline()) == answer_to_square(0)
        pids = children_of(running.pid)
        os.killpg(running.pid, signal.SIGINT)  # as a terminal does
        assert running.wait(20) == 130
        assert running.stderr.read() == ""
        wait_until(lambda: not any(map(is_alive, pids)))


def test_a_reader_that_is_gone_is_no_error():
    line = square(3).replace('"', '\\"')
    found = shell(f'yes "{line}" | head -2000 | $GRADCLI batch - -j 2 | head -2')
    assert (found.err, len(found.lines)) == ("", 2)


def test_a_file_that_cannot_be_read_is_refused():
    found = process("batch", "/nowhere/x.jsonl", "-j", "2")
    assert (found.status, found.out) == (2, "")
    assert "error[file]" in found.err


@pytest.mark.parametrize("requests", ["absent.jsonl", "."])
def test_requests_that_cannot_be_read_cost_no_answers(requests, tmp_path):
    output = tmp_path / "answers.jsonl"
    output.write_text("kept\n", "utf-8")
    found = gradcli("batch", str(tmp_path / requests), "-o", str(output))
    assert (found.status, found.out) == (2, "")
    assert found.err.startswith("error[file]")
    assert output.read_text("utf-8") == "kept\n"


@pytest.mark.parametrize("more", [(), ("--resume",), ("-j", "2")])
def test_answers_are_not_written_over_the_requests(more, tmp_path):
    requests, link = tmp_path / "requests.jsonl", tmp_path / "link.jsonl"
    requests.write_text(square(1) + "\n", "utf-8")
    link.symlink_to(requests)
    found = gradcli("batch", str(requests), "-o", str(link), *more)
    assert found.status == 2
    assert f"error[file]: {link} holds the requests" in found.err
    assert requests.read_text("utf-8") == square(1) + "\n"


# ---- a half-written output -----------------------------------------------------------------------


@pytest.fixture
def halves(tmp_path):
    """Requests, the file for their answers, and all that will stand there."""
    requests, output = tmp_path / "requests.jsonl", tmp_path / "answers.jsonl"
    lines = [square(0), BAD[0], "", square(2), BAD[1], BAD[3], square(5)]
    requests.write_text("\n".join(lines), "utf-8")
    return requests, output, gradcli("batch", str(requests)).out


@pytest.mark.parametrize("part", [0, 0.02, 0.3, 0.5, 0.7, 0.9, 0.999, 1])
def test_no_line_is_lost_or_repeated(halves, part):
    requests, output, whole = halves
    data = whole.encode()
    output.write_bytes(data[: round(part * len(data))])
    found = gradcli("batch", str(requests), "-o", str(output), "--resume")
    assert (found.status, found.out) == (1, "")  # those that failed before count
    assert found.err == f"wrote 6 lines to {output}\n"
    assert output.read_text("utf-8") == whole


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_after_a_crash(jobs, tmp_path):
    requests, output = tmp_path / "requests.jsonl", tmp_path / "answers.jsonl"
    requests.write_text("\n".join(square(k) for k in range(1_000)), "utf-8")
    with batch_process("-o", str(output), "-j", jobs) as running:
        print("\n".join(square(k) for k in range(600)), file=running.stdin, flush=True)
        wait_until(lambda: output.exists() and output.stat().st_size > 0)
        running.kill()
    assert 0 < len(output.read_bytes().split(b"\n")) < 600
    found = process("batch", str(requests), "-o", str(output), "--resume", "-j", jobs)
    assert (found.status, found.err) == (0, f"wrote 1,000 lines to {output}\n")
    answers = [json.loads(line) for line in output.read_text("utf-8").splitlines()]
    assert answers == [answer_to_square(k) for k in range(1_000)]


def test_to_resume_what_was_never_begun_is_to_begin(halves):
    requests, output, whole = halves
    gradcli("batch", str(requests), "-o", str(output), "--resume", "-j", "1")
    assert output.read_text("utf-8") == whole


def test_what_is_no_output_of_these_requests_is_refused(halves):
    requests, output, whole = halves
    first, second, *_ = whole.splitlines(keepends=True)
    for text, number in (
        ("notes\n", 1),
        ("{}\n", 1),
        (second + first, 1),
        (first + first, 2),
        (whole + first, 7),
    ):
        output.write_text(text, "utf-8")
        found = gradcli("batch", str(requests), "-o", str(output), "--resume")
        assert found.status == 2
        assert f"error[file]: line {number} of {output} is no answer" in found.err
        assert output.read_text("utf-8") == text


@pytest.mark.parametrize("args", [
    ("--resume",),
    ("--resume", "-o", "-"),
    ("--scheduler", "tcp://localhost:1"),
    ("--executor", "dask"),
    ("--executor", "dask", "--scheduler", "tcp://localhost:1", "-j", "2"),
    ("--jobs", "0"),
    ("--executor", "threads"),
])  # fmt: skip
def test_options_that_need_others(args):
    found = gradcli("batch", "-", *args)
    assert (found.status, found.out) == (2, "")
    assert found.err.startswith("error[option]: ")


# ---- progress ------------------------------------------------------------------------------------


def batch_seen(*args: str, out_seen: bool = False, **variables: str) -> tuple[str, str]:
    """What a batch writes, and what stands in the terminal of its standard error."""
    out, err = Terminal(out_seen), Terminal(True)
    run(["batch", *args], Streams(Input(square(1).encode()), out, err, variables))
    return out.getvalue(), err.getvalue()


def test_a_terminal_shows_how_far_it_is(halves):
    requests, output, _ = halves
    _, shown = batch_seen(str(requests), "-o", str(output))
    pictures = shown.split("\r\x1b[K")
    assert "%  1 lines, " in pictures[1]
    assert pictures[1].startswith("█")
    assert pictures[-1].split() == f"wrote 6 lines to {output}".split()
    assert "#" in batch_seen(str(requests), LC_ALL="C")[1]
    _, shown = batch_seen("-")
    assert "1 lines, " in shown
    assert "%" not in shown  # nobody knows where it ends


def test_nothing_is_shown_where_answers_are_or_where_nobody_looks(halves):
    requests, *_ = halves
    assert batch_seen(str(requests), out_seen=True)[1] == ""
    assert batch_seen(str(requests), TERM="dumb")[1] == ""
    assert gradcli("batch", str(requests)).err == ""


def test_the_bar_is_of_what_is_written():
    class Source:
        bytes, lines, size = 500, 10, 1000

    streams = Streams(None, Terminal(), Terminal(True), {})
    progress = Progress(streams, Source(), shown=True)
    progress._before = 0
    for k in range(5):
        progress.add([Answered(k > 1, "")])
    assert progress.text(2.0) == "█" * 6 + "░" * 18 + "  25%  5 lines, 2 a second, 2 failed"


# ---- a cluster -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster():
    """Two workers of Dask on this machine."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    made = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with made:
        yield made


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_answers_though_a_worker_is_killed(cluster, tmp_path):
    lines = [square(k) for k in range(600)]
    lines[7] = BAD[0]
    text, output = "\n".join(lines), tmp_path / "answers.jsonl"

    class Half(Input):
        """An input half of which is there as a worker is killed."""

        def __init__(self):
            super().__init__(text.encode())
            self.buffer.readline = self.line
            self.read_so_far = 0

        def line(self, most):
            self.read_so_far += 1
            if self.read_so_far == 300:
                os.kill(cluster.workers[0].pid, signal.SIGKILL)
            return type(self.buffer).readline(self.buffer, most)

    args = ["--executor", "dask", "--scheduler", cluster.scheduler_address, "-o", str(output)]
    out, err = Terminal(), Terminal()
    status = run(["batch", "-", *args], Streams(Half(), out, err, {}))
    assert (status, err.getvalue()) == (1, f"wrote 600 lines to {output}\n")
    assert output.read_text("utf-8") == gradcli("batch", "-", stdin=text).out


@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_is_not_there(monkeypatch):
    pytest.importorskip("distributed", reason="Dask is not installed")
    from gradcli.cli import cluster

    monkeypatch.setattr(cluster, "PATIENCE", 0.2)
    found = gradcli("batch", "-", "--executor", "dask", "--scheduler", "tcp://127.0.0.1:9")
    assert (found.status, found.out) == (2, "")
    assert "error[option]: there is no scheduler at tcp://127.0.0.1:9" in found.err


def test_dask_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    found = gradcli("batch", "-", "--executor", "dask", "--scheduler", "tcp://127.0.0.1:9")
    assert (found.status, found.out) == (2, "")
    assert "pip install 'gradcli[dask]'" in found.err


def test_a_number_that_python_does_not_read_is_no_json():
    """Python refuses integers of more than 4,300 digits."""
    request = f'{{"grad": "x.sum()", "values": {{"x": [{"9" * 5000}]}}}}'
    found = json.loads(gradcli("batch", "-", stdin=request).out)
    assert found["error"]["message"] == (
        "the line is not JSON: a number has more digits than Python reads"
    )
