/* The limits that docs/models.md and tessera.h tell of are those that hold. */
/* ctest: fast */
#include "graph/base/base.h"
#include "graph/ir/type.h"
#include "import/external.h"
#include "import/json_parts.h"
#include "import/limits.h"
#include "import/name.h"
#include "import/onnx/scan.h"
#include "import/onnx/tensor.h"
#include "import/safetensors.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static text page;

static void open_page(const char *name)
{
    const char *source = getenv("SOURCE");
    err e = {0};
    text path = {0};
    text_add(&path, "%s/%s", source ? source : ".", name);
    text_free(&page);
    if (!CHECK(file_read(text_str(&path), 1 << 20, &page, &e)))
        fprintf(stderr, "%s\n", e.text);
    text_free(&path);
}

/* Words of the page; in a table "| what | value |". */
static void says(const char *words)
{
    if (!CHECK(strstr(text_str(&page), words)))
        fprintf(stderr, "not there: %s\n", words);
}

static void row(const char *what, int64_t value, int64_t unit, const char *of)
{
    char number[32], plain[32], line[160];
    size_t n = 0;
    CHECK(value % unit == 0);
    const size_t digits = (size_t)snprintf(plain, sizeof plain, "%lld", (long long)(value / unit));
    for (size_t i = 0; i < digits; i++) { /* 1,000,000 */
        if (i && (digits - i) % 3 == 0)
            number[n++] = ',';
        number[n++] = plain[i];
    }
    snprintf(line, sizeof line, "| %s | %.*s%s |", what, (int)n, number, of);
    says(line);
}

static void test_page(const limits *l)
{
    open_page("docs/models.md");
    row("ONNX file", (int64_t)INT32_MAX + 1, 1 << 30, " GiB");
    row("nodes, tensors", SCAN_MOST, 1, " each");
    row("nesting of messages", SCAN_DEPTH, 1, "");
    row("inputs, outputs of a node", SCAN_PORTS, 1, " each");
    row("description without tensors", l->description, 1 << 20, " MiB");
    row("attributes of a node", SCAN_WORDS, 1, "");
    row("name", NAME_MOST, 1, " bytes");
    row("entries of a list attribute", SCAN_LIST, 1 << 20, " Mi");
    row("rank", MAX_RANK, 1, "");
    row("external files", EXTERNAL_FILES, 1, "");
    row("typed tensor fields, decoded", ONNX_DECODED, 1 << 30, " GiB");
    row("safetensors header", SAFETENSORS_HEADER, 1000000, " MB");
    row("a constant computed from constants", FOLD_ELEMENTS, 1, " elements");
    row("all of them", l->folded, 1 << 20, " MiB");
    char nesting[32], power[64];
    snprintf(nesting, sizeof nesting, " MiB, %d", GRAPH_DEPTH);
    row("JSON graph, nesting", l->description, 1 << 20, nesting);
    snprintf(power, sizeof power, "| elements of a tensor | 2^%d |", MODEL_ELEMENTS_LOG2);
    says(power);
}

/* The comment of ts_model_open_within, in which lines break where they like */
static void test_header(const limits *l)
{
    char word[4][64];
    open_page("include/tessera.h");
    for (char *s = page.s; (s = strstr(s, "\n * "));)
        memmove(s + 1, s + 4, strlen(s + 4) + 1), *s = ' ';
    snprintf(word[0], sizeof word[0], "steps (%lld, of", (long long)l->steps);
    snprintf(word[1], sizeof word[1], "folded (%lldM bytes", (long long)(l->folded >> 20));
    snprintf(word[2], sizeof word[2], "elements (2^%d of", MODEL_ELEMENTS_LOG2);
    snprintf(word[3], sizeof word[3], "description (%lldM bytes", (long long)(l->description >> 20));
    for (int i = 0; i < COUNT(word); i++)
        says(word[i]);
    CHECK(l->elements == INT64_C(1) << MODEL_ELEMENTS_LOG2);
}

int main(void)
{
    const limits l = limits_make();
    test_page(&l);
    test_header(&l);
    text_free(&page);
    return check_done();
}
