# Stops runs at random moments, by KILL, TERM and INT, and lets them end: kill.py TESSERA [STOPS=20]; the folder has the
# fixture. By hand a hundred: python3 fixture.py F && cd F && python3 kill.py TESSERA 100
import json, os, random, shutil, signal, subprocess, sys, time

tessera, seed = sys.argv[1], int(os.environ.get("SEED", time.time_ns() % 10**6))
STEPS, STOPS, last = "1500", int(sys.argv[2]) if len(sys.argv) > 2 else 20, "checkpoints/step-00001500"
random.seed(seed)
open("held.tsv", "w").write(open("dev.tsv").read() * 20)
common = ("model.json --tokenizer vocab.txt --data train.tsv --labels 2 --length 12 --batch 8 --lr 0.002 --ema 0.9 "
          "--dropout 0.1 --eval held.tsv --eval-every 30 -q").split()


def train(*more):
    return subprocess.Popen([tessera, "train", *common, "--steps", STEPS, *more], stderr=subprocess.PIPE)


def rows(run):
    facts = "step", "loss", "grad_norm", "lr", "eval_loss", "eval_accuracy"
    return [[row.get(fact) for fact in facts] for row in map(json.loads, open(f"{run}/metrics.jsonl"))]


def same():
    for name in f"{last}/weights.safetensors", f"{last}/optimizer.safetensors", "misjudged.json":
        one, two = (open(f"{run}/{name}", "rb").read() for run in ("whole", "stopped"))
        assert one == two, (seed, name + " has other bits")
    one, two = rows("whole"), rows("stopped")
    assert one == two, (seed, next((a, b) for a, b in zip(one + [None], two + [None]) if a != b))


def progress():
    try:
        return os.path.getsize("stopped/metrics.jsonl"), len(os.listdir("stopped/checkpoints"))
    except OSError:
        return 0, 0


def evaluates(): # a row more, and it is of a step behind which an evaluation is due
    try:
        return json.loads(open("stopped/metrics.jsonl").readlines()[-1])["step"] % 30 == 29
    except (OSError, IndexError, ValueError):
        return False


whole = train("--save-every", STEPS, "-o", "whole")
assert whole.wait() == 0, whole.stderr.read()
assert sum(row[4] is not None for row in rows("whole")) == 50
stops = {signal.SIGKILL: 0, signal.SIGTERM: 0, signal.SIGINT: 0}
while sum(stops.values()) < STOPS:
    before, moment, count = progress(), evaluates if random.random() < 0.5 else lambda: True, sum(stops.values())
    # at the beginning before the first step, later on at any moment of steps, of evaluating, of saving, of going on
    resume = ["--resume"] if os.path.exists("stopped/run.json") else []
    p = train("--save-every", random.choice(["1", "3", "20", "30"]), "-o", "stopped", *resume)
    if count % 5 != 4:
        end = time.time() + 20
        while (progress() == before or not moment()) and p.poll() is None and time.time() < end:
            time.sleep(0.001)
    time.sleep(random.uniform(0, 0.04))
    by = random.choice(list(stops))
    p.send_signal(by)
    code = p.wait()
    if code in (-by, 128 + by):
        stops[by] += 1
        continue
    assert code == 0, (seed, by, code, p.stderr.read())
    same() # it came to its end before: another one
    shutil.rmtree("stopped")
if os.path.exists("stopped/run.json"):
    p = subprocess.run([tessera, "train", "--resume", "stopped", "-q"], stderr=subprocess.PIPE)
    assert p.returncode == 0, (seed, p.stderr)
    same()
print(*(f"{n} by {by.name}" for by, n in stops.items()), "the same bits, metrics and mistakes", sep=", ")
