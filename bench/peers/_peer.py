"""What the scripts of other runtimes share: bench/protocol.h on stdin and stdout.

A peer is a class with
    packages                                 names of what it imports
    programs                                 names of what it runs
    open(model, inputs, threads) -> facts    model: path of an ONNX file; inputs: {name: array}; facts {"compared": n}:
                                             its outputs are the first n alone
    run()                                    one pass, results complete when it returns
    outputs() -> arrays                      of the last pass, in the model's order
    seconds() -> number                      where it runs on a device: what that takes for a pass, without transfers;
                                             the facts then have "plan": {"kernels": [{"op": "device"}]}
    took                                     where it times itself: nanoseconds of the last pass, which count
    begin()                                  if it is there, is called after a pause, before passes that are timed
    step() -> peer                           where it can train: open(model, inputs, threads, train), run(), and
                                             outputs(), loss and norm of the last step, or unverified, why these are
                                             not the candidates'
It raises Absent where there is nothing to run with. Importing this file takes the scripts' folder off the module path,
for the scripts are named after the packages that they import."""
import gc
import importlib.util
import json
import os
import resource
import shutil
import sys
import time

sys.path[:] = [p for p in sys.path if os.path.realpath(p or ".") != os.path.dirname(os.path.realpath(__file__))]


class Absent(Exception):
    pass


def package(name):
    """The module, or Absent with one line of why."""
    try:
        return __import__(name)
    except ImportError as reason:
        raise Absent(f"the Python package {name} is not usable: {reason}") from None


def processors(threads):
    return sorted(os.sched_getaffinity(0))[:threads]


def preemptions():
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


def waited():
    """Nanoseconds that all threads together waited for a processor so far; 0 where the system does not count."""
    ns = 0
    for thread in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{thread}/schedstat") as f:
                ns += int(f.read().split()[1])
        except (OSError, IndexError):  # it has ended meanwhile
            pass
    return ns


class Contestant:
    def __init__(self, peer):
        self.peer = peer
        # Packages print what they like: answers go where only this class writes.
        self.answers = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)

    def say(self, word, value=None):
        line = word if value is None else f"{word} {value if isinstance(value, (int, str)) else json.dumps(value)}"
        self.answers.write(line + "\n")
        self.answers.flush()

    def check(self, _):
        """Quickly: without importing what may take seconds."""
        for name in ("numpy", *getattr(self.peer, "packages", ())):
            if importlib.util.find_spec(name) is None:
                raise Absent(f"the Python package {name} is not installed for {sys.executable}")
        for name in getattr(self.peer, "programs", ()):
            if shutil.which(name) is None:
                raise Absent(f"the program {name} is not installed")
        self.say("PLANNED")

    def open(self, text):
        task = json.loads(text)
        self.peer.precision = task.get("precision", "f32")
        if self.peer.precision not in getattr(self.peer, "precisions", ("f32",)):
            raise Absent(f"it has no pass in {self.peer.precision} here")
        numpy = package("numpy")
        inputs = {i["name"]: numpy.load(i["path"]) for i in task["inputs"]}
        train = task.get("train")
        self.train, self.steps = train, task.get("trajectory", 1)
        if train and not hasattr(self.peer, "step"):
            raise Absent("it has no training step here")
        if train:
            train["schedule_steps"] = task.get("schedule_steps", 1000)  # over which its rate falls
            self.peer = self.peer.step()
        facts = self.peer.open(task["model"], inputs, task["threads"], *([train] if train else []))
        gc.disable()  # a collection in the middle of a pass is not the runtime's time
        self.say("READY", facts)

    def save(self, folder):
        numpy = package("numpy")
        self.peer.run()
        if hasattr(self.peer, "unverified"):
            return self.say("SAVED", self.peer.unverified)
        results = self.peer.outputs()
        if self.train:  # [step] of each
            rows = [results]
            for _ in range(1, self.steps):
                self.peer.run()
                rows.append(self.peer.outputs())
            results = numpy.array(rows, "f4").T
        for i, value in enumerate(results):
            numpy.save(os.path.join(folder, f"{i}.npy"), value)
        self.say("SAVED")

    def run(self, counts):
        warm, passes = map(int, counts.split())
        run, now = self.peer.run, lambda: time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        if hasattr(self.peer, "begin"):
            self.peer.begin()
        for _ in range(warm):
            run()
        lost, taken, start = waited(), preemptions(), now()
        own = 0
        for _ in range(passes):
            run()
            own += getattr(self.peer, "took", 0)
        ns = int(own) or now() - start
        taken = preemptions() - taken
        self.say("TIME", f"{ns} {taken} {max(waited() - lost, 0)}" if lost else f"{ns} {taken}")

    def profile(self, _):
        seconds = self.peer.seconds() if hasattr(self.peer, "seconds") else None
        self.say("PROFILE", {"seconds": None if seconds is None else [seconds]})

    def serve(self):
        commands = {"check": self.check, "open": self.open, "save": self.save, "run": self.run, "profile": self.profile}
        for line in sys.stdin:
            word, _, rest = line.rstrip("\n").partition(" ")
            if word == "quit":
                break
            try:
                commands[word](rest)
            except Absent as reason:
                self.say("ABSENT", {"text": str(reason)})
            except Exception as reason:  # whatever a package throws is its answer
                self.say("FAILED", {"code": 1, "text": f"{type(reason).__name__}: {reason}"[:1500]})
        self.answers.flush()
        os._exit(0)  # without waiting for the package's threads


def serve(peer):
    Contestant(peer).serve()
