#!/bin/sh
# What numpy writes in any type, byte order, memory order and version comes back to numpy the same; plain files byte for byte.
PYTHON=${PYTHON:-python3}
"$PYTHON" -c 'import numpy' 2>/dev/null || { echo "skipped: no numpy"; exit 77; }
exec "$PYTHON" - "$BUILD/tests/graph-ir-npy-test" <<'PY'
import itertools, os, subprocess, sys, tempfile
import numpy as np

kinds = "f4 f8 f2 i8 i4 i2 i1 u8 u4 u2 u1 b1".split()
shapes = [(), (1,), (5,), (2, 3), (4, 0, 3), (2, 3, 4), (2, 1, 3, 1, 2, 1, 2, 2)]
random = np.random.default_rng(1)
with tempfile.TemporaryDirectory() as folder:
    a, b = os.path.join(folder, "a.npy"), os.path.join(folder, "b.npy")
    count = 0
    for kind, order, shape, fortran in itertools.product(kinds, "<>", shapes, (False, True)):
        if order == ">" and kind[1] == "1":
            continue
        x = (random.random(shape) * 200 - (0 if kind[0] in "ub" else 100)).astype(order + kind)
        x = np.asfortranarray(x) if fortran else x
        with open(a, "wb") as f:
            np.lib.format.write_array(f, x, version=((1, 0), (2, 0), (3, 0))[count % 3])
        subprocess.run([sys.argv[1], a, b], check=True)
        y = np.load(b)
        assert y.shape == x.shape and y.dtype == x.dtype.newbyteorder("<") and (x == y).all(), (kind, order, shape)
        np.save(a, np.ascontiguousarray(y).reshape(y.shape))
        same = open(a, "rb").read() == open(b, "rb").read()
        assert same, ("bytes differ", kind, shape)
        count += 1
    print(count, "arrays")
PY
