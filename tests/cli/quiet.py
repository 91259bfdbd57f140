"""quiet.py: every verb under strace, in a command that is right (those of sweep.py). No process asks for a socket of a
network, and none makes, changes, renames or removes a file but what --out names, the cache and the folder for temporary
files: quiet.py [VERB...]; the folder has what verbs.sh makes."""
import os, re, shutil, subprocess, sys
from sweep import BASE, TESSERA, verbs

HERE = os.getcwd()
CACHE, TEMPORARY = os.path.join(HERE, "cache"), os.path.join(HERE, "temporary")
# What --out names, or the verb where it has none; folders are made beside it, files as .tessera-R.tmp
OUTPUT = re.compile(re.escape(HERE) + r"/((made|explore\.html|report\.html)([./].*)?|\.tessera-[0-9a-f]{16}\.tmp)")
CODES = {"onnx-test": 3}  # there is no case
DEVICES = {"/dev/null", "/dev/tty", "/dev/zero"}
CHANGES = {  # system call: which of its paths it changes
    "open": [0], "openat": [0], "openat2": [0], "creat": [0], "mkdir": [0], "mkdirat": [0], "rmdir": [0], "unlink": [0],
    "unlinkat": [0], "rename": [0, 1], "renameat": [0, 1], "renameat2": [0, 1], "link": [1], "linkat": [1],
    "symlink": [1], "symlinkat": [1], "truncate": [0], "mknod": [0], "mknodat": [0], "chmod": [0], "fchmodat": [0],
    "chown": [0], "lchown": [0], "fchownat": [0], "utimensat": [0], "setxattr": [0],
}
TRACED = "trace=socket,connect,chdir,clone,clone3,fork,vfork," + ",".join(CHANGES)
CALL = re.compile(r"^(\d+) +(\w+)\((.*)")
PATH = re.compile(r'(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?(?:"((?:[^"\\]|\\.)*)"|NULL)')  # NULL: what is open itself


def is_allowed(path):
    at = os.path.normpath(path)
    own = any(at == x or at.startswith(x + "/") for x in (CACHE, TEMPORARY))
    return own or bool(OUTPUT.fullmatch(at)) or at in DEVICES or at.startswith(("/proc/self/", "/dev/pts/"))


def is_failed(rest):
    return re.search(r"\) += -1 E", rest) is not None


def is_change(call, rest):
    return "open" not in call or re.search(r"O_(WRONLY|RDWR|CREAT|TRUNC|APPEND|TMPFILE)", rest)


def findings(lines):
    """Complaints about a trace, and the number of changes in it. A call that fails changes nothing, but for sockets."""
    folder, changes, bad = {}, 0, []
    for line in lines:
        m = CALL.match(line)
        if not m:
            continue
        who, call, rest = m.groups()
        here = folder.get(who, HERE)
        if call in ("socket", "connect"):
            if not re.search(r"AF_(UNIX|LOCAL)", rest):
                bad.append(line.strip())
        elif call == "chdir" and not is_failed(rest):
            folder[who] = os.path.join(here, PATH.search(rest).group(2))
        elif call in ("clone", "clone3", "fork", "vfork"):
            child = re.search(r"= (\d+)$", rest.strip())
            if child:
                folder.setdefault(child.group(1), here)
        elif call in CHANGES and not is_failed(rest) and is_change(call, rest):
            paths = [os.path.join(at or here, name) for at, name in PATH.findall(rest)]
            for i in CHANGES[call]:
                changes += 1
                if i >= len(paths) or not is_allowed(paths[i]):
                    bad.append(line.strip())
                    break
    return bad, changes


def trace(words):
    for folder in (CACHE, TEMPORARY):
        os.makedirs(folder, exist_ok=True)
    env = dict(os.environ, XDG_CACHE_HOME=CACHE, TMPDIR=TEMPORARY, HOME=os.path.join(HERE, "nobody"))
    p = subprocess.run(["strace", "-f", "--seccomp-bpf", "-qq", "-y", "-s", "4096", "-e", TRACED, "-e", "signal=none",
                        "-o", os.path.join(HERE, "trace"), *words], env=env, capture_output=True, text=True,
                       stdin=subprocess.DEVNULL, timeout=600)
    return p, *findings(open("trace", errors="replace"))


def holds_itself():
    """What is looked for is found: a socket, a file beside, a folder elsewhere, a file that is moved out."""
    inside = ("import os; open('made', 'w').close(); os.mkdir('temporary/x'); os.rename('made', 'cache/y');"
              "os.remove('cache/y'); os.rmdir('temporary/x')")
    outside = ("import os, socket; socket.socket(); open('beside', 'w').close(); os.mkdir('cache/../other');"
               "os.rename('beside', 'made'); os.chdir('other'); open('z', 'w').close()")
    clean, found = (trace([sys.executable, "-B", "-c", code]) for code in (inside, outside))
    assert (clean[0].returncode, clean[1], clean[2]) == (0, [], 6), clean
    assert found[0].returncode == 0 and len(found[1]) == 5, found
    shutil.rmtree("other"), os.remove("made")


def main():
    holds_itself()
    bad = calls = 0
    all_verbs = verbs()
    for verb in all_verbs:
        p, found, changes = trace([TESSERA, verb["name"], *BASE[verb["name"]].split()])
        if p.returncode != CODES.get(verb["name"], 0):
            found.append(f"exit code {p.returncode}: {p.stderr[-300:]}")
        left = [n for n in os.listdir(TEMPORARY) if n != ".ses"]  # which a peer leaves
        if left:
            found.append(f"leaves {left[:3]} in the folder for temporary files")
        for line in found[:5]:
            print(f"{verb['name']}: {line}", file=sys.stderr)
        bad, calls = bad + bool(found), calls + changes
        for path in [n for n in os.listdir(HERE) if OUTPUT.fullmatch(os.path.join(HERE, n))]:
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
    print(f"{len(all_verbs)} verbs, {calls} calls that change files, {bad} verbs that go elsewhere")
    sys.exit(bad > 0 or not calls)


if __name__ == "__main__":
    main()
