"""What reading a file costs before anything is computed: python3 budget.py TESSERA FOLDER. Large files have holes for
weights, so they take no room on the disk."""
import os
import resource
import struct
import sys

sys.dont_write_bytecode = True
from malformed import F32, I64, X, graph, ints, model, msg, node, num, port, tensor, varint  # noqa: E402

TESSERA, WORK = sys.argv[1], sys.argv[2]
RAW, FLOATS = 9, 4  # where a tensor's bytes stand
failures = checks = 0


def large(path, dims, count, field):
    """A sum of `count` weights of dims, in one file."""
    size = 4
    for d in dims:
        size *= d
    heads = [b"".join(num(1, d) for d in dims) + num(2, F32) + msg(8, f"w{i}") + varint(field << 3 | 2) + varint(size)
             for i in range(count)]
    rest = b"".join(msg(1, node("Add", f"{'t%d' % (i - 1) if i else 'x'},w{i}", f"t{i}", f"n{i}"))
                    for i in range(count))
    rest += msg(2, "g") + msg(11, port("x", dims=dims)) + msg(12, port(f"t{count - 1}", dims=dims))
    total = len(rest) + sum(len(varint(5 << 3 | 2) + varint(len(h) + size) + h) + size for h in heads)
    with open(path, "wb") as f:
        f.write(num(1, 8) + msg(8, msg(1, "") + num(2, 17)) + varint(7 << 3 | 2) + varint(total) + rest)
        for h in heads:
            f.write(varint(5 << 3 | 2) + varint(len(h) + size) + h)
            f.seek(size, os.SEEK_CUR)
        f.truncate()


def cost(*words):
    """Exit code, MiB that were resident at most, seconds of processor time, what was said."""
    nothing = (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)
    said = (os.POSIX_SPAWN_OPEN, 2, "said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    child = os.posix_spawn(TESSERA, [TESSERA, *words], os.environ, file_actions=[nothing, said])
    _, status, used = os.wait4(child, 0)
    with open("said") as f:
        return os.waitstatus_to_exitcode(status), used.ru_maxrss / 1024, used.ru_utime + used.ru_stime, f.read()


def check(ok, *what):
    global failures, checks
    checks += 1
    if not ok:
        failures += 1
        print(*what)


def check_large():
    large("small.onnx", (4, 8), 1, RAW)
    least = {v: cost(v, "small.onnx")[1] for v in ("show", "explain")}
    for name, dims, count, field in (("one weight", (125000000,), 1, RAW), ("500 weights", (250000,), 500, RAW),
                                     ("numbers of their own type", (125000000,), 1, FLOATS)):
        large("large.onnx", dims, count, field)
        check(os.path.getsize("large.onnx") > 500e6, name, "the file is small")
        for verb in ("show", "explain"):
            code, resident, seconds, said = cost(verb, "large.onnx")
            more = resident - least[verb]
            print(f"{verb} of 500 MB, {name}: {more:.1f} MiB, {seconds:.3f} s of processor time")
            check(code == 0 and more < 60, verb, name, code, more, "MiB", said)
            check(seconds < 0.5, verb, name, seconds, "s")


def check_tiny():
    """Files of some hundred bytes that ask for 287 MB, or for petabytes, while they are read."""
    for n in (71750000, 1 << 39):
        one = tensor("a", (), I64, struct.pack("<q", 0)), tensor("c", (), I64, struct.pack("<q", 1))
        s = ints("s", n)
        for name, nodes, tensors in (
                ("filled", [node("ConstantOfShape", "s", "y")], [s]),
                ("summed", [node("ConstantOfShape", "s", "t"), node("ReduceSum", "t", "y")], [s]),
                ("counted", [node("ConstantOfShape", "s", "t"), node("NonZero", "t", "y")], [s]),
                ("a shape", [node("ConstantOfShape", "s", "t"), node("Cast", "t", "u", to=I64),
                             node("Reshape", "x,u", "y")], [s]),
                ("a range", [node("Range", "a,b,c", "t"), node("Cast", "t", "y", to=F32)],
                 [*one, tensor("b", (), I64, struct.pack("<q", n))]),
                ("sorted", [node("ConstantOfShape", "s", "t"), node("TopK", "t,k", "y,i")], [s, ints("k", 1)]),
                ("tiled", [node("Tile", "x,s2", "y")], [ints("s2", 1, n // 6)])):
            data = model(graph(nodes, [X] if "x" in str(nodes) else [], [port("y")], tensors))
            with open("tiny.onnx", "wb") as f:
                f.write(data)
            for words in (["show"], ["show", "--stage", "folded"], ["explain"],
                          ["run", "--random", "--mem-limit", "100M"]):
                code, resident, seconds, said = cost(words[0], "tiny.onnx", *words[1:])
                check(resident < 100 and seconds < 1 and code in (0, 3, 4, 7), name, n, words,
                      f"{len(data)} bytes: {resident:.0f} MiB, {seconds:.2f} s, exit code {code}", said)


resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
os.chdir(WORK)
check_large()
check_tiny()
print(f"{checks} checks, {failures} failed")
sys.exit(failures > 0)
