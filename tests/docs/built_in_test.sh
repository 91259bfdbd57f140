#!/bin/sh
# The table of docs/built-in.md: dimensions with their defaults, first results and numbers of parameters are those of the
# models, and there is a row for each but the tiny ones.
set -eu
TOLD=$SOURCE/docs/built-in.md python3 - "$TESSERA" <<'END'
import json, os, re, subprocess, sys

rows = re.findall(r"^\| `([a-z0-9-]+)` \| .* \| `([^`]*)` \| (.*) \| ([0-9,]*) ?\|$", open(os.environ["TOLD"]).read(), re.M)
bad = 0
results = []
for name, dims, listed, parameters in rows:
    model = json.loads(subprocess.run([sys.argv[1], "show", name, "--json", "-q"], stdout=subprocess.PIPE, check=True).stdout)
    results = results if listed == "the same" else re.findall(r"`([^`]*)`", listed)
    has = [x["name"] for x in model["outputs"]]
    is_there = {
        "dimensions": (" ".join(f"{d}={n}" for d, n in model["dims"].items()), dims),
        "results": (bool(results) and all(any(re.fullmatch(r.replace("*", ".*"), h) for h in has) for r in results), True),
        "parameters": (f"{int(model['parameters']):,}", parameters) if parameters else ("", ""),
    }
    for what, (is_so, told) in is_there.items():
        if is_so != told:
            print(f"docs/built-in.md: {name}: {what}: {is_so}, the page says {told}")
            bad += 1
print(f"built-in: {len(rows)} models, {bad} told wrongly")
sys.exit(bad > 0 or len(rows) < 12)
END
