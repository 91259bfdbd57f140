/* The report of made-up results: every section, its budgets, its bytes, and what hostile names can do to it
 * (nothing). */
#include "bench/report/report.h"
#include "bench/report/data.h"
#include "graph/base/base.h"
#include "tests/bench/report/fixture.h"
#include "tests/check.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1500000, MAX_SVG = 3000, DEPTH = 64 };

typedef struct made {
    char *json, *html;
} made;

static made make(const char *name)
{
    made m = {.json = fixture_make(name)};
    ts_error e = {0};
    CHECK(report_write(m.json, &m.html, &e));
    CHECK_TEXT(e.text, "");
    return m;
}

static void unmake(made *m)
{
    free(m->json), free(m->html);
}

static bool has(const char *in, const char *what)
{
    if (!strstr(in, what))
        printf("missing: %s\n", what);
    return strstr(in, what) != NULL;
}

/* ---- a reader of the HTML that the report may write: every element closed in order, attributes in double quotes
 * ---- */

typedef struct reader {
    const char *at;
    char open[DEPTH][16];
    int depth, svg; /* elements within svg so far */
    const char *wrong;
} reader;

static bool is_void(const char *name)
{
    return !strcmp(name, "meta") || !strcmp(name, "br") || !strcmp(name, "wbr");
}

static size_t word_length(const char *s)
{
    return strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
}

static void read_attributes(reader *r, bool *closed)
{
    while (*r->at == ' ') {
        r->at++;
        r->at += word_length(r->at);
        if (*r->at++ != '=' || *r->at++ != '"')
            r->wrong = "an attribute without a quoted value";
        if (r->wrong)
            return;
        r->at += strcspn(r->at, "\"<");
        if (*r->at++ != '"')
            r->wrong = "'<' in an attribute";
        if (r->wrong)
            return;
    }
    *closed = *r->at == '/';
    r->at += *closed;
    if (*r->at++ != '>')
        r->wrong = "a tag that does not end";
}

static void read_open(reader *r)
{
    char name[16];
    size_t n = word_length(r->at);
    bool closed = false;
    snprintf(name, sizeof name, "%.*s", (int)n, r->at);
    r->at += n;
    for (int i = 0; i < r->depth; i++)
        r->svg += !strcmp(r->open[i], "svg");
    read_attributes(r, &closed);
    if (r->wrong || closed || is_void(name))
        return;
    if (r->depth == DEPTH)
        r->wrong = "too deep";
    else
        snprintf(r->open[r->depth++], 16, "%s", name);
    const char *raw = !strcmp(name, "script") ? "</script>" : !strcmp(name, "style") ? "</style>" : NULL;
    if (!raw)
        return;
    r->at = strstr(r->at, raw);
    if (!r->at)
        r->at = "", r->wrong = "script or style without an end";
}

static void read_close(reader *r)
{
    size_t n = word_length(r->at);
    const char *open = r->depth ? r->open[--r->depth] : "";
    if (strlen(open) != n || strncmp(open, r->at, n) != 0 || r->at[n] != '>')
        r->wrong = "an end tag that fits no open element";
    else
        r->at += n + 1;
}

/* NULL if well formed, else what is wrong; *svg: elements inside svg. */
static const char *read_html(const char *html, int *svg)
{
    static const char doctype[] = "<!DOCTYPE html>\n";
    reader r = {.at = html + strlen(doctype)};
    if (strncmp(html, doctype, strlen(doctype)) != 0)
        return "no doctype";
    while (*r.at && !r.wrong) {
        r.at += strcspn(r.at, "<>");
        if (*r.at == '>')
            r.wrong = "a bare '>'";
        else if (r.at[0] == '<' && r.at[1] == '/')
            r.at += 2, read_close(&r);
        else if (*r.at == '<')
            r.at++, read_open(&r);
    }
    *svg = r.svg;
    if (r.wrong)
        printf("%s before: %.80s\n", r.wrong, r.at);
    return r.wrong ? r.wrong : r.depth ? "elements left open" : NULL;
}

/* ---- properties of every report ---- */

static bool all_utf8_and_visible(const char *s)
{
    for (size_t i = 0, n = strlen(s); i < n;) {
        uint32_t code = 0;
        size_t length = utf8_next(s + i, &code);
        if (!length || (utf8_hidden(code) && code != '\n'))
            return printf("byte %zu: U+%04x\n", i, (unsigned)code), false;
        i += length;
    }
    return true;
}

static void check_figures(const char *html)
{
    CHECK(check_count(html, "<figure>") == check_count(html, "</figure>"));
    for (const char *f = strstr(html, "<figure>"); f; f = strstr(f + 1, "<figure>")) {
        const char *end = strstr(f, "</figure>"), *title = strstr(f, "<title>"), *desc = strstr(f, "<desc>"),
                   *table = strstr(f, "<table");
        CHECK(strstr(f, "role=\"img\"") < end);
        CHECK(title && title < end && title[7] != '<');
        CHECK(desc && desc < end && desc[6] != '<');
        CHECK(table && table < end);
    }
}

/* Nothing is fetched: no addresses but places in the page itself. */
static void check_closed(const char *html)
{
    const char *policy = "default-src 'none'; style-src 'unsafe-inline'";
    CHECK(has(html, policy));
    CHECK(check_count(html, "url(") == check_count(html, "url(#gap)"));
    CHECK(check_count(html, "href=") == check_count(html, "href=\"#"));
    static const char *const never[] = {"src=",  "@import", "http:", "https:",  "javascript:", "<script>",
                                        "<link", "<iframe", "<img",  " onload", " onclick"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        CHECK(!strstr(html, never[i]) || (printf("%s\n", never[i]), false));
    CHECK(check_count(html, "<script") == 1 && check_count(html, "</script") == 1);
}

static cJSON *embedded(const char *html)
{
    const char *tag = "<script type=\"application/json\" id=\"results\">", *from = strstr(html, tag),
               *to = strstr(html, "</script>");
    if (!CHECK(from && to && to > from))
        return NULL;
    from += strlen(tag);
    return cJSON_ParseWithLength(from, (size_t)(to - from));
}

static void check_any(const char *name)
{
    made m = make(name), again = make(name);
    int svg = 0;
    CHECK_TEXT(read_html(m.html, &svg) ? "not well formed" : "well formed", "well formed");
    CHECK(svg <= MAX_SVG || (printf("%s: %d elements\n", name, svg), false));
    CHECK(strlen(m.html) <= MAX_BYTES || (printf("%s: %zu bytes\n", name, strlen(m.html)), false));
    CHECK(!strcmp(m.html, again.html));
    CHECK(all_utf8_and_visible(m.html));
    check_figures(m.html);
    check_closed(m.html);
    CHECK(!strstr(m.html, "nan") && !strstr(m.html, "inf<") && !strstr(m.html, "-0.0"));
    cJSON *data = embedded(m.html);
    CHECK_TEXT(cJSON_GetStringValue(cJSON_GetObjectItem(data, "format")), "results/1");
    cJSON_Delete(data), unmake(&m), unmake(&again);
}

/* ---- what they say ---- */

static void check_sections(const char *html, const char *wanted)
{
    static const char *const id[] = {"verdict", "trust",   "where",   "why",     "time",
                                     "memory",  "latency", "kernels", "appendix"};
    const char *last = html;
    for (int i = 0; i < 9; i++) {
        char tag[64], left[64];
        snprintf(tag, sizeof tag, "<section class=\"card\" id=\"%s\">", id[i]);
        snprintf(left, sizeof left, "<p class=\"missing\">%d · ", i + 1);
        const char *at = strstr(html, wanted[i] == '+' ? tag : left);
        CHECK((at && at > last) || (printf("section %s\n", id[i]), false));
        CHECK(!strstr(html, wanted[i] == '+' ? left : tag));
        if (at)
            last = at;
    }
}

/* Every product of the first candidate's feed forward goes by Strassen, in three kernels; the second's do not. */
static char *by_strassen(const char *json)
{
    cJSON *root = cJSON_Parse(json), *k, *list = cJSON_CreateArray();
    cJSON *first = cJSON_GetArrayItem(js_get(root, "candidates"), 0);
    cJSON_ArrayForEach(k, js_get(first, "kernels"))
    {
        const bool is = strstr(js_get_text(k, "label"), "ffn.up") != NULL;
        for (int i = 0; i < (is ? 3 : 1); i++) {
            cJSON *one = cJSON_Duplicate(k, true);
            if (is) {
                cJSON *work = js_object(one, "work");
                js_put(work, "operation:%s,label:%s,flops:%g,by:%s", js_get_text(k, "op"), js_get_text(k, "label"),
                       js_get_number(k, "flops", 0), "Strassen");
                cJSON_SetNumberValue(cJSON_GetObjectItem(one, "median_ns"), js_get_number(k, "median_ns", 0) / 3);
                cJSON_SetNumberValue(cJSON_GetObjectItem(one, "flops"), js_get_number(k, "flops", 0) / 3);
                cJSON_SetValuestring(cJSON_GetObjectItem(one, "op"), i == 1 ? "contract" : "pieces");
            }
            cJSON_AddItemToArray(list, one);
        }
    }
    cJSON_ReplaceItemInObject(first, "kernels", list);
    char *made_of = cJSON_PrintUnformatted(root);
    cJSON_Delete(root);
    return made_of;
}

/* What another way makes of a product counts as the product, is called by its name, and the way is said. */
static void test_ways(void)
{
    made m = make("bert");
    char *json = by_strassen(m.json), *html = NULL;
    ts_error e = {0};
    CHECK(report_write(json, &html, &e));
    CHECK(html && has(html, "blocked</b></span> computes 12 matmul (<b class=\"name\">"));
    CHECK(html && has(html, "rows-outside</b></span> does not. They take "));
    CHECK(html && has(html, "<tr><td>computed another way"));
    CHECK(html && has(html, " Without Strassen, in the time of <span"));
    CHECK(html && !strstr(html, ">contract<") && !strstr(html, ">pieces<"));
    CHECK(html && !strstr(html, "0 ns against"));
    free(html), free(json), unmake(&m);
}

static void test_bert(void)
{
    made m = make("bert");
    check_sections(m.html, "+++++++++");
    CHECK(strstr(m.html, "class=\"sign warn\"") <
          strstr(m.html, "class=\"sign ok\"")); /* what speaks against it first */
    CHECK(has(m.html, "blocked</b></span> is faster: "));
    CHECK(strstr(m.html, "<p class=\"verdict\">") < strstr(m.html, "73.") &&
          strstr(m.html, "class=\"times\"") < strstr(m.html, "<p class=\"sure\">")); /* medians are in view */
    CHECK(has(m.html, "rows-outside</b></span> takes 49\u00a0% more time."));
    CHECK(has(
        m.html,
        "This is sure: the 99\u00a0% interval of the ratio of times in one round, 1.48× … 1.50×, lies wholly beyond "
        "the ±1\u00a0%"));
    CHECK(has(m.html, "87\u00a0% of the difference is in <b class=\"name\">feed forward</b>"));
    CHECK(has(m.html, "works on 9.00\u00a0MiB, 450\u00a0% of L2: it does not fit"));
    CHECK(has(m.html, " its loops bring 146\u00a0MiB into L2 in a call, under "));
    CHECK(has(
        m.html,
        " 10.9\u00a0MiB (estimated): what was there has gone before it is walked again. At the probed speed of L3"));
    CHECK(has(m.html, "<mark>n/384@core</mark>"));
    CHECK(has(m.html, "<pre>b h q/32@core\nscores: s/64 d q@unroll s@vector\nout: "));
    CHECK(has(m.html, "Even the fastest sample of "));
    CHECK(check_count(m.html, "<figure>") == 7); /* forest, samples, waterfall, roofline, bars, buffers, percentiles */
    CHECK(check_count(m.html, "class=\"sign ok\">✓ yes") == 8);
    CHECK(check_count(m.html, "class=\"tint") >= 14);
    CHECK(check_count(m.html, " over\"") == 4);
    CHECK(check_count(m.html, "encoder.<wbr>layer.<wbr>*.<wbr>ffn.<wbr>up") == 6);
    cJSON *data = embedded(m.html), *given = cJSON_Parse(m.json);
    CHECK(cJSON_Compare(data, given, true));
    cJSON_Delete(data), cJSON_Delete(given), unmake(&m);
}

static void test_verdicts(void)
{
    made same = make("same"), open = make("undecided"), wrong = make("invalid"), one = make("single");
    CHECK(has(same.html, "blocked-64</b></span> take the same time."));
    CHECK(has(same.html, "lies inside the ±1\u00a0% that count as equal"));
    CHECK(has(same.html, "Both run the same loops in every kernel"));
    check_sections(same.html, "++-++++++");
    CHECK(has(same.html, "Where is left out: the two take the same time."));
    check_sections(open.html, "++-++++++");
    CHECK(has(open.html, "Where is left out: the race is undecided, so what differs may be chance."));
    CHECK(has(open.html, "blocked-64</b></span>: not decided."));
    CHECK(has(open.html, "More time (--max-time) narrows it."));
    CHECK(has(open.html, "! partly"));
    CHECK(has(wrong.html, "; no other candidate is valid."));
    CHECK(has(wrong.html, "✗ INVALID"));
    CHECK(has(wrong.html, "<span class=\"soft\">ABSENT</span></td></tr>\n<tr class=\"remarks\"><td colspan=\"7\">"
                          "<span class=\"soft\">the Python package"));
    CHECK(has(wrong.html, "(allowed: 0.0001): correctness"));
    check_sections(wrong.html, "++-++++++");
    check_sections(one.html, "++-++++++");
    CHECK(has(one.html, "Where is left out: it needs two valid candidates."));
    unmake(&same), unmake(&open), unmake(&wrong), unmake(&one);
}

/* What is the same in both is nobody's merit; what differs is divided among what the loops do. */
static void test_why(void)
{
    made alike = make("alike"), close = make("close"), naive = make("naive");
    CHECK(has(alike.html, "The two spend their time alike"));
    check_sections(alike.html, "++-++++++");
    CHECK(has(close.html, "does not start at zero"));
    CHECK(has(naive.html, "By estimate: <b>vectors</b> about 15.90× (scalar: 1 element at a time → vectors of 16), "
                          "<b>sums in registers</b> about "));
    CHECK(has(naive.html, "the estimate goes too far, and its parts are to be read in proportion."));
    CHECK(has(naive.html, "What the difference is made of"));
    CHECK(has(naive.html, "<td>loads</td><td>2.00 for each multiply-add</td><td>0.46 for each multiply-add</td>"));
    CHECK(has(naive.html, "<td>not explained by these</td>"));
    CHECK(has(naive.html, "<td>kernels with the same loops: not explained (noise, placement)</td>"));
    CHECK(has(naive.html, "38 kernels with the <b>same loops</b> <span class=\"soft\">not by their loops"));
    CHECK(has(naive.html, "same loops: unexplained</text>"));
    CHECK(
        has(naive.html, "1 of 110 kernels run the guess: the loops of rule <b class=\"name\">guess</b> were refused"));
    unmake(&alike), unmake(&close), unmake(&naive);
}

/* Every place of the picture that follows `from`, in parts of a hundred of its width, lies within it. */
static void check_inside(const char *html, const char *from)
{
    const char *at = strstr(html, from), *end = at ? strstr(at, "</figure>") : NULL;
    int seen = 0;
    CHECK(at && end);
    for (; at && (at = strstr(at, "%\"")) && at < end; at++, seen++) {
        const char *number = at;
        while (number[-1] != '"')
            number--;
        const double x = strtod(number, NULL);
        if (!CHECK(x >= 0 && x <= 100))
            printf("  %.60s\n", number);
    }
    CHECK(seen > 0);
}

static void test_pictures(void)
{
    made far = make("far"), bert = make("bert");
    check_inside(far.html, "<title>Ratios of times with their intervals</title>");
    CHECK(has(far.html, ">1077×</tspan>"));
    CHECK(
        has(far.html,
            "<svg class=\"pin\" x=\"97.00%\" y=\"56.0\"><path class=\"fill\" d=\"M9 0l-9 -6v12z\"/>")); /* right edge */
    CHECK(has(far.html, ">layer.1.attended</text>"));
    CHECK(has(bert.html, "rotate(-90)\"><text class=\"small\" y=\"0.0\">…r.0.ffn.wide</text>"));
    CHECK(has(bert.html, "<ul class=\"key\">"));
    CHECK(has(bert.html, "<li><b class=\"n\">1</b><b class=\"name\">encoder.<wbr>layer.<wbr>*.<wbr>ffn.<wbr>"));
    CHECK(has(bert.html, ".full::details-content{content-visibility:visible"));
    CHECK(check_count(bert.html, "<details class=\"full\">") >= 9);
    unmake(&far), unmake(&bert);
}

/* Captions along roofs of the roofline that lie close together stand one behind the other. */
static void test_captions(void)
{
    enum { MOST = 8, HEIGHT = 11, LENGTH = 90 }; /* pixels of a caption */
    static const double near[] = {240, 78, 30.5};
    for (int k = 0; k < 3; k++) {
        char *given = fixture_make("bert"), *html = NULL;
        cJSON *root = cJSON_Parse(given), *ceilings = cJSON_GetObjectItem(root, "ceilings");
        cJSON_SetNumberValue(cJSON_GetObjectItem(ceilings, "l2_gbs"), near[k] * 1.01);
        cJSON_SetNumberValue(cJSON_GetObjectItem(ceilings, "l3_gbs"), near[k]);
        char *json = cJSON_PrintUnformatted(root);
        CHECK(report_write(json, &html, NULL));
        double x[MOST], y[MOST], turned[MOST];
        int n = 0;
        for (const char *at = html; n < MOST && (at = strstr(at, "halo\" transform=\"translate(")); at++)
            n += sscanf(at, "halo\" transform=\"translate(%lf %lf) rotate(%lf)", &x[n], &y[n], &turned[n]) == 3;
        CHECK(n == 4); /* memory and three caches */
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j++) {
                const double angle = turned[i] * 3.14159265358979 / 180, dx = x[i] - x[j], dy = y[i] - y[j];
                CHECK(fabs(dx * cos(angle) + dy * sin(angle)) >= LENGTH ||
                      fabs(dy * cos(angle) - dx * sin(angle)) >= HEIGHT);
            }
        free(given), free(json), free(html), cJSON_Delete(root);
    }
}

/* The appendix: every fact readable, or left out. */
static void test_facts(void)
{
    static const char json[] =
        "{\"format\":\"results/1\",\"model\":{\"name\":\"/home/me/MiniLM/model.onnx\",\"dims\":[],"
        "\"inputs\":[{\"name\":\"ids\",\"dtype\":\"i64\",\"shape\":[1,128]},{\"name\":\"mask\",\"dtype\":\"i64\","
        "\"shape\":[1,128]}]},"
        "\"config\":{\"target\":null,\"isa\":null,\"min_time_s\":0.5,\"threshold\":0.01},\"ceilings\":{\"read_gbs\":37."
        "177,"
        "\"levels\":[{\"name\":\"l1\",\"bytes_per_thread\":32768,\"gbs\":303.764}],\"fma_f32_gflops\":206.3},"
        "\"candidates\":[{\"name\":\"guess\",\"stats\":{\"median_ns\":1000000}}]}";
    char *html = NULL;
    CHECK(report_write(json, &html, NULL));
    CHECK(has(html, "<h1>MiniLM/model.onnx</h1>") && has(html, "<title>Tessera report: MiniLM/model.onnx</title>"));
    CHECK(has(html, "<th>inputs: name</th><th>dtype</th><th>shape</th>"));
    CHECK(has(html, "<tr><td>mask</td><td>i64</td><td>1 × 128</td></tr>"));
    CHECK(has(html, "<th>levels: name</th><th class=\"num\">per thread</th><th class=\"num\">gbs</th>"));
    CHECK(has(html, "<td>l1</td><td class=\"num\">32.0\u00a0KiB</td><td class=\"num\">304\u00a0GB/s</td>"));
    CHECK(has(html, "<dt>read</dt><dd>37.2\u00a0GB/s</dd>") && has(html, "<dt>fma f32</dt><dd>206\u00a0GFLOP/s</dd>"));
    CHECK(has(html, "<dt>min time</dt><dd>500\u00a0ms</dd>"));
    CHECK(!strstr(html, "<dt>target</dt>") && !strstr(html, "<dt>isa</dt>") && !strstr(html, "<dt>dims</dt>"));
    free(html);
    static const char step[] =
        "{\"format\":\"step/1\",\"model\":{\"name\":\"net.onnx\"},\"candidates\":[{\"name\":\"step\","
        "\"status\":\"VALID\",\"samples\":[[{\"ns\":3e6},{\"ns\":5e6},{\"ns\":4e6}]]}]}";
    html = NULL;
    CHECK(report_write(step, &html, NULL)); /* without statistics: the samples have them */
    CHECK(has(html, "step</b></span> takes 4.00\u00a0ms.") && has(html, "one training step"));
    free(html);
    CHECK_TEXT(path_name("bert-tiny"), "bert-tiny");
    CHECK_TEXT(path_name("/a/b/net.onnx"), "net.onnx");
    CHECK_TEXT(path_name("/a/b/"), "b/");
    CHECK_TEXT(path_name("model.onnx"), "model.onnx");
    CHECK_TEXT(path_name("/model.onnx"), "/model.onnx");
}

static void test_bare(void)
{
    made m = make("bare");
    check_sections(m.html, "+++++"
                           "+-++");
    CHECK(has(m.html, "Latency is left out: the results hold no single samples."));
    CHECK(has(m.html, "The results hold no working sets."));
    unmake(&m);
}

static void test_hostile(void)
{
    made m = make("hostile");
    CHECK(has(m.html, "&lt;/<wbr>script&gt;&lt;script&gt;alert(&#39;a&#39;)&lt;/<wbr>script&gt;&quot;&amp;lt;"));
    CHECK(has(m.html, "line\\x0abreak \\x1b[31mred \\u{202e}turned \\u{2066} \\xff\\xfe \\xc0\\xaf \\xed\\xa0\\x80 | ` "
                      "=cmd() --&gt;"));
    CHECK(!strstr(m.html, "<script>alert"));
    cJSON *data = embedded(m.html);
    const cJSON *first = cJSON_GetArrayItem(cJSON_GetObjectItem(data, "candidates"), 0);
    CHECK_TEXT(cJSON_GetStringValue(cJSON_GetObjectItem(first, "name")), "</script><script>alert('a')</script>\"&lt;");
    cJSON_Delete(data), unmake(&m);
}

static void test_large(void)
{
    made m = make("large");
    CHECK(has(m.html, "\"x-left-out\":[\"samples\"]") || has(m.html, "\"x-left-out\":[\"samples\",\"buffers\"]"));
    CHECK(has(m.html, "th sample is drawn"));
    CHECK(has(m.html, "Of 4 candidates, "));
    CHECK(check_count(m.html, "Buffers over kernels") == 3); /* the first two share one plan of memory */
    CHECK(check_count(m.html, "buffers in an arena") == 3);
    unmake(&m);
}

/* Ceilings that a device states are nowhere said to be measured. */
static void test_stated(void)
{
    char *given = fixture_make("bert");
    cJSON *root = cJSON_Parse(given);
    ts_error e = {0};
    char *html = NULL;
    cJSON_AddTrueToObject(cJSON_GetObjectItem(root, "ceilings"), "stated");
    char *json = cJSON_PrintUnformatted(root);
    CHECK(report_write(json, &html, &e));
    CHECK(has(html, ">FMA peak, stated: ") && has(html, "At the stated speed of L3") &&
          has(html, "loops and the stated ceilings") && has(html, "traffic at the stated speeds") &&
          has(html, "Ceilings, as the device states"));
    CHECK(!strstr(html, "probed") && !strstr(html, "Ceilings, measured"));
    free(given), free(json), free(html), cJSON_Delete(root);
}

static void test_guessed(void)
{
    char *naive = fixture_make("naive"), *out = NULL;
    CHECK(report_markdown(naive, &out, NULL));
    CHECK(has(out, "| valid; 1 of 110 kernels run the guess: their rules' loops were refused |"));
    free(naive), free(out);
}

static void test_short_forms(void)
{
    char *bert = fixture_make("bert"), *hostile = fixture_make("hostile"), *out = NULL;
    CHECK(report_markdown(bert, &out, NULL));
    CHECK(has(out, "**`blocked` is faster: `rows-outside` takes 49 % more time.** This is sure: "));
    CHECK(has(out, "| `blocked` | 70.6 ms | "));
    CHECK(
        has(out, "`bert-base` · `batch=1` · `seq=128` · `Xeon, family 6 model 207` · 2 threads · `avx512` · tessera "));
    CHECK(all_utf8_and_visible(out));
    free(out);
    CHECK(report_markdown(hostile, &out, NULL));
    CHECK(
        has(out, "\\x1b[31mred \\u{202e}turned \\u{2066} \\xff\\xfe \\xc0\\xaf \\xed\\xa0\\x80 \\| ` =cmd() --> `` |"));
    CHECK(all_utf8_and_visible(out));
    free(out);
    CHECK(report_csv(hostile, &out, NULL));
    CHECK(check_count(out, "\r\n") == 4 && check_count(out, "\n") == 4);
    CHECK(has(out, "\"</script><script>alert('a')</script>\"\"&lt;\",candidate,"));
    free(out), free(bert), free(hostile);
}

static void test_refusals(void)
{
    static const struct {
        const char *text, *says;
    } bad[] = {{"{\"format\":\"results/1\"", "the results: not valid JSON at byte 21"},
               {"{}", "the results have no \"format\", \"results/1\" or \"step/1\" expected\n  hint: give a file that "
                      "tessera bench wrote with -o"},
               {"{\"format\":\"results/2\"}",
                "the results have format \"results/2\"; this version reads results/1 and step/1\n  hint: "
                "give a file that tessera bench wrote with -o"},
               {"[]", "the results have no \"format\", \"results/1\" or \"step/1\" expected\n  hint: give a file that "
                      "tessera bench wrote with -o"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ts_error e = {0};
        char *html = NULL;
        CHECK(!report_write(bad[i].text, &html, &e) && !html);
        CHECK(e.code == TS_BAD_INPUT);
        CHECK_TEXT(e.text, bad[i].says);
    }
}

/* ---- any field may be missing, or be anything else ---- */

static const char *const instead[] = {
    "null", "-1e308", "1e308", "0", "\"x\"", "[]", "{}", "[[{\"ns\":1}]]", "{\"a\":{\"ns\":5,\"name\":7}}"};

/* Replaces every member in turn: the first and last of a list stand for all. */
static int damage(cJSON *root, cJSON *at)
{
    int n = 0;
    for (cJSON *item = at->child; item; item = item->next) {
        if (cJSON_IsArray(at) && item != at->child && item->next)
            continue;
        for (size_t i = 0; i < sizeof instead / sizeof *instead; i++) {
            cJSON *other = cJSON_Parse(instead[i]), saved = *item;
            char *html = NULL;
            item->type = other->type;
            item->valuestring = other->valuestring;
            item->valuedouble = other->valuedouble;
            item->child = other->child;
            char *json = cJSON_PrintUnformatted(root);
            int svg = 0;
            if (report_write(json, &html, NULL))
                CHECK(!read_html(html, &svg));
            free(html), free(json);
            *item = saved;
            cJSON_Delete(other);
            n++;
        }
        n += damage(root, item);
    }
    return n;
}

static void test_tolerance(void)
{
    char *json = fixture_make("bare");
    cJSON *root = cJSON_Parse(json);
    int n = damage(root, root);
    CHECK(n > 500);
    cJSON_Delete(root), free(json);
}

int main(void)
{
    for (int i = 0; fixture_name(i); i++)
        check_any(fixture_name(i));
    test_bert();
    test_ways();
    test_verdicts();
    test_why();
    test_pictures();
    test_captions();
    test_facts();
    test_bare();
    test_hostile();
    test_large();
    test_guessed();
    test_stated();
    test_short_forms();
    test_refusals();
    test_tolerance();
    return check_done();
}
