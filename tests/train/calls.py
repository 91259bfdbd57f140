"""calls.py: a training run under strace, stopped at its system calls: calls.py [N=40] [WHAT...]; the folder has the
fixture. Of each of three ways at most N cases, evenly spread:
  fail   a call on a file of the run, the model or the data fails as disks, quotas and limits on descriptors have it;
  kill   the process is killed at a call;
  power  the machine loses power behind a call: what has not been synced may be there, in part or not. Of a folder whose
         changes were not synced each change is there or not, by itself.
Behind each the run goes on to the bits of one left alone, from a checkpoint no older than the last on disk."""
import os, random, re, shutil, subprocess, sys, time

TESSERA, HERE = os.environ["TESSERA"], os.getcwd()
SEED = int(os.environ.get("SEED", time.time_ns() % 10**6))
RUN = ("model.json --tokenizer vocab.txt --data train.tsv --eval dev.tsv --labels 2 --length 12 --batch 8 --lr 0.1 "
       "--steps 8 --save-every 2 --keep 2 --eval-every 4 -q -o").split()
CHANGES = "openat openat2 write fsync fdatasync rename mkdir unlink rmdir".split()
FILES = "read,fallocate,getdents64,newfstatat,close," + ",".join(CHANGES)
FULL, BROKEN = ["ENOSPC", "EDQUOT", "EIO"], ["EIO"]
FAILS = {"openat": ["EMFILE", "EIO"], "read": BROKEN + ["EINTR"], "write": FULL + ["EINTR"], "fsync": FULL,
         "rename": FULL, "mkdir": FULL + ["EROFS"], "unlink": BROKEN, "rmdir": BROKEN, "close": BROKEN,
         "fallocate": FULL + ["EOPNOTSUPP"], "getdents64": BROKEN, "newfstatat": BROKEN}
HARMLESS = {"EINTR", "EOPNOTSUPP"}  # nobody has to hear of these
CALL = re.compile(r"^(\d+) +(\w+)\((.*)\) += (-?\w+)")
STRING = re.compile(r'"((?:\\x..)*)"')
ENDS = {0, 3, 8}  # done; a file is not what it is to be; a file cannot be read or written

random.seed(SEED)


def traced(folder, *how):
    subprocess.run(["rm", "-rf", folder], check=True)
    return subprocess.run(["strace", "-f", "-qq", *how, TESSERA, "train", *RUN, folder], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, errors="replace", timeout=100)


def text(escaped):
    return bytes.fromhex(escaped.replace("\\x", ""))


def calls(path):
    """(thread, call, arguments, result) by line; a call that another thread interrupts is one again"""
    begun = {}
    for line in open(path):
        who = line.split(" ", 1)[0]
        if line.rstrip().endswith("<unfinished ...>"):
            begun[who] = line.rstrip()[: -len("<unfinished ...>")].rstrip()
            continue
        rest = re.match(r"^\d+ +<\.\.\. \w+ resumed>(.*)", line)
        m = CALL.match(begun.pop(who) + rest.group(1) if rest else line)
        if m:
            yield m.groups()


def same(folder):
    last = f"{folder}/checkpoints/step-00000008"
    for f in "weights", "optimizer":
        one, two = (open(f"{x}/checkpoints/step-00000008/{f}.safetensors", "rb").read() for x in ("whole", folder))
        assert one == two, f"{last}: other {f} than of the run left alone"


def newest(folder):
    try:
        return max((int(x[5:]) for x in os.listdir(f"{folder}/checkpoints") if x.startswith("step-")), default=0)
    except OSError:
        return 0


def goes_on(folder, least):
    """Goes on with what is in the folder, anew where no checkpoint was on disk yet."""
    def train(*more):
        return subprocess.run([TESSERA, "train", *more], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    assert newest(folder) >= least, f"the checkpoint of step {least} is gone, {newest(folder)} is the newest"
    had = os.path.exists(f"{folder}/run.json") or os.path.exists(f"{folder}/run.copy.json")
    assert had or least == 0, "no run.json, but a checkpoint"
    p = train("--resume", folder, "-q") if had else train(*RUN, folder)
    if p.returncode != 0 and least == 0:
        shutil.rmtree(folder)
        p = train(*RUN, folder)
    assert p.returncode == 0, f"it does not go on: {p.stderr}"
    same(folder)


def spread(cases, n):
    return [cases[i * len(cases) // n] for i in range(n)] if len(cases) > n else cases


def sites():
    """Calls of the main thread on files of the run, the model and the data: (call, its number among these)"""
    p = traced("run", "-o", "log", "-xx", "-y", "-s", "200", "-e", "trace=" + FILES)
    assert p.returncode == 0, p.stderr
    main, seen, found = None, {}, []
    for who, call, rest, result in calls("log"):
        main = main or who
        if who != main:
            continue
        seen[call] = seen.get(call, 0) + 1
        opened = re.findall(r"<((?:\\x..)+)>", rest)
        names = b" ".join(text(x) for x in STRING.findall(rest)[:2] + opened)
        at = re.search(rb"(run(/[^ ]*)?|model\.json|vocab\.txt|train\.tsv|dev\.tsv)( |$)", names)
        if at:
            found.append((call, seen[call], at.group(0).decode().strip()))
    return found


def told(call, k, e):
    p = traced("run", "-o", "/dev/null", "-e", f"inject={call}:error={e}:when={k}", "-e", "trace=" + call)
    ends = f"exit code {p.returncode}: {p.stderr}"
    assert p.returncode in ENDS and (e not in HARMLESS or p.returncode == 0), ends
    assert p.returncode == 0 or re.search(r"^error: .*\n *hint: ", p.stderr, re.M), "no error with a hint, " + ends
    goes_on("run", newest("run"))


def fail(n):
    cases = [(call, k, e, at) for call, k, at in sites() for e in FAILS.get(call, [])]
    random.shuffle(cases)
    for call, k, e, at in spread(sorted(cases, key=lambda c: c[0]), n):
        yield f"{call} {k} on {at} fails by {e}", lambda: told(call, k, e)


def killed(call, k):
    traced("run", "-o", "/dev/null", "-e", f"inject={call}:signal=KILL:when={k}", "-e", "trace=" + call)
    goes_on("run", newest("run"))


def kill(n):
    for call, k, at in spread(sites(), n):
        yield f"killed at {call} {k} on {at}", lambda: killed(call, k)


class Disk:
    """What the files of a folder hold, and what of it a disk holds for certain."""

    def __init__(self):
        self.files = {}  # number: [bytes synced, bytes]
        self.folders = {0: [{}, []]}  # number: [entries synced, changes since: (name, number or None)]
        self.numbers = 1

    def entries(self, folder):
        held, since = self.folders[folder]
        now = dict(held)
        for name, number in since:
            now.pop(name, None)
            if number is not None:
                now[name] = number
        return now

    def number(self, path):
        at = 0
        for part in path.split("/")[1:]:
            if at not in self.folders or part not in self.entries(at):
                return None
            at = self.entries(at)[part]
        return at

    def change(self, path, number):
        folder, name = os.path.split(path)
        self.folders[self.number(folder)][1].append((name, number))

    def make(self, path, kind):
        number, self.numbers = self.numbers, self.numbers + 1
        if kind == "file":
            self.files[number] = [b"", b""]
        else:
            self.folders[number] = [{}, []]
        self.change(path, number)

    def sync(self, number):
        if number in self.files:
            self.files[number][0] = self.files[number][1]
        else:
            self.folders[number] = [self.entries(number), []]

    def after_power_loss(self, folder, at=0):
        held, since = self.folders[at]
        left = dict(held)
        for name, number in since:
            if random.random() < 0.5:
                left.pop(name, None)
                if number is not None:
                    left[name] = number
        os.makedirs(folder, exist_ok=True)
        for name, number in left.items():
            if number in self.folders:
                self.after_power_loss(f"{folder}/{name}", number)
                continue
            synced, now = self.files[number]
            alike = synced if now[: len(synced)] == synced else b""
            data = random.choice([synced, now, alike + now[len(alike) : (len(alike) + len(now)) // 2]])
            open(f"{folder}/{name}", "wb").write(data)


def changes():
    """(call, path, the other path or bytes) of each call that changes a file of the run, or syncs one"""
    p = traced("run", "-o", "log", "-xx", "-y", "-s", str(1 << 24), "-e", "trace=" + FILES)
    assert p.returncode == 0, p.stderr
    for _, call, rest, result in calls("log"):
        strings = [text(x) for x in STRING.findall(rest)[:2]]
        opened = re.match(r"\d+<((?:\\x..)+)>", rest)
        path = os.path.relpath(text(opened.group(1)), HERE.encode()) if opened else strings[0] if strings else b""
        makes = "O_CREAT" in rest or not call.startswith("open")
        if result != "-1" and call in CHANGES and makes and (path + b"/").startswith(b"run/"):
            yield call, path.decode(), strings[-1] if strings else b""


def power(n):
    disk, least, done = Disk(), 0, list(changes())
    moments = set(random.sample(range(len(done)), min(n, len(done))))
    for i, (call, path, other) in enumerate(done):
        if call in ("openat", "openat2", "mkdir") and disk.number(path) is None:
            disk.make(path, "folder" if call == "mkdir" else "file")
        elif call == "write":
            disk.files[disk.number(path)][1] += other
        elif call in ("fsync", "fdatasync"):
            disk.sync(disk.number(path))
        elif call == "rename":
            disk.change(other.decode(), disk.number(path))
            disk.change(path, None)
        elif call in ("unlink", "rmdir"):
            disk.change(path, None)
        if call == "fsync" and path == "run/checkpoints":
            least = max([least] + [int(x[5:]) for x in disk.entries(disk.number(path)) if x.startswith("step-")])
        if i in moments:
            shutil.rmtree("run", ignore_errors=True)
            disk.after_power_loss("run")
            yield f"power is lost behind change {i} of {len(done)}, {call} of {path}", lambda: goes_on("run", least)


ways = {"fail": fail, "kill": kill, "power": power}
n = int(sys.argv[1]) if len(sys.argv) > 1 else 40
bad = 0
shutil.rmtree("whole", ignore_errors=True)
subprocess.run([TESSERA, "train", *RUN, "whole"], check=True, stdout=subprocess.DEVNULL)
for name in sys.argv[2:] or ways:
    count = 0
    for count, (case, holds) in enumerate(ways[name](n), 1):
        try:
            holds()
        except AssertionError as e:
            bad += 1
            print(f"seed {SEED}: {case}: {e}", file=sys.stderr)
    print(name, count, "cases", flush=True)
    bad += count == 0
sys.exit(bad > 0)
