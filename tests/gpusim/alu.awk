# alu.awk - writes a function for each line of alu.def and cmp.def, in C, and the tables in which decode.c finds them.
# All 32 lanes go through a loop of their own, which the compiler makes vectors of; some of them one by one.
function operands(f, n,   i) {
    for (i = 1; i <= n; i++)
        if (type[i] == "pred") printf "    const uint32_t some_%s = pred_value(w, in->%s);\n", name[i], name[i]
        else if (type[i] == "imm") printf "    const uint32_t %s = (uint32_t)in->imm;\n", name[i]
        else printf "    const uint8_t *p%s = w->R + in->%s;\n", name[i], name[i]
}
function halves(t) { return t ~ /x2$/ }
function element(t) { sub(/x2$/, "", t); return t }

# One lane: its operands, and the result of the expression
function lane(n, result, expression, deep,   i, t) {
    for (i = 1; i <= n; i++) {
        t = type[i]
        if (t == "pred") printf "%sconst bool %s = some_%s >> l & 1;\n", deep, name[i], name[i]
        else if (halves(t)) printf "%sconst uint32_t two_%s = get_u32(p%s, l);\n", deep, name[i], name[i]
        else if (t != "imm") printf "%sconst lane_%s %s = get_%s(p%s, l);\n", deep, t, name[i], t, name[i]
    }
    if (!halves(result)) {
        printf "%sput_%s(pd, l, %s);\n", deep, result, expression
        return
    }
    printf "%suint32_t both = 0;\n%sfor (int s = 0; s < 32; s += 16) {\n", deep, deep
    for (i = 1; i <= n; i++)
        printf "%s    const lane_%s %s = of_%s((uint16_t)(two_%s >> s));\n", deep, element(type[i]), name[i], element(type[i]), name[i]
    printf "%s    both |= (uint32_t)as_%s(%s) << s;\n%s}\n%sput_u32(pd, l, both);\n", deep, element(result), expression, deep, deep
}
function instruction(n, result, expression) {
    printf "static void op_%d(warp *w, const instruction *in, uint32_t m) /* %s */\n{\n    uint8_t *pd = w->R + in->d;\n", ++ops, key
    operands(type, n)
    print "    if (m == ~0u) {\n        _Pragma(\"GCC ivdep\") for (int l = 0; l < LANES; l++) {"
    lane(n, result, expression, "            ")
    print "        }\n    } else {\n        for (uint32_t rest = m; rest; rest &= rest - 1) {\n            const int l = __builtin_ctz(rest);"
    lane(n, result, expression, "            ")
    print "        }\n    }\n}"
    alu = alu sprintf("    {\"%s\", op_%d},\n", key, ops)
}
function comparison(t, expression) {
    printf "static uint32_t cmp_%d(const void *pa, const void *pb) /* %s */\n{\n    uint32_t r = 0;\n", ++cmps, key
    printf "    for (int l = 0; l < LANES; l++) {\n        const lane_%s a = get_%s(pa, l), b = get_%s(pb, l);\n", t, t, t
    printf "        r |= (uint32_t)(%s) << l;\n    }\n    return r;\n}\n", expression
    cmp = cmp sprintf("    {\"%s\", cmp_%d},\n", key, cmps)
}
BEGIN {
    print "/* Written by the build, by alu.awk. */\n#include \"tests/gpusim/lane.h\"\n"
    split("a b c e", name, " ")
}
/^#/ || NF == 0 { next }
{
    at = index($0, " : ")
    if (!at) { print FILENAME ":" FNR ": no expression" > "/dev/stderr"; exit 1 }
    n = split(substr($0, 1, at - 1), word, " ")
    key = word[1]
    expression = substr($0, at + 3)
    if (n == 2) { comparison(word[2], expression); next }
    for (i = 4; i <= n; i++) type[i - 3] = word[i]
    instruction(n - 3, word[2], expression)
}
END {
    printf "const alu_row alu_table[] = {\n%s    {NULL, NULL},\n};\nconst compare_row cmp_table[] = {\n%s    {NULL, NULL},\n};\n", alu, cmp
}
