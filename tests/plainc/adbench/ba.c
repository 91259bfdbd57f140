/* ba.c - bundle adjustment of ADBench in plain C, its Jacobian by hand: what `tessera adbench ba --against` takes, when
 * compiled as a shared object. in: cameras [n, 11], points [m, 3], weights [p], features [p, 2], camera_of [p],
 * point_of [p]. out: errors [p, 2], 1 - w^2 [p]; errors by their camera [p, 2, 11], point [p, 2, 3] and weight [p, 2],
 * and the last by its weight [p]. */
#include <math.h>
#include <stdint.h>

/* The matrix of the rotation vector r; x is turned by it into y. */
static void turn(const double *r, const double *x, double *y, double m[3][3])
{
    const double square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    double c = 1, s = 1, w[3] = {r[0], r[1], r[2]};
    if (square != 0) {
        const double t = sqrt(square);
        c = cos(t), s = sin(t);
        for (int i = 0; i < 3; i++)
            w[i] /= t;
    }
    const double v = 1 - c;
    const double all[3][3] = {{c + w[0] * w[0] * v, w[0] * w[1] * v - w[2] * s, w[0] * w[2] * v + w[1] * s},
                              {w[0] * w[1] * v + w[2] * s, c + w[1] * w[1] * v, w[1] * w[2] * v - w[0] * s},
                              {w[0] * w[2] * v - w[1] * s, w[1] * w[2] * v + w[0] * s, c + w[2] * w[2] * v}};
    for (int i = 0; i < 3; i++) {
        y[i] = all[i][0] * x[0] + all[i][1] * x[1] + all[i][2] * x[2];
        for (int j = 0; j < 3; j++)
            m[i][j] = all[i][j];
    }
}

/* How R x changes by r: -R [x] (r r' + (R' - 1) [r]) / |r|^2, where [v] w is v cross w; -[x] where r is 0 */
static void by_rotation(const double *r, const double *x, double m[3][3], double out[3][3])
{
    const double square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    const double rx[3][3] = {{0, -r[2], r[1]}, {r[2], 0, -r[0]}, {-r[1], r[0], 0}};
    const double xx[3][3] = {{0, -x[2], x[1]}, {x[2], 0, -x[0]}, {-x[1], x[0], 0}};
    double a[3][3], b[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            a[i][j] = square == 0 ? i == j : r[i] * r[j];
            for (int k = 0; k < 3 && square != 0; k++)
                a[i][j] += (m[k][i] - (k == i)) * rx[k][j];
            a[i][j] /= square == 0 ? 1 : square;
        }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            b[i][j] = xx[i][0] * a[0][j] + xx[i][1] * a[1][j] + xx[i][2] * a[2][j];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[i][j] = -(m[i][0] * b[0][j] + m[i][1] * b[1][j] + m[i][2] * b[2][j]);
}

typedef struct seen { /* one observation */
    const double *camera;
    double x[3], y[3], m[3][3], u, v, square, length, error[2];
} seen;

static seen look(const void *const *in, int64_t i)
{
    const double *camera = (const double *)in[0] + 11 * ((const int64_t *)in[4])[i];
    const double *point = (const double *)in[1] + 3 * ((const int64_t *)in[5])[i];
    const double *feature = (const double *)in[3] + 2 * i;
    seen s = {.camera = camera};
    for (int k = 0; k < 3; k++)
        s.x[k] = point[k] - camera[3 + k];
    turn(camera, s.x, s.y, s.m);
    s.u = s.y[0] / s.y[2], s.v = s.y[1] / s.y[2];
    s.square = s.u * s.u + s.v * s.v;
    s.length = 1 + camera[9] * s.square + camera[10] * s.square * s.square;
    s.error[0] = s.u * s.length * camera[6] + camera[7] - feature[0];
    s.error[1] = s.v * s.length * camera[6] + camera[8] - feature[1];
    return s;
}

void tessera_values(const int64_t *size, const void *const *in, double *const *out)
{
    const double *w = in[2];
    for (int64_t i = 0; i < size[2]; i++) {
        const seen s = look(in, i);
        out[0][2 * i] = w[i] * s.error[0], out[0][2 * i + 1] = w[i] * s.error[1];
        out[1][i] = 1 - w[i] * w[i];
    }
}

/* The derivatives of an observation's two errors, of weight w */
static void derive(seen *s, double w, double *camera, double *point)
{
    const double *c = s->camera;
    const double bend = 2 * (c[9] + 2 * c[10] * s->square), by_u = bend * s->u, by_v = bend * s->v, z = 1 / s->y[2];
    const double own[2] = {s->u, s->v};
    double turned[3][3];
    by_rotation(c, s->x, s->m, turned);
    for (int i = 0; i < 2; i++) {
        const double du = w * c[6] * (own[i] * by_u + (i == 0) * s->length);
        const double dv = w * c[6] * (own[i] * by_v + (i == 1) * s->length);
        const double dy[3] = {du * z, dv * z, -(du * s->u + dv * s->v) * z};
        double *to = camera + 11 * i;
        for (int k = 0; k < 3; k++) {
            to[k] = dy[0] * turned[0][k] + dy[1] * turned[1][k] + dy[2] * turned[2][k];
            point[3 * i + k] = dy[0] * s->m[0][k] + dy[1] * s->m[1][k] + dy[2] * s->m[2][k];
            to[3 + k] = -point[3 * i + k];
        }
        to[6] = w * own[i] * s->length;
        to[7] = i == 0 ? w : 0, to[8] = i == 1 ? w : 0;
        to[9] = w * c[6] * own[i] * s->square, to[10] = to[9] * s->square;
    }
}

void tessera_slopes(const int64_t *size, const void *const *in, double *const *out)
{
    const double *w = in[2];
    for (int64_t i = 0; i < size[2]; i++) {
        seen s = look(in, i);
        out[0][2 * i] = w[i] * s.error[0], out[0][2 * i + 1] = w[i] * s.error[1];
        out[1][i] = 1 - w[i] * w[i];
        derive(&s, w[i], out[2] + 22 * i, out[3] + 6 * i);
        out[4][2 * i] = s.error[0], out[4][2 * i + 1] = s.error[1];
        out[5][i] = -2 * w[i];
    }
}
