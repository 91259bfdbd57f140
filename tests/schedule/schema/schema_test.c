/* Schema files: what is read, what is refused and in which words, what extends and override amount to, and which
 * kernels a rule is for. */
#include "schedule/schema/schema.h"
#include "schedule/schema/schemas.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The folder's path in a message, as "@". */
static char *without(const char *s, const char *folder)
{
    text t = {0};
    for (const char *at; (at = strstr(s, folder)); s = at + strlen(folder)) {
        text_bytes(&t, s, (size_t)(at - s));
        text_add(&t, "@");
    }
    text_add(&t, "%s", s);
    return text_take(&t);
}

static void save(const scratch *s, const char *name, const char *source, size_t n)
{
    CHECK(file_save(scratch_in(s, name), source, n, NULL));
}

static bool load(const scratch *s, const char *name, arena *mem, schema *out, err *e)
{
    return schema_load(mem, scratch_in(s, name), &(schema_use){.by = "c", .kind = "cpu"}, out, e);
}

static void refused_bytes(const char *source, size_t n, ts_code code, const char *want)
{
    scratch s = scratch_make();
    arena mem = {0};
    schema out;
    err e = {0};
    save(&s, "x.json", source, n);
    if (!CHECK(!load(&s, "x.json", &mem, &out, &e)))
        printf("  accepted: %s\n", source);
    char *got = without(e.text, s.path);
    CHECK_TEXT(got, want);
    if (!CHECK(e.code == code))
        printf("  code %d: %s\n", e.code, got);
    free(got);
    arena_free(&mem);
    scratch_free(&s);
}

static void refused(const char *source, const char *want)
{
    refused_bytes(source, strlen(source), TS_BAD_INPUT, want);
}

/* A file with one rule, whose braces hold this. */
static void rule_refused(ts_code code, const char *members, const char *want)
{
    char source[600];
    snprintf(source, sizeof source, "{\"format\":\"tiling/1\",\"rules\":[\n  {%s}]}", members);
    refused_bytes(source, strlen(source), code, want);
}

#define CUT "  hint: close what is open by ] or }, or get the file anew if it was cut off"

static void test_not_json(void)
{
    refused("", "@/x.json:1:1: the JSON text ends too early\n" CUT);
    refused("{\n  \"format\": \"tiling/1\",\n  \"rules\": [],\n}",
            "@/x.json:4:1: not JSON from here on\n  hint: no comma after the last one");
    refused("{\"rules\": 'x'}", "@/x.json:1:11: not JSON from here on\n  hint: strings take double quotes");
    refused("{} // done", "@/x.json:1:4: not JSON from here on\n  hint: a comment is a member: \"//\": \"text\"");
    refused("{\"name\": \"a\" \"rules\": []}",
            "@/x.json:1:14: not JSON from here on\n  hint: a comma may be missing before it");
    refused("{\"name\": \"a", "@/x.json:1:10: a string that never ends");
    refused("{\"name\": \"a\\q\"}", "@/x.json:1:12: an escape that JSON does not have");
    refused("{\"name\": [}", "@/x.json:1:11: not JSON from here on");
    refused("{\"name\": [1,", "@/x.json:1:13: the JSON text ends too early\n" CUT);
    refused("{\"name\": \"\xC3\xA4\xFF\"}", "@/x.json:1:12: not UTF-8");
    refused("{\"name\": \"a\nb\"}",
            "@/x.json:1:12: a control character within a string; write it as \\n, \\t or \\u00XX");
    refused("{\"name\": \"a\\u0000b\"}", "@/x.json:1:12: \\u0000 within a string");
    refused_bytes("{}\0{}", 5, TS_BAD_INPUT, "@/x.json:1:3: a NUL byte");
    refused("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "@/x.json:1:33: nested more than 32 levels deep");
    refused("{\"name\": \"a\",\n \"rules\": [{\"name\": \"a\", \"na\\u006de\": \"b\"}]}",
            "@/x.json:2:39 (/rules/0/name): the key \"name\" twice");
    size_t n = (1 << 20) + 1;
    char *big = malloc(n);
    memset(big, ' ', n);
    refused_bytes(big, n, TS_MEMORY, "'@/x.json' is larger than the limit of 1048576 bytes");
    free(big);
}

static void test_top(void)
{
    refused("[]", "@/x.json:1:1: an object expected, not a list");
    refused("{\"rules\": []}", "@/x.json:1:1: no \"format\"\n  hint: a schema starts { \"format\": \"tiling/1\", ...");
    refused("{\"format\": \"tiling/2\"}",
            "@/x.json:1:12 (/format): format \"tiling/2\" is not known; this is \"tiling/1\"");
    refused("{\"format\": \"tiling/1\"}", "@/x.json:1:1: neither \"rules\" nor \"extends\"");
    refused("{\"format\":\"tiling/1\",\n\"rule\":[]}",
            "@/x.json:2:8 (/rule): unknown key \"rule\"\n  hint: did you mean rules?\n"
            "  hint: the keys here are format, name, extends, override, target, rules, and \"//\" for comments");
    refused("{\"format\":\"tiling/1\",\"rules\":{}}", "@/x.json:1:30 (/rules): a list expected, not an object");
    refused("{\"format\":\"tiling/1\",\"name\":7,\"rules\":[]}", "@/x.json:1:29 (/name): text expected, not a number");
    refused("{\"format\":\"tiling/1\",\"target\":\"gpu\",\"rules\":[]}",
            "@/x.json:1:31 (/target): the schema is for target \"gpu\", the plan for \"c\"");
    refused("{\"format\":\"tiling/1\",\"rules\":[7]}", "@/x.json:1:31 (/rules/0): an object expected, not a number");
    refused("{\"format\":\"tiling/1\",\"override\":{},\"rules\":[]}",
            "@/x.json:1:33 (/override): \"override\" without \"extends\": there is nothing to override");
}

static void test_rules(void)
{
    rule_refused(
        TS_BAD_INPUT, "\"lops\": \"m n k\"",
        "@/x.json:2:12 (/rules/0/lops): unknown key \"lops\"\n  hint: did you mean loops?\n  hint: the keys here are "
        "name, match, loops, layout, fuse, masked, blocks, place, compute, reuse, recompute, alternative, optional, "
        "and "
        "\"//\" for comments");
    rule_refused(TS_BAD_INPUT, "\"loops\": []",
                 "@/x.json:2:13 (/rules/0/loops): \"loops\" is an empty list; leave it out instead");
    rule_refused(TS_BAD_INPUT, "\"loops\": [\"m n k\", \" \"]", "@/x.json:2:23 (/rules/0/loops/1): empty text");
    rule_refused(TS_BAD_INPUT, "\"loops\": [\"m n k\", {}]",
                 "@/x.json:2:23 (/rules/0/loops/1): text or a list of texts expected, not an object");
    rule_refused(TS_BAD_INPUT, "\"name\": \"\"", "@/x.json:2:12 (/rules/0/name): \"name\" is empty");
    rule_refused(TS_BAD_INPUT, "\"optional\": 1",
                 "@/x.json:2:16 (/rules/0/optional): a truth value expected, not a number");
    rule_refused(TS_BAD_INPUT, "\"match\": {\"ops\": \"matmul\"}",
                 "@/x.json:2:21 (/rules/0/match/ops): unknown key \"ops\"\n  hint: did you mean op?\n"
                 "  hint: the keys here are op, name, stage, dims, dtype, target, and \"//\" for comments");
    rule_refused(TS_BAD_INPUT, "\"match\": {\"op\": \"matmull\"}",
                 "@/x.json:2:20 (/rules/0/match/op): no operation \"matmull\"\n  hint: did you mean matmul?\n"
                 "  hint: tessera ops lists them");
    rule_refused(TS_BAD_INPUT, "\"match\": {\"op\": \"uniqu\"}", /* the last operations are known, too */
                 "@/x.json:2:20 (/rules/0/match/op): no operation \"uniqu\"\n  hint: did you mean unique?\n"
                 "  hint: tessera ops lists them");
    rule_refused(TS_BAD_INPUT, "\"match\": {\"dtype\": \"float\"}",
                 "@/x.json:2:23 (/rules/0/match/dtype): no data type \"float\"");
    static const char *const tests[] = {
        "=>3", "", ">= ", "3..", "5..3", "%0==0", "%8", "12x", "-1", "<0", "99999999999999999999"};
    for (int i = 0; i < COUNT(tests); i++) {
        char members[100], want[300];
        snprintf(members, sizeof members, "\"match\": {\"dims\": {\"m/n\": \"%s\"}}", tests[i]);
        snprintf(want, sizeof want,
                 "@/x.json:2:30 (/rules/0/match/dims/\"m/n\"): \"%s\" is no test of an extent\n"
                 "  hint: tests look like \">=768\", \"<=64\", \"64..512\", \"128\", \"%%48==0\"",
                 tests[i]);
        rule_refused(TS_BAD_INPUT, members, want);
    }
    rule_refused(
        TS_BAD_INPUT, "\"layout\": {\"weight\": \"n k\"}",
        "@/x.json:2:25 (/rules/0/layout/weight): no operand \"weight\"; they are a, b, ..., the result y or, of a "
        "stage, matmul2.b");
    rule_refused(
        TS_UNSUPPORTED, "\"compute\": \"bf16x6\"",
        "@/x.json:2:15 (/rules/0/compute): compute \"bf16x6\" is not available\n  hint: available are f32, tf32");
    rule_refused(TS_BAD_INPUT, "\"place\": \"gpu:\"",
                 "@/x.json:2:13 (/rules/0/place): place \"gpu:\" is no name of a device\n  hint: names look like "
                 "\"cpu\" or \"gpu:0\"; \"auto\" leaves it to the plan");
    rule_refused(TS_BAD_INPUT, "\"place\": \"GPU 0\"",
                 "@/x.json:2:13 (/rules/0/place): place \"GPU 0\" is no name of a device\n  hint: names look like "
                 "\"cpu\" or \"gpu:0\"; \"auto\" leaves it to the plan");
    rule_refused(TS_UNSUPPORTED, "\"fuse\": \"all\"",
                 "@/x.json:2:12 (/rules/0/fuse): fuse \"all\" is not available\n  hint: available are auto, none");
}

static void test_recompute(void)
{
    rule_refused(TS_BAD_INPUT, "\"recompute\": \"softmax\"",
                 "@/x.json:2:17 (/rules/0/recompute): a truth value expected, not text\n"
                 "  hint: true: computed again for the backward pass; false: kept, whatever later rules say");
    rule_refused(
        TS_UNSUPPORTED, "\"recompute\": true, \"match\": {\"op\": \"matmul\", \"dims\": {\"n\": \">1\"}}",
        "@/x.json:2:17 (/rules/0/recompute): \"recompute\" with \"dims\": it is said of operations, dims are those "
        "of kernels\n  hint: match \"op\", \"name\" or \"dtype\", and put loops for dims in a rule of their own");
    rule_refused(
        TS_UNSUPPORTED, "\"recompute\": true, \"match\": {\"stage\": \"exp\"}",
        "@/x.json:2:17 (/rules/0/recompute): \"recompute\" with \"stage\": it is said of operations, stages are those "
        "of kernels\n  hint: match \"op\", \"name\" or \"dtype\", and put loops for stage in a rule of their own");
}

static void print_rule(text *t, const rule *r)
{
    text_add(t, "%s:", r->name);
    for (int i = 0; i < r->n_op; i++)
        text_add(t, " %s", r->op[i]);
    text_add(t, " name=%s dtype=%s", r->glob ? r->glob : "*", r->dtype ? r->dtype : "*");
    for (int i = 0; i < r->n_dim; i++)
        text_add(t, " %s=[%lld,%lld]%%%lld", r->dim[i].axis, (long long)r->dim[i].low,
                 r->dim[i].high == INT64_MAX ? -1LL : (long long)r->dim[i].high, (long long)r->dim[i].multiple);
    for (int i = 0; i < r->n_loops; i++)
        text_add(t, " | %s", r->loops[i]);
    for (int i = 0; i < r->n_layout; i++)
        text_add(t, " %s: %s", r->layout[i].operand, r->layout[i].text);
    text_add(t, "%s%s%s%s %s\n", r->fuse ? "" : " unfused", r->optional ? " optional" : "", r->site ? " on " : "",
             r->site ? r->site : "", r->compute ? r->compute : "any");
}

static char *printed(const schema *s)
{
    text t = {0};
    for (int i = 0; i < s->n_rule; i++)
        print_rule(&t, &s->rule[i]);
    return text_take(&t);
}

/* Folder with `base` as base.json; x.json holds source. Gives the rules that count, or the message. */
static char *loaded(const char *base, const char *source, schema *out, arena *mem)
{
    scratch s = scratch_make();
    err e = {0};
    save(&s, "base.json", base, strlen(base));
    save(&s, "x.json", source, strlen(source));
    char *got = load(&s, "x.json", mem, out, &e) ? printed(out) : without(e.text, s.path);
    scratch_free(&s);
    return got;
}

static const char two_rules[] = "{\"format\":\"tiling/1\",\"rules\":[{\"name\":\"first\",\"loops\":\"m n k\"},\n"
                                "{\"name\":\"second\",\"match\":{\"op\":\"add\"},\"loops\":[\"e\"]}]}";

static void reads(const char *base, const char *source, const char *want)
{
    arena mem = {0};
    schema out;
    char *got = loaded(base, source, &out, &mem);
    CHECK_TEXT(got, want);
    free(got);
    arena_free(&mem);
}

static void test_reading(void)
{
    reads("",
          "\xEF\xBB\xBF{ \"format\": \"tiling/1\", \"name\": \"mine\", \"extends\": \"guess\", \"target\": \"c\", "
          "\"//\": 1,\n"
          "  \"rules\": [\n"
          "    { \"name\": \"projections\", \"//\": [\"free\", {\"text\": null}], \"//\": \"again\",\n"
          "      \"match\": { \"op\": [\"matmul\", \"conv\"], \"name\": \"*query*\", \"dtype\": \"f32\", \"//\": 0,\n"
          "               \"dims\": { \"n\": \">=768\", \"k\": \"<= 64\", \"m\": \"64..512\", \"b\": 12, \"h\": "
          "\"%48==0\","
          " \"s\": \">1\", \"q\": \"<9\" } },\n"
          "      \"loops\": [\"n/48 m/8 k m@unroll n@vector\", \"guess\"], \"layout\": { \"b\": \"n/48 k n\" },\n"
          "      \"fuse\": \"none\", \"compute\": \"f32\", \"place\": \"cpu\", \"optional\": true },\n"
          "    {} ] }",
          "projections: matmul conv name=*query* dtype=f32 n=[768,-1]%0 k=[0,64]%0 m=[64,512]%0 b=[12,12]%0 h=[0,-1]%48"
          " s=[2,-1]%0 q=[0,8]%0 | n/48 m/8 k m@unroll n@vector | guess b: n/48 k n unfused optional on cpu f32\n"
          "rule 1: name=* dtype=* any\n");
}

static void test_extends(void)
{
    reads(two_rules, "{\"format\":\"tiling/1\",\"extends\":\"base.json\"}",
          "first: name=* dtype=* | m n k any\nsecond: add name=* dtype=* | e any\n");
    reads(two_rules,
          "{\"format\":\"tiling/1\",\"extends\":\"base.json\",\"rules\":[{\"name\":\"own\"}],\"override\":{\"//\":1,\n"
          " \"/rules/0/loops\":[\"n m k\",\"guess\"],\n "
          "\"/rules/1/match/dims\":{\"e\":\">4\"},\"/rules/1/fuse\":\"none\"}}",
          "own: name=* dtype=* any\nfirst: name=* dtype=* | n m k | guess any\n"
          "second: add name=* dtype=* e=[5,-1]%0 | e unfused any\n");
    reads(two_rules,
          "{\"format\":\"tiling/1\",\"extends\":\"base.json\",\"override\":{\"/rules/1\":{\"name\":\"new\"}}}",
          "first: name=* dtype=* | m n k any\nnew: name=* dtype=* any\n");
    /* a mistake within what is put in is reported where it was written, not where it went */
    reads(two_rules,
          "{\"format\":\"tiling/1\",\"extends\":\"base.json\",\"override\":{\n \"/rules/0/loops\":[\"n\",7]}}",
          "@/x.json:2:24 (/override/\"/rules/0/loops\"/1): text or a list of texts expected, not a number");
    reads("{\"format\":\"tiling/1\",\"rules\":[{\"name\":1}]}", "{\"format\":\"tiling/1\",\"extends\":\"base.json\"}",
          "@/base.json:1:39 (/rules/0/name): text expected, not a number");
    reads(two_rules, "{\"format\":\"tiling/1\",\"extends\":\"base.json\",\"override\":{\"/rules/2/loops\":\"m\"}}",
          "@/x.json:1:73 (/override/\"/rules/2/loops\"): \"base.json\" has only rules 0 and 1");
    reads(two_rules, "{\"format\":\"tiling/1\",\"extends\":\"base.json\",\"override\":{\"/rules/2\":{}}}",
          "@/x.json:1:67 (/override/\"/rules/2\"): \"base.json\" has only rules 0 and 1");
    reads(two_rules, "{\"format\":\"tiling/1\",\"extends\":\"base.json\",\"override\":{\"/rules/01/loops\":\"m\"}}",
          "@/x.json:1:74 (/override/\"/rules/01/loops\"): there is no \"01\" to go through");
    reads(two_rules, "{\"format\":\"tiling/1\",\"extends\":\"base.json\",\"override\":{\"/rules/0/name/x\":1}}",
          "@/x.json:1:74 (/override/\"/rules/0/name/x\"): text has no parts");
    reads(two_rules, "{\"format\":\"tiling/1\",\"extends\":\"base.json\",\"override\":{\"/rules/0/~2\":1}}",
          "@/x.json:1:70 (/override/\"/rules/0/~2\"): \"/rules/0/~2\" is no JSON pointer, as \"/rules/0/loops\" is");
    reads(two_rules, "{\"format\":\"tiling/1\",\"extends\":\"base.json\",\"override\":{\"/name\":\"x\"}}",
          "@/x.json:1:64 (/override/\"/name\"): \"/name\": only what is under \"/rules/\" can be overridden");
    reads("{\"format\":\"tiling/1\",\"extends\":\"x.json\"}", "{\"format\":\"tiling/1\",\"extends\":\"base.json\"}",
          "@/base.json:1:32 (/extends): \"@/x.json\" extends itself");
    reads("", "{\"format\":\"tiling/1\",\"extends\":\"../base.json\"}",
          "@/x.json:1:32 (/extends): extends \"../base.json\" leads out of the file's folder\n"
          "  hint: extends takes a file of the same folder, a built-in schema, or \"guess\"");
    reads("", "{\"format\":\"tiling/1\",\"extends\":\"none.json\"}",
          "@/x.json:1:32 (/extends): cannot open '@/none.json': No such file or directory");
    reads("", "{\"format\":\"tiling/1\",\"extends\":\"panel\"}",
          "@/x.json:1:32 (/extends): no schema \"panel\" is built in for target c\n  hint: did you mean panels?\n"
          "  hint: built in are: guess, naive, panels, rows; files end in .json or have a / in their path");
}

static void test_names(void)
{
    arena mem = {0};
    schema a, b;
    err e = {0};
    CHECK(schema_load(&mem, NULL, &(schema_use){.by = "c", .kind = "cpu"}, &a, &e) && !a.n_rule);
    CHECK(schema_load(&mem, "guess", &(schema_use){.by = "c", .kind = "cpu"}, &b, &e) && !strcmp(a.hash, b.hash));
    CHECK_TEXT(b.name, "guess");
    CHECK(!schema_load(&mem, "fast", &(schema_use){.by = "c", .kind = "cpu"}, &b, &e) && e.code == TS_BAD_INPUT);
    CHECK_TEXT(e.text,
               "no schema \"fast\" is built in for target c\n"
               "  hint: built in are: guess, naive, panels, rows; files end in .json or have a / in their path");
    for (const builtin_schema *s = builtin_schemas; s->name; s++) {
        err why = {0};
        if (!CHECK(schema_load(&mem, s->name, &(schema_use){.by = s->target}, &b, &why) && b.n_rule > 0))
            printf("  %s\n", why.text);
        CHECK_TEXT(b.name, s->name);
        CHECK_TEXT(b.source, "built in");
    }
    char *all = ts_schemas_json();
    CHECK_TEXT(all, "{\"c\":[\"naive\",\"panels\",\"rows\"],\n \"cuda\":[\"tf32\"]}\n");
    ts_free(all);
    arena_free(&mem);
}

static void test_hash(void) /* of what counts: comments and detours through extends make no difference, loops do */
{
    arena mem = {0};
    schema a, b, c;
    free(loaded(two_rules, two_rules, &a, &mem));
    free(
        loaded(two_rules, "{\"format\":\"tiling/1\",\"extends\":\"base.json\",\"//\":\"x\",\"name\":\"y\"}", &b, &mem));
    free(loaded(two_rules,
                "{\"format\":\"tiling/1\",\"extends\":\"base.json\",\"override\":{\"/rules/0/loops\":\"n\"}}", &c,
                &mem));
    CHECK(strlen(a.hash) == 64 && !strcmp(a.hash, b.hash) && strcmp(a.hash, c.hash));
    CHECK_TEXT(a.name, "x.json");
    CHECK_TEXT(b.name, "y");
    arena_free(&mem);
}

/* ---- matching, on kernels made by hand ---- */
typedef struct fake {
    node node;
    stage stage;
    kernel kernel;
} fake;

static void fake_make(fake *f, const char *does, const char *label, int64_t mm, int64_t nn, int64_t kk)
{
    *f = (fake){.node = {.type = {.dtype = TS_F32}}};
    f->stage.node = &f->node;
    const int64_t extent[] = {mm, nn, kk};
    for (int a = 0; a < 3; a++)
        if (extent[a] > 1) { /* axes of one element are gone before schemas look */
            snprintf(f->stage.letter[f->stage.n_axis], MAX_LETTER, "%c", "mnk"[a]);
            f->stage.extent[f->stage.n_axis++] = extent[a];
        }
    f->kernel = (kernel){.op = does, .label = label, .n_stage = 1, .stage = &f->stage, .rule = "first"};
}

static int decided(const char *match, const char *does, const char *label, int64_t mm, int64_t nn, int64_t kk)
{
    char source[500];
    arena mem = {0};
    schema s;
    fake f;
    snprintf(source, sizeof source, "{\"format\":\"tiling/1\",\"rules\":[{\"match\":{%s}}]}", match);
    free(loaded("", source, &s, &mem));
    fake_make(&f, does, label, mm, nn, kk);
    const int at = CHECK(s.n_rule == 1) ? schema_match(&s, &f.kernel, 0) : -2;
    arena_free(&mem);
    return at;
}

static void test_match(void)
{
    CHECK(decided("", "matmul", "", 2, 3, 4) == 0);
    CHECK(decided("\"op\":[\"conv\",\"matmul\"]", "matmul", "", 2, 3, 4) == 0);
    CHECK(decided("\"op\":\"conv\"", "matmul", "", 2, 3, 4) == -1);
    CHECK(decided("\"name\":\"*.query.*\"", "matmul", "layer.0.query.weight", 2, 3, 4) == 0);
    CHECK(decided("\"name\":\"*.query\"", "matmul", "layer.0.query.weight", 2, 3, 4) == -1);
    CHECK(decided("\"dtype\":\"f32\"", "matmul", "", 2, 3, 4) == 0);
    CHECK(decided("\"dtype\":\"f16\"", "matmul", "", 2, 3, 4) == -1);
    CHECK(decided("\"dims\":{\"m\":\">=2\",\"n\":\"<=3\",\"k\":\"4\"}", "matmul", "", 2, 3, 4) == 0);
    CHECK(decided("\"dims\":{\"m\":\">2\"}", "matmul", "", 2, 3, 4) == -1);
    CHECK(decided("\"dims\":{\"n\":\"%48==0\"}", "matmul", "", 2, 96, 4) == 0);
    CHECK(decided("\"dims\":{\"n\":\"%48==0\"}", "matmul", "", 2, 97, 4) == -1);
    CHECK(decided("\"dims\":{\"m\":\"1\",\"b\":\"1\"}", "matmul", "", 1, 97, 4) ==
          0); /* what is not there has one element */
    CHECK(decided("\"dims\":{\"m\":\">1\"}", "matmul", "", 1, 97, 4) == -1);
}

static void test_unused(void)
{
    static const char source[] =
        "{\"format\":\"tiling/1\",\"rules\":[\n{\"name\":\"first\",\"match\":{\"op\":\"matmul\"}},\n"
        "{\"name\":\"late\",\"match\":{\"dims\":{\"n\":\"768\"}}},\n"
        "{\"name\":\"far\",\"match\":{\"op\":\"matmul\",\"dims\":{\"n\":\">4000\",\"k\":\"64\"}}},\n"
        "{\"name\":\"other\",\"match\":{\"op\":\"conv\"}}]}";
    arena mem = {0};
    schema s;
    fake f[3];
    kernel k[3];
    text t = {0};
    fake_make(&f[0], "matmul", "query", 128, 768, 768), fake_make(&f[1], "matmul", "key", 128, 768, 768);
    fake_make(&f[2], "matmul", "scores", 128, 128, 64);
    for (int i = 0; i < 3; i++)
        k[i] = f[i].kernel;
    const plan p = {.n_kernel = 3, .kernel = k};
    const bool used[] = {true, false, false, false};
    free(loaded("", source, &s, &mem));
    schema_unused(&s, &p, used, &t);
    for (int i = 0; i < s.n_rule; i++)
        s.rule[i].place = strrchr(s.rule[i].place, '/') + 1;
    char *got = text_take(&t);
    char *tail = strstr(got, "x.json:3");
    CHECK(
        tail &&
        strstr(got, "x.json:3:1 (/rules/1): rule \"late\" decides no kernel: matmul query is decided by \"first\"\n"));
    CHECK(strstr(
        got,
        "x.json:4:1 (/rules/2): rule \"far\" decides no kernel: none fits; nearest are matmul scores m=128 n=128 k=64; "
        "matmul query m=128 n=768 k=768\n"));
    CHECK(strstr(got,
                 "x.json:5:1 (/rules/3): rule \"other\" decides no kernel: the plan has none of its operations; it has "
                 "matmul\n"));
    if (!CHECK(!strstr(got, "/rules/0")))
        printf("%s", got);
    free(got);
    arena_free(&mem);
}

int main(void)
{
    test_not_json();
    test_top();
    test_rules();
    test_recompute();
    test_reading();
    test_extends();
    test_names();
    test_hash();
    test_match();
    test_unused();
    return check_done();
}
