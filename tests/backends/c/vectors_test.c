/* vectors_test.c - all that vectors can do, and the library's functions of them, give the bits that one value gives, in
 * every element, as gcc and clang compile them for each set of instructions; parts and puts leave alone what lies
 * beyond. Texts are compiled for all sets, and run on those that are here. ctest: large timeout=900 */
#include "backends/c/dialect.h"
#include "backends/c/program.h"
#include "backends/c/vectors.h"
#include "backends/cache/child.h"
#include "backends/cpu/machine.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What the program checks an operation with. Drawn bits are numbers of every size; others are those that are apart.
 * Any not-a-number is as good as another: which one a sum of two is, is not said. */
/* clang-format off */
static const char head[] =
    "#include <math.h>\n"
    "#include <stdint.h>\n"
    "#include <stdio.h>\n"
    "#include <string.h>\n"
    "#include <sys/mman.h>\n"
    "static int failures;\n"
    "static unsigned char *edge; /* the first byte that may not be touched */\n"
    "static uint64_t state = 88172645463325252u;\n"
    "static uint64_t draw(void)\n"
    "{\n"
    "    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;\n"
    "    return state * 2685821657736338717u;\n"
    "}\n"
    "static const float apart_f32[] = {0.0f, -0.0f, 1, -1, INFINITY, -INFINITY, NAN, 0.5f, -0.5f, 1.5f, 2.5f, 88.7f,\n"
    "    -87.5f, -103.9f, 89, 0x1p-126f, 0x1p-127f, -0x1p-149f, 0x1.fffffep127f, -0x1.fffffep127f, 3e7f, -3e7f,\n"
    "    8388607.5f, 16777215, 9.1f, 0.55f, 0.95f, 3.925f, 3.14159274f, 1e10f, 65504, 65520,\n"
    "    6e-8f, 5.9e-5f, 0x1p31f, -3};\n"
    "static const double apart_f64[] = {0.0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 0.5, -0.5, 1.5, 2.5, 709.7,\n"
    "    -745.1, 710, 0x1p-1022, 0x1p-1023, -0x1p-1074, 0x1.fffffffffffffp1023, 1e5, -1e5, 1e22,\n"
    "    4503599627370495.5, 0.55, 5.93, 0x1.921fb54442d18p10, 1e-160, 0x1p63, -3, 0x1.fffffefp127, 0x1p-140};\n"
    "static void fill(void *p, int n, int bytes, int real)\n"
    "{\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        const uint64_t u = draw(), which = draw();\n"
    "        float f;\n"
    "        double d;\n"
    "        memcpy((char *)p + i * bytes, &u, (size_t)bytes);\n"
    "        if (real && bytes == 4) {\n"
    "            memcpy(&f, &u, 4);\n"
    "            f = which % 4 == 0 ? apart_f32[which / 4 % (sizeof apart_f32 / 4)]\n"
    "                : which % 4 == 1 ? (float)(u >> 40) * 0x1p-18f * (u & 1 ? 1 : -1) : f;\n"
    "            memcpy((char *)p + 4 * i, &f, 4);\n"
    "        } else if (real) {\n"
    "            memcpy(&d, &u, 8);\n"
    "            d = which % 4 == 0 ? apart_f64[which / 4 % (sizeof apart_f64 / 8)]\n"
    "                : which % 4 == 1 ? (double)(u >> 11) * 0x1p-46 * (u & 1 ? 1 : -1) : d;\n"
    "            memcpy((char *)p + 8 * i, &d, 8);\n"
    "        }\n"
    "    }\n"
    "}\n"
    "static void bad(const char *what, int n, int i)\n"
    "{\n"
    "    if (failures++ < 40) printf(\"%s of %d: element %d is another\\n\", what, n, i);\n"
    "}\n"
    "";
static const char checks[] =
    "#define REAL(t) ((t)0.5 != 0)\n"
    "#define SAME(a, b) (!memcmp(&(a), &(b), sizeof(a)) || ((a) != (a) && (b) != (b)))\n"
    "/* y[i] is `want` of a[i], b[i], c[i], where that counts */\n"
    "#define EACH(what, T, t, R, r, n, many, want, counts) \\\n"
    "    for (int round = 0; round < ROUNDS; round++) { \\\n"
    "        t in[3][n]; \\\n"
    "        r out[n]; \\\n"
    "        fill(in, 3 * n, sizeof(t), REAL(t)); \\\n"
    "        T a, b, c; \\\n"
    "        memcpy(&a, in[0], sizeof a), memcpy(&b, in[1], sizeof b), memcpy(&c, in[2], sizeof c); \\\n"
    "        R y = many; \\\n"
    "        (void)b, (void)c; \\\n"
    "        memcpy(out, &y, sizeof y); \\\n"
    "        for (int i = 0; i < n; i++) { \\\n"
    "            t A = in[0][i], B = in[1][i], C = in[2][i]; \\\n"
    "            r wanted; \\\n"
    "            (void)A, (void)B, (void)C; \\\n"
    "            if (!(counts)) continue; \\\n"
    "            wanted = want; \\\n"
    "            if (!SAME(out[i], wanted)) bad(what, n, i); \\\n"
    "        } \\\n"
    "    }\n"
    "/* Of masks: none, one element's, all */\n"
    "#define ANY(T, n) \\\n"
    "    for (int k = 0; k <= n; k++) { \\\n"
    "        int32_t in[n] = {0}; \\\n"
    "        T a; \\\n"
    "        if (k < n) in[k] = -1; \\\n"
    "        memcpy(&a, in, sizeof a); \\\n"
    "        if (T##_some(a) != (k < n) || !T##_some(a == a)) bad(\"some\", n, k); \\\n"
    "    }\n"
    "";
static const char places[] =
    "/* Of every number of elements, at the end of what there is, and in the midst of other bytes */\n"
    "#define PARTS(what, T, t, n, part, put) \\\n"
    "    for (int k = 0; k <= n; k++) { \\\n"
    "        t in[n], out[n], zero = 0; \\\n"
    "        unsigned char room[sizeof in + 2]; \\\n"
    "        T a; \\\n"
    "        fill(in, n, sizeof(t), 0); \\\n"
    "        memcpy(edge - k * sizeof(t), in, k * sizeof(t)); \\\n"
    "        a = part(edge - k * sizeof(t), k); \\\n"
    "        memcpy(out, &a, sizeof a); \\\n"
    "        for (int i = 0; i < n; i++) \\\n"
    "            if (memcmp(&out[i], i < k ? &in[i] : &zero, sizeof(t))) bad(what \"_part\", n, i); \\\n"
    "        memcpy(&a, in, sizeof a); \\\n"
    "        memset(edge - k * sizeof(t), 0x5a, k * sizeof(t)); \\\n"
    "        put(edge - k * sizeof(t), a, k); \\\n"
    "        if (memcmp(edge - k * sizeof(t), in, k * sizeof(t))) bad(what \"_put\", n, k); \\\n"
    "        memset(room, 0x5a, sizeof room); \\\n"
    "        put(room + 1, a, k); \\\n"
    "        if (memcmp(room + 1, in, k * sizeof(t))) bad(what \"_put\", n, k); \\\n"
    "        for (unsigned i = 0; i < sizeof room; i++) \\\n"
    "            if ((i < 1 || i > k * sizeof(t)) && room[i] != 0x5a) bad(what \"_put beyond\", n, k); \\\n"
    "    }\n"
    "#define MEMORY(what, T, t, n, load, store) \\\n"
    "    { \\\n"
    "        t in[n]; \\\n"
    "        unsigned char from[sizeof in + 1], to[sizeof in + 2] = {0}; \\\n"
    "        fill(in, n, sizeof(t), 0); \\\n"
    "        memcpy(from + 1, in, sizeof in); \\\n"
    "        store(to + 1, load(from + 1)); \\\n"
    "        if (to[0] || to[sizeof in + 1] || memcmp(to + 1, in, sizeof in)) bad(what, n, 0); \\\n"
    "    }\n";

static const char begin[] =
    "int main(void)\n"
    "{\n"
    "    unsigned char *pages = mmap(NULL, 2 * 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);\n"
    "    edge = pages + 65536;\n"
    "    if (pages == MAP_FAILED || mprotect(edge, 65536, PROT_NONE)) return 2;\n";
/* clang-format on */

enum { MOST_BYTES = 128 };
static const char *const scalar[N_ELEMENT] = {"float",   "double",  "int8_t",   "int16_t",  "int32_t",
                                              "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t"};

static bool is_real(element e)
{
    return e == E_F32 || e == E_F64;
}

/* The operations: %T, %M the types of elements and masks, %t, %m of one; %f "f" for floats */
typedef struct operation {
    const char *name, *many, *want, *counts;
    bool real; /* only of reals */
} operation;
static const operation operations[] = {
    {"splat", "%T_splat(in[0][0])", "in[0][0]", "1", false},
    {"count", "%T_count(in[0][0])", "(%t)(in[0][0] + (%t)i)", "1", false},
    {"blend", "%T_blend((%M)(b < c), a, b)", "B < C ? A : B", "1", false},
    {"first", "%T_first(round %% (%n + 1), a, b)", "i < round %% (%n + 1) ? A : B", "1", false},
    {"down", "%T_down(a, round %% %n)", "in[0][(i + round %% %n) %% %n]", "i + round %% %n < %n", false},
    {"fma", "%T_fma(a, b, c)", "%F(A, B, C)", "1", true},
    {"sqrt", "%T_sqrt(a)", "sqrt%f(A)", "1", true},
    {"floor", "%T_floor(a)", "floor%f(A)", "1", true},
    {"ceil", "%T_ceil(a)", "ceil%f(A)", "1", true},
    {"rint", "%T_rint(a)", "rint%f(A)", "1", true},
    {"trunc", "%T_trunc(a)", "trunc%f(A)", "1", true},
    {"abs", "%T_abs(a)", "fabs%f(A)", "1", true},
    {"copysign", "%T_copysign(a, b)", "copysign%f(A, B)", "1", true},
    {"max", "%T_max(a, b)", "B != B ? B : B > A ? B : A", "1", true},
    {"min", "%T_min(a, b)", "B != B ? B : B < A ? B : A", "1", true},
};

static void write_form(text *t, const char *s, element e, int n)
{
    for (; *s; s++)
        if (*s != '%')
            text_bytes(t, s, 1);
        else
            switch (*++s) {
            case 'T': text_add(t, "%sx%d", element_name(e), n); break;
            case 'M': text_add(t, "%sx%d", element_name(element_mask(e)), n); break;
            case 't': text_add(t, "%s", scalar[e]); break;
            case 'm': text_add(t, "%s", scalar[element_mask(e)]); break;
            case 'n': text_add(t, "%d", n); break;
            case 'f': text_add(t, "%s", e == E_F32 ? "f" : ""); break;
            case 'F': text_add(t, "%s", e == E_F32 ? "FMA" : "FMA64"); break;
            default: text_bytes(t, s, 1);
            }
}

static void each(text *t, const char *what, element of, element result, int n)
{
    const char *to = element_name(result);
    text_add(t, "    EACH(\"%s\", %sx%d, %s, %sx%d, %s, %d, ", what, element_name(of), n, scalar[of], to, n,
             scalar[result], n);
}

static void write_operations(text *t, callees *uses, element e, int n)
{
    const dialect *d = &c_dialect;
    const instance l = {e, n};
    text name = {0};
    text_add(&name, "%sx%d", element_name(e), n);
    for (int i = 0; i < COUNT(operations); i++) {
        const operation *o = &operations[i];
        if (o->real && !is_real(e))
            continue;
        callees_lanes(uses, d, o->name, l);
        each(t, o->name, e, e, n);
        write_form(t, o->many, e, n), text_add(t, ", ");
        write_form(t, o->want, e, n), text_add(t, ", ");
        write_form(t, o->counts, e, n), text_add(t, ")\n");
    }
    static const char *const others[] = {"load", "store", "part", "put", "type"};
    for (int i = 0; i < COUNT(others); i++)
        callees_lanes(uses, d, others[i], l);
    text_add(t, "    PARTS(\"%s\", %s, %s, %d, %s_part, %s_put)\n", name.s, name.s, scalar[e], n, name.s, name.s);
    text_add(t, "    MEMORY(\"%s\", %s, %s, %d, %s_load, %s_store)\n", name.s, name.s, scalar[e], n, name.s, name.s);
    if (e == E_I32)
        callees_lanes(uses, d, "some", l), text_add(t, "    ANY(%s, %d)\n", name.s, n);
    for (element to = 0; to < N_ELEMENT; to++) { /* whole numbers of reals are not asked for */
        if ((is_real(e) && !is_real(to)) || element_bytes(to) * n > MOST_BYTES)
            continue;
        callees_lanes(uses, d, "of", (instance){to, n});
        each(t, "of", e, to, n);
        text_add(t, "%sx%d_of(a), (%s)A, 1)\n", element_name(to), n, scalar[to]);
    }
    text_free(&name);
}

static bool kind_at(const char *s, element *e) /* "$f": an element's type */
{
    static const char letters[] = "fd.. iIh.uU";
    static const element of[] = {E_F32, E_F64, 0, 0, 0, E_I32, E_I64, E_U16, 0, E_U32, E_U64};
    const char *at = *s == '$' ? strchr(letters, s[1]) : NULL;
    if (at)
        *e = of[at - letters];
    return at && (s[2] == ' ' || s[2] == ',' || s[2] == ')');
}

/* FUNCTION $f name@($f x, $f y): whether all arguments are of one kind, which the test draws; what takes more is called
 * by one that does not. What gives truth ($i) is of masks. */
static bool head_of(const function *q, element *result, element *of, int *n)
{
    char begins[80];
    snprintf(begins, sizeof begins, " %s@(", q->name);
    const char *s = strstr(q->text, begins);
    element other;
    if (!s || !kind_at(s - 2, result) || !kind_at(s + strlen(begins), of))
        return false;
    *n = 1;
    if (*result == E_I32)
        return false;
    for (const char *end = strchr(s, ')'), *comma = s; (comma = strchr(comma + 1, ',')) && comma < end; ++*n)
        if (!kind_at(comma + 2, &other) || other != *of)
            return false;
    return true;
}

static int write_functions(text *t, callees *uses, int n)
{
    static const char *const many[] = {"(a)", "(a, b)"}, *const one[] = {"(A)", "(A, B)"};
    const dialect *d = &c_dialect;
    const function *const tables[] = {library, library_real, d->function};
    int count = 0;
    for (int i = 0; i < COUNT(tables); i++)
        for (const function *q = tables[i]; q->name; q++) {
            element result, of;
            int args = 1;
            const size_t length = strlen(q->name) - (q->kind == VECTOR ? strlen("_x") : 0);
            char name[64];
            snprintf(name, sizeof name, "%.*s", (int)length, q->name);
            if (q->kind == VECTOR)
                result = of = strstr(name, "64") ? E_F64 : E_F32;
            else if (!callees_have(d, name, length, (instance){E_F32, n}) || !head_of(q, &result, &of, &args))
                continue;
            if (element_bytes(result) * n > MOST_BYTES || element_bytes(of) * n > MOST_BYTES)
                continue;
            callees_lanes(uses, d, name, (instance){E_F32, n}), callees_call(uses, d, name, length);
            each(t, name, of, result, n);
            text_add(t, "%s_x%d%s, %s%s, 1)\n", name, n, many[args - 1], name, one[args - 1]);
            count++;
        }
    return count;
}

/* All of what there is of n elements */
static void write_program(text *out, int n)
{
    text calls = {0}, body = {0};
    callees uses = {0};
    for (element e = 0; e < N_ELEMENT; e++)
        if (element_bytes(e) * n <= MOST_BYTES)
            write_operations(&calls, &uses, e, n);
    CHECK(write_functions(&calls, &uses, n) > 20);
    callees_call(&uses, &c_dialect, "fast_sin", strlen("fast_sin"));
    library_vectors(&body, &c_dialect, &uses);
    library_write(&body, &c_dialect, &uses);
    text_add(&body, "%s%s    return failures != 0;\n}\n", begin, calls.s);
    c_dialect.prelude(out, &(unit_facts){.body = body.s});
    text_add(out, "#define ROUNDS 200\n%s%s%s%s", head, checks, places, body.s);
    text_free(&calls), text_free(&body);
}

/* ---- compilers and sets of instructions ---- */
enum { MOST_WORDS = 48 };
typedef struct words { /* of a command */
    const char *word[MOST_WORDS];
    int n;
} words;

static void add(words *w, const char *const *more)
{
    for (; *more; more++) {
        MUST(w->n + 1 < MOST_WORDS);
        w->word[w->n++] = *more;
    }
}

static bool run(const words *command, bool quiet)
{
    static const child_limits limits = {.wall = 300, .cpu = 300, .memory = INT64_C(8) << 30, .file = 64 << 20};
    words all = {{"/usr/bin/env"}, 1};
    child c = {0};
    err e = {0};
    add(&all, command->word);
    const bool ok = child_start(&c, &(child_job){all.word, (const char *const *)environ, NULL, &limits}, &e) &&
                    child_wait(&c, 1) == 0 && child_succeeded(&c);
    if (!ok && !quiet)
        printf("%s %s: %s\n", command->word[0], command->word[1], text_str(&c.said));
    child_free(&c, 1);
    return ok;
}

static bool here(const char *binary)
{
    return run(&(words){{binary, "--version"}, 2}, true);
}

typedef struct builder {
    const char *compiler, *set, *flag, *emulator; /* set NULL: of this machine, which runs it */
} builder;
static const builder builders[] = {{"gcc", NULL, NULL, NULL},
                                   {"clang", NULL, NULL, NULL},
                                   {"aarch64-linux-gnu-gcc", "neon", NULL, "qemu-aarch64"},
                                   {"clang", "neon", "--target=aarch64-linux-gnu", "qemu-aarch64"}};

static void check(const builder *b, const isa *set, const char *source, const char *binary, bool runs)
{
    static const char *const more[] = {"-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", NULL};
    arena mem = {0};
    words compile = {{b->compiler}, 1}, start = {{0}, 0};
    if (b->emulator) /* the suite's linker, which makes programs for this machine, is not for it */
        compile = (words){{"-u", "COMPILER_PATH", b->compiler}, 3};
    add(&compile, c_flags(&mem, set, false)), add(&compile, more);
    if (b->emulator)
        add(&compile, (const char *const[]){"-static", b->flag, NULL}),
            add(&start, (const char *const[]){b->emulator, NULL});
    add(&compile, (const char *const[]){"-o", binary, source, "-lm", NULL});
    add(&start, (const char *const[]){binary, NULL});
    if (!CHECK(run(&compile, false)) || (runs && !CHECK(run(&start, false))))
        printf("%s, %s, %s\n", b->compiler, set->name, source);
    arena_free(&mem);
}

/* For the builder's set, or each that goes with this machine's; run where somebody has it */
static void check_sets(const builder *b, const char *source, const char *binary)
{
    for (const isa *i = isa_table; i->name; i++)
        if (b->set ? !strcmp(i->name, b->set) : isa_includes(isa_of_host(), i) || isa_includes(i, isa_of_host()))
            check(b, i, source, binary, b->set || isa_includes(isa_of_host(), i));
}

int main(void)
{
    const bool crosses = here("aarch64-linux-gnu-gcc") && here("qemu-aarch64"); /* clang links by gcc's libraries */
    scratch folder = scratch_make();
    for (int n = 2; n <= 16; n *= 2) {
        char source[200], binary[200];
        text t = {0};
        write_program(&t, n);
        snprintf(source, sizeof source, "%s/%d.c", folder.path, n);
        snprintf(binary, sizeof binary, "%s/run", folder.path);
        FILE *f = fopen(source, "w");
        CHECK(f && fputs(t.s, f) >= 0 && !fclose(f));
        for (int i = 0; i < COUNT(builders); i++)
            if (here(builders[i].compiler) && (builders[i].emulator ? crosses && n <= 4 : true))
                check_sets(&builders[i], source, binary);
        text_free(&t);
    }
    if (!crosses)
        puts("no aarch64-linux-gnu-gcc and qemu-aarch64: not compiled for AArch64");
    scratch_free(&folder);
    return check_done();
}
