/* hand.c - tracking a hand of ADBench in plain C, its Jacobian forward by hand: what `tessera adbench hand --against`
 * takes, when compiled as a shared object; of hand-us.c that of hand-us. in: (places within triangles [n, 2],) theta
 * [26], correspondences [n], points [n, 3], (triangles [t, 3],) bones and inverse bones [22, 4, 4], vertices [v, 4],
 * weights [v, 22]. out: errors [n, 3]; (by their own places [n, 3, 2],) by theta [n, 3, 26].
 * All bones count for a vertex, also those with a weight of 0, as in ADBench's own code; derivatives by angles are
 * those of the bones that these move. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef US
#define US 0
#endif
enum { BONES = 22, THETA = 26, CORNERS = US ? 3 : 1 };
typedef double matrix[12]; /* three rows of four; the fourth is 0 0 0 1 */

static void multiply(const double *a, const double *b, double *out, double last) /* last: the fourth row's, of b */
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            out[i * 4 + j] = a[i * 4] * b[j] + a[i * 4 + 1] * b[4 + j] + a[i * 4 + 2] * b[8 + j] +
                             (j == 3 ? a[i * 4 + 3] * last : 0);
}

/* A joint turns by z, then by x: the matrix, and its derivatives */
static void joint(double x, double z, double *m, double *by_x, double *by_z)
{
    const double c = cos(x), s = sin(x), e = cos(z), f = sin(z);
    const matrix all[3] = {{e, -f * c, f * s, 0, f, e * c, -e * s, 0, 0, s, c, 0},
                           {0, f * s, f * c, 0, 0, -e * s, -e * c, 0, 0, c, -s, 0},
                           {-f, -e * c, e * s, 0, e, -f * c, f * s, 0, 0, 0, 0, 0}};
    memcpy(m, all[0], sizeof all[0]), memcpy(by_x, all[1], sizeof all[1]), memcpy(by_z, all[2], sizeof all[2]);
}

/* The whole hand's matrix, and its derivatives by a vector to turn by and a translation: m[0], m[1 ... 6] */
static void whole(const double *t, matrix *m)
{
    memset(m, 0, 7 * sizeof *m);
    const double square = t[0] * t[0] + t[1] * t[1] + t[2] * t[2], n = sqrt(square);
    for (int i = 0; i < 3; i++)
        m[0][i * 5] = 1, m[0][i * 4 + 3] = t[3 + i], m[4 + i][i * 4 + 3] = 1;
    if (square < 1e-8)
        return;
    const double c = cos(n), s = sin(n), w[3] = {t[0] / n, t[1] / n, t[2] / n};
    for (int k = -1; k < 3; k++) { /* -1: the value */
        double dw[3] = {0}, dn = k < 0 ? 0 : w[k];
        for (int i = 0; i < 3 && k >= 0; i++)
            dw[i] = ((i == k) - w[i] * w[k]) / n;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                const int r = 3 - i - j; /* the third axis, where i != j */
                const double sign = (j - i + 3) % 3 == 1 ? -1 : 1, own = i == j ? 0 : sign * w[r];
                const double down = i == j ? 0 : sign * dw[r];
                m[1 + k][i * 4 + j] = k < 0 ? (i == j) * c + w[i] * w[j] * (1 - c) + own * s
                                            : -(i == j) * s * dn + (dw[i] * w[j] + w[i] * dw[j]) * (1 - c) +
                                                  w[i] * w[j] * s * dn + down * s + own * c * dn;
            }
    }
}

/* Absolute bones, and their derivatives by the four angles of their finger: at[bone][0 ... 4] */
static void pose(const double *theta, const double *base, matrix (*at)[5])
{
    memset(at, 0, BONES * sizeof *at);
    memcpy(at[0][0], base, sizeof(matrix));
    for (int b = 1; b < BONES; b++) {
        const int finger = (b - 1) / 4, place = (b - 1) % 4, from = b < 21 && place ? b - 1 : 0;
        const double *own = base + 16 * b, *t = theta + 6 + 4 * finger;
        if (b == 21 || !place) {
            multiply(at[0][0], own, at[b][0], 1);
            continue;
        }
        matrix m, by_x, by_z, rel, turn;
        const int angle = place > 1 ? place : 0; /* 0: with angle 1 about z */
        joint(t[angle], place == 1 ? t[1] : 0, m, by_x, by_z);
        multiply(own, m, rel, 1);
        for (int k = 0; k < 5; k++)
            multiply(at[from][k], rel, at[b][k], 1);
        multiply(own, by_x, turn, 0), turn[3] = turn[7] = turn[11] = 0;
        multiply(at[from][0], turn, at[b][1 + angle], 0);
        if (place == 1) {
            multiply(own, by_z, turn, 0), turn[3] = turn[7] = turn[11] = 0;
            multiply(at[from][0], turn, at[b][2], 0);
        }
    }
}

typedef struct hand {
    const double *us, *theta, *points, *base, *inverse, *vertices, *weights;
    const int64_t *of, *triangles;
    int64_t n;
} hand;

static hand open_hand(const int64_t *size, const void *const *in)
{
    hand h = {.n = size[0], .us = US ? *in++ : NULL};
    h.theta = *in++, h.of = *in++, h.points = *in++;
    h.triangles = US ? *in++ : NULL;
    h.base = in[0], h.inverse = in[1], h.vertices = in[2], h.weights = in[3];
    return h;
}

/* The vertices of point i, and what each counts; how many */
static void corners(const hand *h, int64_t i, int64_t *vertex, double *share)
{
    vertex[0] = h->of[i], share[0] = 1;
    for (int c = 0; c < CORNERS && US; c++) {
        const double *u = h->us + 2 * i;
        vertex[c] = h->triangles[3 * h->of[i] + c], share[c] = c < 2 ? u[c] : 1 - u[0] - u[1];
    }
}

static void apply(const double *m, const double *x, double by, double *to)
{
    for (int r = 0; r < 3; r++)
        to[r] += by * (m[r * 4] * x[0] + m[r * 4 + 1] * x[1] + m[r * 4 + 2] * x[2] + m[r * 4 + 3] * x[3]);
}

/* How the bones take vertices: move[bone], and with `all` its derivatives by the whole hand's six numbers and the four
 * of its finger */
static void moves(const hand *h, int all, matrix (*move)[11])
{
    matrix at[BONES][5], own[7], bone;
    pose(h->theta, h->base, at), whole(h->theta, own);
    for (int b = 0; b < BONES; b++) {
        const double *inverse = h->inverse + 16 * b;
        multiply(at[b][0], inverse, bone, 1);
        for (int k = 0; k < (all ? 7 : 1); k++)
            multiply(own[k], bone, move[b][k], 1);
        for (int k = 1; k < 5 && all; k++) {
            multiply(at[b][k], inverse, bone, 1);
            multiply(own[0], bone, move[b][6 + k], 0);
        }
    }
}

void tessera_values(const int64_t *size, const void *const *in, double *const *out)
{
    const hand h = open_hand(size, in);
    matrix move[BONES][11];
    moves(&h, 0, move);
    for (int64_t i = 0; i < h.n; i++) {
        int64_t vertex[CORNERS];
        double share[CORNERS], y[3] = {0};
        corners(&h, i, vertex, share);
        for (int c = 0; c < CORNERS; c++)
            for (int b = 0; b < BONES; b++) {
                const double w = h.weights[vertex[c] * BONES + b];
                apply(move[b][0], h.vertices + 4 * vertex[c], share[c] * w, y);
            }
        for (int r = 0; r < 3; r++)
            out[0][3 * i + r] = h.points[3 * i + r] - y[r];
    }
}

void tessera_slopes(const int64_t *size, const void *const *in, double *const *out)
{
    const hand h = open_hand(size, in);
    matrix move[BONES][11];
    double *by_theta = out[1 + US];
    moves(&h, 1, move);
    for (int64_t i = 0; i < h.n; i++) {
        int64_t vertex[CORNERS];
        double share[CORNERS], y[3] = {0}, dy[THETA][3] = {{0}}, corner[CORNERS][3] = {{0}};
        corners(&h, i, vertex, share);
        for (int c = 0; c < CORNERS; c++)
            for (int b = 0; b < BONES; b++) {
                const double w = h.weights[vertex[c] * BONES + b], *x = h.vertices + 4 * vertex[c];
                const int finger = b > 0 && b < 21 && (b - 1) % 4 ? (b - 1) / 4 : -1;
                apply(move[b][0], x, w, corner[c]);
                for (int k = 0; k < 6; k++)
                    apply(move[b][1 + k], x, share[c] * w, dy[k]);
                for (int k = 0; k < 4 && finger >= 0; k++)
                    apply(move[b][7 + k], x, share[c] * w, dy[6 + 4 * finger + k]);
            }
        for (int r = 0; r < 3; r++) {
            for (int c = 0; c < CORNERS; c++)
                y[r] += share[c] * corner[c][r];
            out[0][3 * i + r] = h.points[3 * i + r] - y[r];
            for (int k = 0; k < 2 && US; k++)
                out[1][(3 * i + r) * 2 + k] = corner[CORNERS - 1][r] - corner[k][r];
            for (int k = 0; k < THETA; k++)
                by_theta[(3 * i + r) * THETA + k] = -dy[k][r];
        }
    }
}
