# Kills runs twenty times at random moments and lets it end: kill_test.py TESSERA; the folder has the fixture.
import json, os, random, shutil, signal, subprocess, sys, time

tessera, seed = sys.argv[1], int(os.environ.get("SEED", time.time_ns() % 10**6))
random.seed(seed)
common = ("model.json --tokenizer vocab.txt --data train.tsv --labels 2 --length 12 --batch 8 --lr 0.05 --ema 0.9 "
          "--dropout 0.1 -q").split()
STEPS, KILLS, last = "1500", 20, "checkpoints/step-00001500"


def train(*more):
    return subprocess.Popen([tessera, "train", *common, "--steps", STEPS, *more], stderr=subprocess.PIPE)


whole = train("--save-every", STEPS, "-o", "whole")
assert whole.wait() == 0, whole.stderr.read()


def progress():
    try:
        return os.path.getsize("killed/metrics.jsonl"), len(os.listdir("killed/checkpoints"))
    except OSError:
        return 0, 0


kills = 0
while kills < KILLS:
    before = progress()
    # at the beginning before the first step, later on at any moment of steps, of saving, of going on
    resume = ["--resume"] if os.path.exists("killed/run.json") else []
    p = train("--save-every", random.choice(["1", "3", "20"]), "-o", "killed", *resume)
    if kills % 5 != 4:
        end = time.time() + 20
        while progress() == before and p.poll() is None and time.time() < end:
            time.sleep(0.002)
    time.sleep(random.uniform(0, 0.06))
    if p.poll() is not None:
        assert p.returncode == 0, (seed, p.stderr.read())
        shutil.rmtree("killed")  # it came to its end, as on a busy machine: another one
        continue
    p.send_signal(signal.SIGKILL)
    p.wait()
    kills += 1
p = subprocess.run([tessera, "train", "--resume", "killed", "-q"], stderr=subprocess.PIPE)
assert p.returncode == 0, (seed, p.stderr)
for name in "weights", "optimizer":
    one, two = (open(f"{run}/{last}/{name}.safetensors", "rb").read() for run in ("whole", "killed"))
    assert one == two, (seed, name + " has other bits")
rows = [[json.loads(line) for line in open(f"{run}/metrics.jsonl")] for run in ("whole", "killed")]
assert [r["step"] for r in rows[1]] == list(range(int(STEPS))), (seed, "metrics.jsonl has holes")
whole, killed = ([(r["loss"], r["grad_norm"], r["lr"]) for r in run] for run in rows)
assert whole == killed, seed
print(kills, "kills, the same bits")
