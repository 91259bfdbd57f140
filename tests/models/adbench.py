"""adbench.py: small problems of ADBench with their derivatives, from formulas written down once more: values in complex
numbers, derivatives by a step of 1e-30 along the imaginary axis, which rounds nothing off. Writes NAME.txt, NAME_J.txt,
and NAME_F.txt, in ADBench's forms."""
import cmath, math, random

PI = 3.14159265359
H = 1e-30


def slopes(f, x, free):
    """[result][free place of x]"""
    columns = []
    for i in free:
        was, x[i] = x[i], x[i] + H * 1j
        columns.append([v.imag / H for v in f(x)])
        x[i] = was
    return [list(row) for row in zip(*columns)]


def write(name, lines, values, derivative):
    with open(name + ".txt", "w") as f:
        for line in lines:
            f.write(" ".join(repr(v) for v in line) + "\n")
    open(name + "_F.txt", "w").write("".join(f"{v:.17g}\n" for v in values))
    open(name + "_J.txt", "w").write("".join(f"{v:.17g}\n" if isinstance(v, float) else f"{v}\n" for v in derivative))


def dense(name, lines, f, x, n):
    j = slopes(f, x, range(n))
    write(name, lines, [v.real for v in f(x)], [v for row in j for v in row])


def noise(n, low=-1.0, high=1.0):
    return [round(random.uniform(low, high), 6) for _ in range(n)]


def logsumexp(v, plus=0):
    most = max(e.real for e in v)
    return most + cmath.log(sum(cmath.exp(e - most) for e in v) + plus * math.exp(-most))


def gmm(d, k, n):
    width, gamma, m = d * (d + 1) // 2, 1.5, 2
    alphas, means, icf, points = noise(k), noise(k * d), noise(k * width), noise(n * d)

    def f(v):
        a, mu, q = v[:k], v[k:k + k * d], v[k + k * d:]
        factor = []
        for c in range(k):
            own, rest = [[0] * d for _ in range(d)], iter(q[c * width + d:(c + 1) * width])
            for j in range(d):
                own[j][j] = cmath.exp(q[c * width + j])
                for i in range(j + 1, d):
                    own[i][j] = next(rest)
            factor.append(own)
        total = -n * logsumexp(a) - n * d / 2 * math.log(2 * PI)
        for p in range(n):
            inner = []
            for c in range(k):
                away = [points[p * d + i] - mu[c * d + i] for i in range(d)]
                inner.append(a[c] + sum(q[c * width:c * width + d]) -
                             sum(sum(factor[c][i][j] * away[j] for j in range(d)) ** 2 for i in range(d)) / 2)
            total += logsumexp(inner)
        for c in range(k):
            total += gamma ** 2 / 2 * sum(e * e for row in factor[c] for e in row) - m * sum(q[c * width:c * width + d])
        dof = d + m + 1
        gammas = d * (d - 1) / 4 * math.log(PI) + sum(math.lgamma((dof + 1 - i) / 2) for i in range(1, d + 1))
        return [total - k * (dof * d * (math.log(gamma) - math.log(2) / 2) - gammas)]

    rows = [means[i * d:i * d + d] for i in range(k)] + [icf[i * width:(i + 1) * width] for i in range(k)]
    dense("gmm", [[d, k, n], *[[a] for a in alphas], *rows, *[points[i * d:i * d + d] for i in range(n)], [gamma, m]],
          f, alphas + means + icf, k + k * d + k * width)


def turned(r, x):
    square = sum(e * e for e in r)
    if square == 0:
        return [x[i] + r[(i + 1) % 3] * x[(i + 2) % 3] - r[(i + 2) % 3] * x[(i + 1) % 3] for i in range(3)]
    t = cmath.sqrt(square)
    w = [e / t for e in r]
    along = sum(a * b for a, b in zip(w, x)) * (1 - cmath.cos(t))
    return [x[i] * cmath.cos(t) + (w[(i + 1) % 3] * x[(i + 2) % 3] - w[(i + 2) % 3] * x[(i + 1) % 3]) * cmath.sin(t) +
            w[i] * along for i in range(3)]


def ba(n, m, p, rotation, name):
    camera, point = rotation + [-1.6, 0.9, 0.3, 210.5, -0.3, 1.4, 0.05, 0.02], [4.1, 2.5, 9.4]
    w, feature = [0.417], [-5.25, 16.5]
    given = camera + point + w

    def f(v):
        x = turned(v[:3], [a - b for a, b in zip(v[11:14], v[3:6])])
        u = [x[0] / x[2], x[1] / x[2]]
        s = u[0] ** 2 + u[1] ** 2
        length = 1 + v[9] * s + v[10] * s * s
        return [v[14] * (u[i] * length * v[6] + v[7 + i] - feature[i]) for i in range(2)] + [1 - v[14] ** 2]

    j, value, starts, columns, numbers = slopes(f, given, range(15)), f(given), [0], [], []
    for i in range(p):
        for side in range(2):
            columns += [11 * (i % n) + c for c in range(11)] + [11 * n + 3 * (i % m) + c for c in range(3)]
            columns.append(11 * n + 3 * m + i)
            numbers += j[side]
            starts.append(len(columns))
    for i in range(p):
        columns.append(11 * n + 3 * m + i)
        numbers.append(j[2][14])
        starts.append(len(columns))
    write(name, [[n, m, p], camera, point, w, feature], [v.real for v in value[:2] * p + value[2:] * p],
          [3 * p, 11 * n + 3 * m + p, len(starts), *starts, len(columns), *columns, *numbers])


def lstm(l, c, b):
    main, extra, state = noise(8 * l * b, 0, 1), noise(3 * b, 0, 1), noise(2 * l * b, 0, 1)
    bits = [[random.randint(0, 1) for _ in range(b)] for _ in range(c)]

    def sigmoid(x):
        return 1 / (1 + cmath.exp(-x))

    def f(v):
        w, e, s, loss = v[:8 * l * b], v[8 * l * b:], list(state), 0
        for t in range(c - 1):
            x = [bits[t][i] * e[i] for i in range(b)]
            for k in range(l):
                own = w[8 * k * b:8 * (k + 1) * b]
                h, cell = s[2 * k * b:(2 * k + 1) * b], s[(2 * k + 1) * b:(2 * k + 2) * b]
                for i in range(b):
                    gate = [(h if g % 2 else x)[i] * own[g * b + i] + own[(4 + g) * b + i] for g in range(4)]
                    cell[i] = cell[i] * sigmoid(gate[0]) + sigmoid(gate[1]) * cmath.tanh(gate[3])
                    h[i] = sigmoid(gate[2]) * cmath.tanh(cell[i])
                s[2 * k * b:(2 * k + 2) * b] = h + cell
                x = h
            y = [x[i] * e[b + i] + e[2 * b + i] for i in range(b)]
            norm = logsumexp(y, 2)
            loss += sum(bits[t + 1][i] * (y[i] - norm) for i in range(b))
        return [-loss / ((c - 1) * b)]

    cut = [main[i * 4 * b:(i + 1) * 4 * b] for i in range(2 * l)] + [extra[i * b:(i + 1) * b] for i in range(3)]
    dense("lstm", [[l, c, b], *cut, *[state[i * b:(i + 1) * b] for i in range(2 * l)], *bits], f, main + extra,
          8 * l * b + 3 * b)


def product(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(4)) for j in range(4)] for i in range(4)]


def affine():
    return [noise(4) for _ in range(3)] + [[0.0, 0.0, 0.0, 1.0]]


def hand(name, n, v, triangles=None, theta=None):
    theta = theta or noise(26)
    us = noise(2 * n, 0, 0.5) if triangles else []
    of = [random.randrange(len(triangles) if triangles else v) for _ in range(n)]
    points, base, inverse = noise(3 * n), [affine() for _ in range(22)], [affine() for _ in range(22)]
    vertices, weights = [noise(3) + [1.0] for _ in range(v)], [noise(22, 0, 0.2) for _ in range(v)]

    def f(x):
        u, t = x[:len(us)], x[len(us):]
        whole = [[0] * 4 for _ in range(3)] + [[0, 0, 0, 1]]
        for column in range(3):
            turn = [float(i == column) for i in range(3)]
            if sum(abs(e) ** 2 for e in t[:3]) >= 1e-8:  # ADBench does not turn by less
                turn = turned(t[:3], turn)
            for i in range(3):
                whole[i][column] = turn[i]
        for i in range(3):
            whole[i][3] = t[3 + i]
        bones = [base[0]]
        for b in range(1, 22):
            at = base[b]
            finger, joint = (b - 1) // 4, (b - 1) % 4
            if b < 21 and joint:
                rx = t[6 + 4 * finger + (joint if joint > 1 else 0)]
                rz = t[7 + 4 * finger] if joint == 1 else 0
                c, s, cz, sz = cmath.cos(rx), cmath.sin(rx), cmath.cos(rz), cmath.sin(rz)
                at = product(at, [[cz, -sz, 0, 0], [sz, cz, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
                at = product(at, [[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]])
            bones.append(product(bones[b - 1 if b < 21 and joint else 0], at))
        moves = [product(whole, product(bones[b], inverse[b])) for b in range(22)]

        def placed(i):
            return [sum(weights[i][b] * moves[b][r][k] * vertices[i][k] for b in range(22) for k in range(4))
                    for r in range(3)]

        out = []
        for i in range(n):
            if triangles:
                share = [u[2 * i], u[2 * i + 1], 1 - u[2 * i] - u[2 * i + 1]]
                corner = [placed(c) for c in triangles[of[i]]]
                own = [sum(share[c] * corner[c][r] for c in range(3)) for r in range(3)]
            else:
                own = placed(of[i])
            out += [points[3 * i + r] - own[r] for r in range(3)]
        return out

    x = us + theta
    j = slopes(f, x, range(len(x)))
    if triangles:  # of each point's two places the rows of that point alone
        j = [row[2 * (i // 3):2 * (i // 3) + 2] + row[2 * n:] for i, row in enumerate(j)]
    flat = [[e for row in bone for e in row] for bone in base + inverse]
    lines = [[n, v] + ([len(triangles)] if triangles else []), us, theta, of, points, *(triangles or []), *flat,
             *vertices, *weights]
    write(name, lines, [e.real for e in f(x)], [e for row in j for e in row])


random.seed(5)
gmm(3, 2, 4)
ba(2, 3, 7, [0.79, 0.59, -0.63], "ba")
ba(2, 3, 7, [0.0, 0.0, 0.0], "straight")
lstm(2, 5, 3)
hand("hand", 4, 5)
hand("hand-still", 3, 4, theta=[0.0] * 3 + noise(23))
hand("hand-us", 4, 5, [[0, 1, 2], [2, 3, 4], [1, 4, 0]])
