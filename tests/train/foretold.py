# A step's time by the number of ranks, as explain --ranks foretells it and as train takes it: prints both, their ratio.
# foretold.py TESSERA MPIRUN NET [CORES=2] [MODEL...], by hand, on a machine at rest; NET as in explain --ranks, between
# processes here. Ranks have one thread each, so more of them than cores share these, which --cores says.
# NETEM=1: NET is not what is here, but what tc makes of the loopback of a network namespace of its own, through which
# ranks then speak: netem, or tbf, of the bandwidth alone. Where that is not allowed, it says why and ends with 77.
# NETWORK=build/tests/network/network.so: NET is what that library makes of the machine's memory (tests/network), which
# takes no core from those who compute. BATCH=32 SHARDS=4 RANKS=1,2,4: of the step. "hidden" is the
# share of the exchange in which something is computed.
import json, os, re, shutil, statistics, subprocess, sys, tempfile

tessera, mpirun, net, cores, *model = sys.argv[1:] + ["2", "gpt2-tiny"][len(sys.argv) - 4:]
os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1"}
STEPS, WARM = 24, 8  # the first ones compile and are timed kernel by kernel
BATCH, SHARDS = (os.environ.get(name, usual) for name, usual in (("BATCH", "32"), ("SHARDS", "4")))
RANKS = [int(n) for n in os.environ.get("RANKS", "1,2,4").split(",")]
common = (f"--batch {BATCH} --shards {SHARDS} --threads 1 --task lm "
          "--tokenizer bytes --data text.txt --length 64").split()
network = os.environ.get("NETWORK") and os.path.abspath(os.environ["NETWORK"])
tessera = os.path.abspath(tessera)


def run(*line):
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout


def can(*line):
    """None, or why not"""
    try:
        run(*line)
    except (OSError, subprocess.CalledProcessError) as e:
        return f"{' '.join(line)}: {(getattr(e, 'stderr', None) or str(e)).strip()}"


def numbers():
    """Of net: seconds, bytes a second"""
    units = {"us": 1e-6, "ms": 1e-3, "MB": 1e6, "GB": 1e9}
    said = (re.search(name + r":([\d.]+)(\w+)", net).groups() for name in ("latency", "bandwidth"))
    return [float(n) * units[unit] for n, unit in said]


def through(folder):
    """A copy of the command beside which the network lies as the collective, around the one beside the command"""
    name = "collective-mpich.so" if "mpich" in mpirun else "collective-ompi-c.so"
    os.mkdir("through")
    shutil.copy(network, f"through/{name}")
    os.environ["NETWORK"] = "%g %g %s/board %s/%s" % (*numbers(), folder, os.path.dirname(tessera), name)
    return shutil.copy(tessera, "through/tessera")


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


def median(what, run):
    rows = [json.loads(line) for line in open(f"{run}/metrics.jsonl")]
    return statistics.median(row.get(what, 0) for row in rows[WARM:] if "ms" in row)


def hidden(exchange, exposed):
    return f"{1 - exposed / exchange:8.2f}" if exchange else "        "


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
    command = through(folder) if network else tessera
    for n in RANKS:
        if os.path.exists("board"):
            os.remove("board")
        run(mpirun, "-n", str(n), command, "train", *model, *common, "-q", "--steps", str(STEPS), "-o", f"r{n}")
    said = json.loads(run(tessera, "explain", f"r{RANKS[0]}", "--ranks", str(RANKS[-1]), "--net", net, "--cores", cores,
                          "--threads", "1", "--json"))
    print("kernels", "measured" if said["measured"] else "predicted")
    print("ranks  foretold ms  measured ms  ratio  exchange ms  measured  hidden  measured")
    for row in (row for row in said["rows"] if row["ranks"] in RANKS):
        told, (took, sent, bare) = row["step_ns"] / 1e6, (median(what, f"r{row['ranks']}") for what in
                                                          ("ms", "exchange_ms", "exposed_ms"))
        way = row["exchange_ns"] / 1e6
        print(f"{row['ranks']:5}  {told:11.1f}  {took:11.1f}  {told / took:5.2f}  {way:11.1f}  {sent:8.1f}",
              hidden(way, row["exposed_ns"] / 1e6), hidden(sent, bare))
