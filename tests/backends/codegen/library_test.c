/* library_test.c - what functions say that they use is what their text calls, and stands above them; a text defines the
 * function that it is the row of; the larger and the
 * smaller of two numbers, as vectors and as folds, are what the interpreter gives, down to zeros of either sign and
 * not-a-numbers. */
#include "backends/c/dialect.h"
#include "graph/ir/graph.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double special[] = {0.0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 3.5};
enum { N = COUNT(special) };

static void fill(ts_array *a, bool rows) /* [N, N]: special[row], or special[column] */
{
    for (int i = 0; i < N * N; i++) {
        const double v = special[rows ? i / N : i % N];
        if (a->dtype == TS_F32)
            ((float *)a->data)[i] = (float)v;
        else
            ((double *)a->data)[i] = v;
    }
}

static bool same(double a, double b)
{
    return isnan(b) ? isnan(a) : a == b && signbit(a) == signbit(b);
}

static void test(const char *of, dtype d, const char *operation)
{
    char source[512];
    ts_error e = {0};
    ts_tensor t[2];
    int n = 0;
    ts_array judge[2] = {0}, ours[2] = {0};
    ts_given in[2] = {{.name = "a"}, {.name = "b"}};
    ts_graph *g = ts_graph_make();
    snprintf(source, sizeof source,
             "n0 = input \"a\" : %s[%d,%d]\nn1 = input \"b\" : %s[%d,%d]\nn2 = %simum(n0, n1) : %s[%d,%d]\n"
             "n3 = %s(n0) axes=[0] keepdims=0 : %s[%d]\nreturn n2, n3\n",
             of, N, N, of, N, N, operation, of, N, N, operation, of, N);
    bool ok = ts_parse(g, source, 2, t, &n, &e);
    for (int i = 0; ok && i < 2; i++)
        if ((ok = ts_array_make(&in[i].value, d, 2, (int64_t[]){N, N}, &e)))
            fill(&in[i].value, i);
    ok = ok && ts_eval(2, t, 2, in, &(ts_options){.target = "interp"}, judge, &e) &&
         ts_eval(2, t, 2, in, &(ts_options){.target = "c"}, ours, &e);
    if (!CHECK(ok))
        printf("%s%s\n", source, e.text);
    for (int i = 0; ok && i < 2; i++)
        for (int64_t k = 0; k < ts_array_count(&judge[i]); k++)
            if (!CHECK(same(ts_array_at(&ours[i], k), ts_array_at(&judge[i], k))))
                printf("%s %s, output %d, %d: %g, not %g\n", of, operation, i, (int)k, ts_array_at(&ours[i], k),
                       ts_array_at(&judge[i], k));
    for (int i = 0; i < 2; i++)
        ts_array_free(&judge[i]), ts_array_free(&ours[i]), ts_array_free(&in[i].value);
    ts_graph_free(g);
}

static bool calls(const char *body, const char *name)
{
    const size_t n = strlen(name);
    for (const char *s = body; (s = strstr(s, name)); s += n)
        if ((s[n] == '(' || s[n] == '@' || !strncmp(s + n, "_x%n(", 5)) &&
            !strchr("abcdefghijklmnopqrstuvwxyz_0123456789", s[-1]))
            return true;
    return false;
}

static bool takes(const char *head, const char *name) /* a pointer to a value of that type */
{
    char as[64];
    snprintf(as, sizeof as, ", %s *", name);
    return strstr(head, as);
}

static bool lists(const char *uses, const char *name)
{
    const size_t n = strlen(name);
    for (const char *s = uses; (s = strstr(s, name)); s += n)
        if ((s == uses || s[-1] == ' ') && (s[n] == ' ' || s[n] == '!' || !s[n]))
            return true;
    return false;
}

/* Where kernels share a unit, each renames what it has of the library by names of rows. */
static void test_names(const function *row)
{
    static const char head[] = "FUNCTION ";
    for (const char *s = row->text; (s = strstr(s, head)); s += strlen(head)) {
        const char *end = s + strcspn(s, "@("), *at = end;
        while (at && strchr("abcdefghijklmnopqrstuvwxyz_0123456789", at[-1]))
            at--;
        if (!CHECK(at && !strncmp(at, row->name, (size_t)(end - at)) && !row->name[end - at]))
            printf("%s: defines %.*s\n", row->name, (int)(end - at), at);
    }
}

/* The row's text: %N in it is its name, less fast_ and _x. */
static void said(text *t, const function *row)
{
    for (const char *s = row->text; *s; s++)
        if (!strncmp(s, "%N", 2))
            text_add(t, "%.*s", (int)strlen(row->name) - 7, row->name + 5), s++;
        else
            text_bytes(t, s, 1);
}

static void test_uses(const function *row)
{
    text whole = {0};
    said(&whole, row);
    const char *body = strchr(text_str(&whole), '{');
    bool above = true;
    const function *const tables[] = {library, library_real, c_dialect.function};
    for (int t = 0; t < COUNT(tables); t++)
        for (const function *f = tables[t]; f->name; f++) {
            above = above && f != row;
            const bool used = calls(body, f->name) || takes(row->text, f->name);
            if (f != row && !CHECK(used == lists(row->uses, f->name)))
                printf("%s: uses %s is %d, says that it does is %d\n", row->name, f->name, used, !used);
            if (!above && !CHECK(!lists(row->uses, f->name)))
                printf("%s: uses %s, which does not stand above it\n", row->name, f->name);
        }
    text_free(&whole);
}

/* A form's functions are noted by whole names, those they use are written with them, and the flag that some take is
 * seen. */
static void test_callees(void)
{
    const dialect *d = &c_dialect;
    callees uses = {0};
    text t = {0};
    callees_form(&uses, d, "(max@($0, $1) + not_fast_exp($0) + fast_exp * 2)", "f");
    CHECK(!callees_fault(&uses, d));
    library_write(&t, d, &uses);
    if (!CHECK(strstr(text_str(&t), "float maxf(") && !strstr(text_str(&t), "exp")))
        printf("%s", text_str(&t));
    callees_form(&uses, d, "checked(fast_exp($0), 3, fault)", "f");
    CHECK(callees_fault(&uses, d));
    library_write(&t, d, &uses);
    if (!CHECK(strstr(text_str(&t), "exp_rest(") && strstr(text_str(&t), "checked(")))
        printf("%s", text_str(&t));
    text_free(&t);
}

int main(void)
{
    for (const function *f = library; f->name; f++)
        test_uses(f), test_names(f);
    for (const function *f = library_real; f->name; f++)
        test_uses(f), test_names(f);
    for (const function *f = c_dialect.function; f->name; f++)
        test_uses(f), test_names(f);
    test_callees();
    test("f32", TS_F32, "max"), test("f32", TS_F32, "min");
    test("f64", TS_F64, "max"), test("f64", TS_F64, "min");
    return check_done();
}
