/* vectors.c - what vectors can do, in C. All of it is there for vectors of any kind and length, in terms of GCC's
 * vector extension; where an instruction set has an instruction that no compiler makes of that text, a row of
 * `instructions` says so. Another instruction set is more rows. */
#include "backends/c/vectors.h"

#include <string.h>

/* In texts: %T the type, %t of an element, %n how many, %b bytes of one, %I 0, 1, 2, ...; of the same size: %M masks,
 * %V natural numbers, %v one of these; %W: w[0] | w[1] | ..., words of 8 bytes that there are; %Z: see write_turn.
 * Arguments are a, b, c; p is a place in memory, n a number of elements; %N is the name, less fast_ and _x. As
 * instructions are named: of x86 %p ps or pd, %q d or q, %k the type of masks; of AArch64
 * %A 4s, 2d or 2s, %a v4sf, v2df or v2sf. */
/* clang-format off */
static const char each[] = "LANES %T %T_%N(%T a)\n"
                           "{\n"
                           "    for (int i = 0; i < %n; i++) a[i] = %N%f(a[i]);\n"
                           "    return a;\n"
                           "}\n";
const function c_vectors[] = {
    {"type", "", VECTOR,
     "typedef %t %T __attribute__((vector_size(%b * %n)));\n"
     "typedef %t %T_memory __attribute__((vector_size(%b * %n), aligned(%b), may_alias));\n"},
    {"splat", "type", VECTOR, "LANES %T %T_splat(%t a) { return a - (%T){0}; }\n"},
    {"load", "type", VECTOR, "LANES %T %T_load(const void *p) { return *(const %T_memory *)p; }\n"},
    {"store", "type", VECTOR, "LANES void %T_store(void *p, %T a) { *(%T_memory *)p = a; }\n"},
    {"part", "type mask.type", VECTOR,
     "LANES %T %T_part(const void *p, int n) /* the first n; zeros */\n"
     "{\n"
     "    %T a = {0};\n"
     "    __builtin_memcpy(&a, p, (unsigned long)(%b * n));\n"
     "    return a;\n"
     "}\n"},
    {"put", "type mask.type", VECTOR,
     "LANES void %T_put(void *p, %T a, int n) /* the first n */\n"
     "{\n"
     "    __builtin_memcpy(p, &a, (unsigned long)(%b * n));\n"
     "}\n"},
    {"of", "type", VECTOR, "#define %T_of(a) __builtin_convertvector(a, %T)\n"},
    {"narrow", "type mask.type", VECTOR, /* of whole numbers of 32 bits, modulo */
     "LANES %T %T_narrow(int32_t __attribute__((vector_size(4 * %n))) a)\n"
     "{\n"
     "    return __builtin_convertvector(a, %T);\n"
     "}\n"},
    {"count", "type", VECTOR, "LANES %T %T_count(%t a) { return a + (%T){%I}; }\n"},
    {"blend", "type mask.type", VECTOR,
     "LANES %T %T_blend(%M c, %T a, %T b)\n"
     "{\n"
     "#ifdef __clang__\n" /* clang 14.0 takes wrong operands of the other text with AVX-512VL, in fast_pow_x4 */
     "    return (%T)((((%M)a ^ (%M)b) & c) ^ (%M)b);\n"
     "#else\n"
     "    return (%T)((c & (%M)a) | (~c & (%M)b));\n"
     "#endif\n"
     "}\n"},
    {"first", "blend mask.type", VECTOR,
     "LANES %T %T_first(int n, %T a, %T b) { return %T_blend((%M){%I} < (%m)n, a, b); } /* the first n of a */\n"},
    {"some", "type", VECTOR, /* of a mask */
     "LANES int %T_some(%T a)\n"
     "{\n"
     "    uint64_t w[%b * %n / 8];\n"
     "    __builtin_memcpy(w, &a, sizeof w);\n"
     "    return (%W) != 0;\n"
     "}\n"},
    {"fma", "type", VECTOR,
     "LANES %T %T_fma(%T a, %T b, %T c)\n"
     "{\n"
     "#if defined __FMA__ || defined __ARM_FEATURE_FMA || defined FUSED\n"
     "    for (int i = 0; i < %n; i++) c[i] = %F(a[i], b[i], c[i]);\n"
     "    return c;\n"
     "#else\n"
     "    return a * b + c;\n"
     "#endif\n"
     "}\n"},
    {"sqrt", "type", VECTOR, each},
    {"floor", "type", VECTOR, each},
    {"ceil", "type", VECTOR, each},
    {"rint", "type", VECTOR, each},
    {"trunc", "type", VECTOR, each},
    {"abs", "type mask.type", VECTOR, "LANES %T %T_abs(%T a) { return (%T)((%M)a & (%m)(~(%v)0 >> 1)); }\n"},
    {"copysign", "type mask.type", VECTOR,
     "LANES %T %T_copysign(%T a, %T b)\n"
     "{\n"
     "    const %m size = (%m)(~(%v)0 >> 1);\n"
     "    return (%T)(((%M)a & size) | ((%M)b & ~size));\n"
     "}\n"},
    {"above", "blend", VECTOR, "LANES %T %T_above(%T a, %T b) { return %T_blend(a > b, a, b); }\n"},
    /* The larger as processors have it, which is the first where they are equal, then not-a-numbers */
    {"max", "above blend mask.type", VECTOR,
     "LANES %T %T_max(%T a, %T b) { return %T_blend(b != b, b, %T_above(b, a)); }\n"},
    {"min", "blend mask.type", VECTOR,
     "LANES %T %T_min(%T a, %T b) { return %T_blend(b != b, b, %T_blend(b < a, b, a)); }\n"},
    {"word", "type", VECTOR, /* in each element */
     "LANES %T %T_word(const void *p)\n"
     "{\n"
     "    %t a;\n"
     "    __builtin_memcpy(&a, p, %b);\n"
     "    return a - (%T){0};\n"
     "}\n"},
    {"pairs", "type", VECTOR, /* whole numbers of a quarter of the size become ones of half of it */
     "LANES %T %T_pairs(const void *p)\n"
     "{\n"
     "    typedef int8_t narrow __attribute__((vector_size(2 * %n), aligned(1), may_alias));\n"
     "    typedef int16_t wide __attribute__((vector_size(4 * %n)));\n"
     "    return (%T)__builtin_convertvector(*(const narrow *)p, wide);\n"
     "}\n"},
    {"dot2", "type", VECTOR, /* two products of numbers of 16 bits each */
     "LANES %T %T_dot2(%T c, %T a, %T b)\n"
     "{\n"
     "    return c + (a << 16 >> 16) * (b << 16 >> 16) + (a >> 16) * (b >> 16);\n"
     "}\n"},
    {"dot4", "type", VECTOR, /* four of natural numbers of 8 bits and whole ones */
     "LANES %T %T_dot4(%T c, %T a, %T b)\n"
     "{\n"
     "    for (int i = 0; i < 32; i += 8) c += (a >> i & 255) * (b << (24 - i) >> 24);\n"
     "    return c;\n"
     "}\n"},
    {"turn", "type mask.type UNROLL! ZIP!", VECTOR, /* element j of vector i becomes element i of vector j */
     "LANES void %T_turn(%T *a)\n"
     "{\n"
     "    typedef %M lanes __attribute__((unused)); /* by gcc alone */\n"
     "%Z"
     "}\n"},
    {"turned", "turn UNROLL!", VECTOR, /* rows are so many elements apart */
     "LANES void %T_turned(void *to, long to_row, const void *from, long from_row) /* 16 rows and columns */\n"
     "{\n"
     "    for (int i = 0; i < 16; i += %n)\n"
     "        for (int j = 0; j < 16; j += %n) {\n"
     "            const %t *x = (const %t *)from + i * from_row + j;\n"
     "            %t *y = (%t *)to + j * to_row + i;\n"
     "            %T a[%n];\n"
     "            UNROLL(%n)\n"
     "            for (int k = 0; k < %n; k++) a[k] = *(const %T_memory *)(x + k * from_row);\n"
     "            %T_turn(a);\n"
     "            UNROLL(%n)\n"
     "            for (int k = 0; k < %n; k++) *(%T_memory *)(y + k * to_row) = a[k];\n"
     "        }\n"
     "}\n"},
    {"within", "max min", VECTOR,
     "LANES %T %T_within(%T a, %t low, %t high) /* 0 of what is no number */\n"
     "{\n"
     "    return %T_blend(a == a, %T_min(%T_max(a, low - (%T){0}), high - (%T){0}), (%T){0});\n"
     "}\n"},
    {"down", "type mask.type", VECTOR,
     "LANES %T %T_down(%T a, int n) /* element n becomes the first */\n"
     "{\n"
     "#ifdef __clang__\n"
     "    %T b = a;\n"
     "    for (int i = 0; i + n < %n; i++) b[i] = a[i + n];\n"
     "    return b;\n"
     "#else\n"
     "    return __builtin_shuffle(a, (%M){%I} + (%m)n);\n"
     "#endif\n"
     "}\n"},
    {0},
};

/* Instructions of AArch64 by assembly, for which no header need be read: arm_neon.h takes as long as a small kernel. Of
 * products gcc has to know: it then takes a factor that is the same for all from where it is, in an element. */
#define NEON       "__ARM_NEON && defined __aarch64__"
#define NEON_GCC   NEON " && !defined __clang__"
#define NEON_CLANG NEON " && defined __clang__"
enum { REALS = N_ELEMENT, NEON_BYTES = -16 };
typedef struct instruction {
    const char *op;
    int of;           /* an element, or REALS */
    int bytes;        /* of a vector; of NEON_BYTES and less, if negative */
    const char *when; /* the compiler has it: behind `#if defined` */
    const char *text; /* what is returned, or done; with a ; behind it the whole body */
} instruction;
/* gcc 12 goes element by element where there is no instruction for all. */
#define NARROWS "__AVX2__ && !defined __AVX512VL__ && !defined __clang__"
#define NARROWED(apart)                                                         \
    "typedef %t all __attribute__((vector_size(4 * %n)));\n"                    \
    "    const all b = __builtin_shuffle((all)a, (all){%I} * " apart ");\n"     \
    "    %T c;\n    __builtin_memcpy(&c, &b, %b * %n);\n    return c;"
#define VNNI "__AVX512VNNI__ && !defined __clang__"
static const char asm_dot4[] = "__asm__(\"vpdpbusd %2, %1, %0\" : \"+v\"(c) : \"v\"(a), \"v\"(b));\n    return c;";
/* gcc: sums are not changed in their order, and nothing by assembly, around which -O1 keeps no array in registers */
#define HALVES "typedef int16_t halves __attribute__((vector_size(4 * %n)));\n    return "
#define NARROW                                                                           \
    "typedef int16_t wide __attribute__((vector_size(4 * %n)));\n"                       \
    "    typedef char narrow __attribute__((vector_size(2 * %n), aligned(1), may_alias));\n" \
    "    return (%T)"
static const instruction instructions[] = {
    {"fma", REALS, 64, "__AVX512F__", "__builtin_ia32_vfmadd%p512_mask(a, b, c, (%k)-1, 4)"},
    {"fma", REALS, 32, "__FMA__", "__builtin_ia32_vfmadd%p256(a, b, c)"},
    {"fma", REALS, 16, "__FMA__", "__builtin_ia32_vfmadd%p(a, b, c)"},
    {"sqrt", REALS, 64, "__AVX512F__ && !defined __clang__", "__builtin_ia32_sqrt%p512_mask(a, a, (%k)-1, 4)"},
    {"sqrt", REALS, 32, "__AVX__", "__builtin_ia32_sqrt%p256(a)"},
    {"sqrt", REALS, 16, "__SSE2__", "__builtin_ia32_sqrt%p(a)"},
    {"floor", REALS, 64, "__AVX512F__", "__builtin_ia32_rndscale%p_mask(a, 1, a, (%k)-1, 4)"},
    {"floor", REALS, 32, "__AVX__", "__builtin_ia32_round%p256(a, 1)"},
    {"ceil", REALS, 64, "__AVX512F__", "__builtin_ia32_rndscale%p_mask(a, 2, a, (%k)-1, 4)"},
    {"ceil", REALS, 32, "__AVX__", "__builtin_ia32_round%p256(a, 2)"},
    {"trunc", REALS, 64, "__AVX512F__", "__builtin_ia32_rndscale%p_mask(a, 3, a, (%k)-1, 4)"},
    {"trunc", REALS, 32, "__AVX__", "__builtin_ia32_round%p256(a, 3)"},
    {"rint", REALS, 64, "__AVX512F__", "__builtin_ia32_rndscale%p_mask(a, 4, a, (%k)-1, 4)"},
    {"rint", REALS, 32, "__AVX__", "__builtin_ia32_round%p256(a, 4)"},
    {"some", E_I32, 32, "__AVX__", "!__builtin_ia32_ptestz256((%L)a, (%L)a)"},
    {"blend", REALS, 64, "__AVX512DQ__ && defined __clang__",
     "__builtin_ia32_select%p_512((%k)__builtin_ia32_cvt%q2mask512(c), a, b)"},
    {"blend", REALS, 16, "__AVX__", "__builtin_ia32_blendv%p(b, a, (%T)c)"},
    {"blend", REALS, 32, "__AVX__", "__builtin_ia32_blendv%p256(b, a, (%T)c)"},
    {"above", REALS, 64, "__AVX512F__ && !defined __clang__", "__builtin_ia32_max%p512_mask(a, b, b, (%k)-1, 4)"},
    {"above", REALS, 32, "__AVX__", "__builtin_ia32_max%p256(a, b)"},
    {"above", REALS, 16, "__SSE2__", "__builtin_ia32_max%p(a, b)"},
    {"min", REALS, 64, "__AVX512F__ && !defined __clang__",
     "%T_blend(b != b, b, __builtin_ia32_min%p512_mask(b, a, a, (%k)-1, 4))"},
    {"min", REALS, 32, "__AVX__", "%T_blend(b != b, b, __builtin_ia32_min%p256(b, a))"},
    {"min", REALS, 16, "__SSE2__", "%T_blend(b != b, b, __builtin_ia32_min%p(b, a))"},
    {"dot2", E_I32, 64, "__AVX512BW__ && !defined __clang__",
     HALVES "__builtin_ia32_paddd512_mask(c, __builtin_ia32_pmaddwd512_mask((halves)a, (halves)b, c, 65535), c, "
            "65535);"},
    {"dot2", E_I32, 32, "__AVX2__ && !defined __clang__",
     HALVES "__builtin_ia32_paddd256(c, __builtin_ia32_pmaddwd256((halves)a, (halves)b));"},
    {"dot2", E_I32, 32, "__AVX2__", HALVES "c + __builtin_ia32_pmaddwd256((halves)a, (halves)b);"},
    {"dot2", E_I32, 64, "__AVX512BW__", HALVES "c + __builtin_ia32_pmaddwd512((halves)a, (halves)b);"},
    {"dot2", E_I32, 16, "__SSE2__", HALVES "c + __builtin_ia32_pmaddwd128((halves)a, (halves)b);"},
    {"pairs", E_I32, 64, "__AVX512BW__ && !defined __clang__",
     NARROW "__builtin_ia32_pmovsxbw512_mask(*(const narrow *)p, (wide){0}, (unsigned)-1);"},
    {"pairs", E_I32, 32, "__AVX2__ && !defined __clang__",
     NARROW "(wide)__builtin_ia32_pmovsxbw256(*(const narrow *)p);"},
    {"dot4", E_I32, 64, VNNI, "__builtin_ia32_vpdpbusd_v16si(c, a, b)"},
    {"dot4", E_I32, 32, VNNI, "__builtin_ia32_vpdpbusd_v8si(c, a, b)"},
    {"dot4", E_I32, 16, VNNI, "__builtin_ia32_vpdpbusd_v4si(c, a, b)"},
    {"dot4", E_I32, 64, "__AVX512VNNI__", asm_dot4}, {"dot4", E_I32, 32, "__AVX512VNNI__", asm_dot4},
    {"dot4", E_I32, 16, "__AVX512VNNI__", asm_dot4},
    {"narrow", E_I8, 16, "__AVX512F__",
     "typedef char bytes __attribute__((vector_size(16)));\n"
     "    return (%T)__builtin_ia32_pmovdb512_mask(a, (bytes){0}, 65535);"},
    {"narrow", E_I8, 8, NARROWS, NARROWED("4")}, {"narrow", E_I8, 4, NARROWS, NARROWED("4")},
    {"narrow", E_I16, 16, NARROWS, NARROWED("2")}, {"narrow", E_I16, 8, NARROWS, NARROWED("2")},
    {"part", REALS, 64, "__AVX512F__", "__builtin_ia32_loadu%p512_mask(p, (%T){0}, (%k)((1 << n) - 1))"},
    {"part", REALS, 32, "__AVX2__", "__builtin_ia32_maskload%p256(p, (%M){%I} < n)"},
    {"put", REALS, 64, "__AVX512F__", "__builtin_ia32_storeu%p512_mask(p, a, (%k)((1 << n) - 1))"},
    {"put", REALS, 32, "__AVX2__", "__builtin_ia32_maskstore%p256(p, (%M){%I} < n, a)"},
    {"fma", REALS, NEON_BYTES, NEON_GCC, "__builtin_aarch64_fma%a(a, b, c)"},
    {"fma", REALS, NEON_BYTES, NEON_CLANG,
     "__asm__(\"fmla %0.%A, %1.%A, %2.%A\" : \"+w\"(c) : \"w\"(a), \"w\"(b));\n    return c;"},
    {"sqrt", REALS, NEON_BYTES, NEON, "__asm__(\"fsqrt %0.%A, %0.%A\" : \"+w\"(a));\n    return a;"},
    {"floor", REALS, NEON_BYTES, NEON, "__asm__(\"frintm %0.%A, %0.%A\" : \"+w\"(a));\n    return a;"},
    {"ceil", REALS, NEON_BYTES, NEON, "__asm__(\"frintp %0.%A, %0.%A\" : \"+w\"(a));\n    return a;"},
    {"trunc", REALS, NEON_BYTES, NEON, "__asm__(\"frintz %0.%A, %0.%A\" : \"+w\"(a));\n    return a;"},
    {"rint", REALS, NEON_BYTES, NEON, "__asm__(\"frintx %0.%A, %0.%A\" : \"+w\"(a));\n    return a;"},
    {"half_to_float", E_F32, 16, NEON,
     "f32x4 f;\n    __asm__(\"fcvtl %0.4s, %1.4h\" : \"=w\"(f) : \"w\"(h));\n    return f;"},
    {"float_to_half", E_F32, 16, NEON, /* all not-a-numbers of a sign are one, as by the text for all */
     "u16x4 h;\n    __asm__(\"fcvtn %0.4h, %1.4s\" : \"=w\"(h) : \"w\"(f));\n"
     "    return h & ~(__builtin_convertvector(f != f, u16x4) & 0x1ff);"},
};
/* clang-format on */

static const char *const scalar[N_ELEMENT] = {"float",   "double",  "int8_t",   "int16_t",  "int32_t",
                                              "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t"};

static const char *natural(int bytes) /* a number of that size */
{
    return bytes == 1 ? "uint8_t" : bytes == 2 ? "uint16_t" : bytes == 4 ? "uint32_t" : "uint64_t";
}

/* Of vectors so far apart halves change places, then quarters of halves, and so on. */
static void write_turn(text *t, instance l)
{
    const char *of = element_name(l.of);
    for (int n = l.n, far = n / 2; far; far /= 2) {
        text_add(t, "    UNROLL(%d)\n    for (int i = 0; i < %d; i++) {\n", n / 2, n / 2);
        text_add(t, "        %sx%d *const p = a + i / %d * %d + i %% %d, b = p[0], c = p[%d];\n", of, n, far, 2 * far,
                 far, far);
        for (int second = 0; second < 2; second++) {
            text_add(t, "        p[%d] = ZIP(b, c", second * far);
            for (int k = 0; k < n; k++)
                text_add(t, ", %d", k / far % 2 ? n + k - (second ? 0 : far) : k + (second ? far : 0));
            text_add(t, ");\n");
        }
        text_add(t, "    }\n");
    }
}

static void write_form(text *t, const char *s, const char *name, instance l)
{
    const int bytes = element_bytes(l.of);
    name += strncmp(name, "fast_", 5) ? 0 : 5;
    for (; *s; s++)
        if (*s != '%') {
            text_bytes(t, s, 1);
            continue;
        } else
            switch (*++s) {
            case 'T': text_add(t, "%sx%d", element_name(l.of), l.n); break;
            case 't': text_add(t, "%s", scalar[l.of]); break;
            case 'M': text_add(t, "%sx%d", element_name(element_mask(l.of)), l.n); break;
            case 'm': text_add(t, "%s", scalar[element_mask(l.of)]); break;
            case 'v': text_add(t, "%s", natural(bytes)); break;
            case 'n': text_add(t, "%d", l.n); break;
            case 'N': text_add(t, "%.*s", (int)strcspn(name, "_"), name); break;
            case 'b': text_add(t, "%d", bytes); break;
            case 'f': text_add(t, "%s", bytes == 4 ? "f" : ""); break;
            case 'F': text_add(t, "%s", bytes == 4 ? "FMA" : "FMA64"); break;
            case 'p': text_add(t, "%s", bytes == 4 ? "ps" : "pd"); break;
            case 'q': text_add(t, "%s", bytes == 4 ? "d" : "q"); break;
            case 'k': text_add(t, "unsigned %s", bytes == 4 ? "short" : "char"); break;
            case 'a': text_add(t, "v%d%s", l.n, bytes == 4 ? "sf" : "df"); break;
            case 'A': text_add(t, "%d%s", l.n, bytes == 4 ? "s" : "d"); break;
            case 'L': text_add(t, "__attribute__((vector_size(%d))) long long", bytes * l.n); break;
            case 'Z': write_turn(t, l); break;
            case 'W':
                for (int i = 0; i < bytes * l.n / 8; i++)
                    text_add(t, i ? " | w[%d]" : "w[%d]", i);
                break;
            case 'I':
                for (int i = 0; i < l.n; i++)
                    text_add(t, i ? ", %d" : "%d", i);
                break;
            default: text_bytes(t, s - 1, 2); /* an operand of assembly */
            }
}

static bool is_of(const instruction *i, const char *op, instance l)
{
    const int bytes = element_bytes(l.of) * l.n;
    return !strcmp(i->op, op) && (i->of == (int)l.of || (i->of == REALS && l.of <= E_F64)) &&
           (i->bytes == bytes || bytes <= -i->bytes);
}

/* A piece of the function's text, of those elements; what the library has for vectors is written */
static void write_piece(text *t, const function *f, const char *s, size_t n, instance l)
{
    ENDED_BY(text_free) text piece = {0};
    text_bytes(&piece, s, n);
    if (f->kind == VECTOR)
        write_form(t, text_str(&piece), f->name, l);
    else
        text_add(t, "%s", text_str(&piece));
}

static void write_own(text *t, const instruction *own, const function *f, instance l)
{
    const bool whole = own->text[strlen(own->text) - 1] == ';', gives = !strstr(f->text, "LANES void");
    text_add(t, "{\n    ");
    if (!whole && gives)
        write_form(t, strncmp(f->text, "LANES %T", 8) ? "return " : "return (%T)", f->name, l);
    write_form(t, own->text, f->name, l);
    text_add(t, whole ? "\n}\n" : ";\n}\n");
}

/* The head, then what the first of these instructions gives that there is, or else the body in general. */
void c_vector_write(text *t, const function *f, instance l)
{
    const char *body = f->text;
    for (int i = 0; i < COUNT(instructions); i++) {
        const bool first = body == f->text;
        if (!is_of(&instructions[i], f->name, l))
            continue;
        if (first) {
            body = strchr(f->text, '{');
            write_piece(t, f, f->text, (size_t)(body - f->text) - 1, l); /* less a blank */
        }
        text_add(t, first ? "\n#if defined %s\n" : "#elif defined %s\n", instructions[i].when);
        write_own(t, &instructions[i], f, l);
    }
    text_add(t, body == f->text ? "" : "#else\n");
    write_piece(t, f, body, strlen(body), l);
    text_add(t, body == f->text ? "" : "#endif\n");
}
