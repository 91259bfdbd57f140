"""Results of run.sh: results.json (gpu/1) and table.txt from the results/1 of each row."""
import json
import os

BAD = ("failed", "late", "absent")
GOOD = ("VALID", "BUSY")


def read(path):
    with open(path) as f:
        return json.load(f)


def median(contestant):
    stats = contestant.get("stats") or {}
    return stats.get("median_ns") if contestant.get("status") == "VALID" else None


def share(of, whole):
    return of / whole if of and whole else None


def row_of(timed, copy):
    """What a row comes to, from its results/1: nanoseconds, and how many times faster than each peer."""
    out = {"name": timed["name"], "kind": timed["kind"]}
    if not timed["file"]:
        return out | {"status": "missing", "why": timed["why"]}
    results = read(timed["file"])
    ours = results["candidates"][0]
    # Where other programs disturbed the host, passes are not told; the device's own clock still is.
    busy = results["machine_state"]["state"] == "overloaded" and (ours.get("numerics") or {}).get("max_rel") is not None
    status = "BUSY" if busy else ours["status"]
    bytes_moved = sum(k.get("bytes") or 0 for k in ours.get("kernels") or [])
    device = ours.get("device_ns") if status in GOOD else None
    out |= {"status": status, "why": ours.get("reason"), "ns": median(ours), "device_ns": device,
            "gflops": share(ours.get("flops"), device), "gbs": share(bytes_moved, device),
            "f32_peak_share": share(share(ours.get("flops"), device), results["ceilings"].get("fma_f32_gflops"))}
    stated = results["ceilings"].get("read_gbs")
    out["copy_share"] = share(out["gbs"], copy / 1e9 if copy else stated)
    out["copy_is"] = "measured" if copy else "stated"
    out["peers"] = {p["name"]: {"status": p["status"], "why": p.get("reason"), "ns": median(p),
                                "device_ns": p.get("device_ns"), "ratio": share(median(p), out["ns"]),
                                "device_ratio": share(p.get("device_ns"), device)} for p in results["peers"]}
    return out


def milliseconds(ns):
    return "-" if ns is None else f"{ns / 1e6:.3g}"


def percent(x):
    return "-" if x is None else f"{100 * x:.0f} %"


def against(peers):
    """Peers by their times over ours: above 1 we are faster."""
    def one(p):
        if p["ratio"] is None:
            return (p["why"] or p["status"]).split("\n")[0][:40]
        device = "" if p["device_ratio"] is None else f" ({p['device_ratio']:.2f})"
        return f"{p['ratio']:.2f}{device}"
    return "  ".join(f"{name} {one(p)}" for name, p in peers.items())


def lines(results):
    yield (f"{'row':<24}{'ms':>8}{'device':>9}{'GFLOP/s':>10}{'of f32':>8}{'GB/s':>8}{'of copy':>9}  "
           "peer / ours (on the device)")
    for r in results["rows"]:
        if r["status"] not in GOOD:
            yield f"{r['name']:<24}  {r['status']}: {(r['why'] or '').splitlines()[0] if r['why'] else ''}"
            continue
        memory = r["kind"] == "memory"
        work = ["-" if memory or r["gflops"] is None else f"{r['gflops']:.0f}",
                "-" if memory else percent(r["f32_peak_share"]),
                f"{r['gbs']:.0f}" if memory and r["gbs"] else "-", percent(r["copy_share"]) if memory else "-"]
        yield (f"{r['name']:<24}{milliseconds(r['ns']):>8}{milliseconds(r['device_ns']):>9}{work[0]:>10}{work[1]:>8}"
               f"{work[2]:>8}{work[3]:>9}  {against(r['peers'])}").rstrip()


def write(out, told, timed):
    """Both files into the folder `out`; whether nothing failed."""
    results = {"format": "gpu/1", **told, "rows": [row_of(t, told["copy_bytes_per_second"]) for t in timed]}
    for t in timed:
        if t["file"]:
            about = read(t["file"])
            results["device"] = about["candidates"][0]["plan"]["isa"]
            results["build"] = about["candidates"][0].get("build")
            break
    with open(os.path.join(out, "results.json"), "w") as f:
        json.dump(results, f, indent=1)
    text = "\n".join(lines(results)) + "\n"
    with open(os.path.join(out, "table.txt"), "w") as f:
        f.write(text)
    print(text, end="")
    return not any(p["status"] in BAD for p in told["parts"]) and all(r["status"] in GOOD for r in results["rows"])
