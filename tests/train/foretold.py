# A step's time by the number of ranks, as explain --ranks foretells it and as train takes it: prints both, their ratio.
# foretold.py TESSERA MPIRUN NET [CORES=2] [MODEL...], by hand, on a machine at rest; NET as in explain --ranks, between
# processes here. Ranks have one thread each, so more of them than cores share these, which --cores says.
# NETEM=1: NET is not what is here, but what tc makes of the loopback of a network namespace of its own, through which
# ranks then speak: netem, or tbf, of the bandwidth alone. Where that is not allowed, it says why and ends with 77.
import json, os, re, statistics, subprocess, sys, tempfile

tessera, mpirun, net, cores, *model = sys.argv[1:] + ["2", "gpt2-tiny"][len(sys.argv) - 4:]
os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1"}
STEPS, WARM, RANKS = 24, 8, (1, 2, 4)  # the first ones compile and are timed kernel by kernel
common = "--task lm --tokenizer bytes --data text.txt --length 64 --batch 32 --shards 4 --threads 1 -q".split()


def run(*line):
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout


def can(*line):
    """None, or why not"""
    try:
        run(*line)
    except (OSError, subprocess.CalledProcessError) as e:
        return f"{' '.join(line)}: {(getattr(e, 'stderr', None) or str(e)).strip()}"


def shape():
    """Both ways go through one queue of the loopback, which has twice the rate of one way."""
    latency, rate = (re.search(name + r":([\d.]+)(\w+)", net).groups() for name in ("latency", "bandwidth"))
    bits = f"{2 * 8 * float(rate[0]) * {'MB': 1, 'GB': 1000}[rate[1].partition('/')[0]]:.0f}mbit"
    queue = "tc qdisc add dev lo root".split()
    why = can(*"ip link set lo up".split())
    if not why and (no := can(*queue, "netem", "limit", "100000", "delay", "".join(latency), "rate", bits)):
        print("no latency is simulated:", no)
        why = can(*queue, "tbf", "rate", bits, "burst", "256kb", "limit", "100mb")
    os.environ.update({"OMPI_MCA_btl": "tcp,self", "OMPI_MCA_btl_tcp_if_include": "lo",  # Open MPI
                       "UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "lo"})  # MPICH
    return why


def median(n, run):
    rows = [json.loads(line) for line in open(f"{run}/metrics.jsonl")]
    return statistics.median(row["ms"] for row in rows[WARM:] if "ms" in row)


why = None
if os.environ.get("NETEM") == "1" and not (why := can("unshare", "-n", "true")):
    os.environ["NETEM"] = "inside"
    os.execvp("unshare", ["unshare", "-n", sys.executable, os.path.abspath(__file__), *sys.argv[1:]])
if why := why or (os.environ.get("NETEM") == "inside" and shape()):
    print("skipped: no network can be simulated:", why)
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    open("text.txt", "w").write(" ".join(str(i * i) for i in range(5000)))
    for n in RANKS:
        run(mpirun, "-n", str(n), tessera, "train", *model, *common, "--steps", str(STEPS), "-o", f"r{n}")
    said = json.loads(run(tessera, "explain", "r1", "--ranks", str(RANKS[-1]), "--net", net, "--cores", cores,
                          "--threads", "1", "--json"))
    print("kernels", "measured" if said["measured"] else "predicted")
    print("ranks  foretold ms  measured ms  ratio  exchange ms")
    for row in said["rows"]:
        told, took = row["step_ns"] / 1e6, median(row["ranks"], f"r{row['ranks']}")
        print(f"{row['ranks']:5}  {told:11.1f}  {took:11.1f}  {told / took:5.2f}  {row['exchange_ns'] / 1e6:11.1f}")
