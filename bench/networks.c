/* networks.c - layers of ONNX as graph/1. Element i of a weight is scale (i^2 mod 251 - 125), which every runtime works
 * out exactly when it loads the file, so that no file of numbers is needed. */
#include "bench/networks.h"
#include "graph/base/base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WEIGHTS = 3 };
typedef struct layer {
    const char *op, *attributes;      /* members of a JSON object */
    const char *weight[MOST_WEIGHTS]; /* "128,1,3,3" */
} layer;

static const layer depthwise[] = {{"Conv", "\"group\":128,\"pads\":[1,1,1,1]", {"128,1,3,3"}},
                                  {"Relu", "", {0}},
                                  {"Conv", "", {"128,128,1,1"}},
                                  {"Relu", "", {0}},
                                  {0}};
static const layer column[] = {{"Conv", "\"pads\":[2,0,2,0]", {"128,128,5,1"}}, {"Relu", "", {0}}, {0}};
static const layer narrow[] = {{"Conv", "\"pads\":[1,1,1,1]", {"8,8,3,3"}}, {"Relu", "", {0}}, {0}};
static const layer row[] = {{"MatMul", "", {"1024,1024"}}, {"Relu", "", {0}}, {0}};
static const layer gru[] = {{"GRU", "\"hidden_size\":192", {"1,576,192", "1,576,192", "1,1152"}}, {0}};
static const layer lstm[] = {{"LSTM", "\"hidden_size\":192", {"1,768,192", "1,768,192", "1,1536"}}, {0}};

static const struct {
    const char *name, *input; /* extents of x */
    int times;
    const layer *layers;
} networks[] = {{"depthwise", "1,128,56,56", 4, depthwise}, /* as in MobileNet */
                {"column", "1,128,256,1", 4, column},       /* convolutions along time, as images of width 1 */
                {"narrow", "1,8,112,112", 4, narrow},       /* fewer channels than lanes */
                {"row", "1,1024", 8, row},                  /* products that wait for memory */
                {"gru", "64,1,192", 1, gru},                /* [time, batch, in] */
                {"lstm", "64,1,192", 1, lstm}};

typedef struct writing {
    text constants, nodes;
    int weights, values; /* w0, w1, ...; v0 is x */
} writing;

static void add_node(writing *w, const char *op, const char *operands, const char *attributes, const char *result)
{
    json_add(&w->nodes, "{name:%s,op:%s,in:[", result, op);
    text_add(&w->nodes, "%s],\"attr\":{%s},\"out\":[\"%s\"]}", operands, attributes, result);
}

/* Scaled to keep the mean square of what passes to a relu: products are as many as elements for each of the
 * longest axis. */
static void add_weight(writing *w, const char *extents)
{
    const int i = w->weights++;
    int rank = 0;
    double n = 1, longest = 1;
    char *end, operands[64], name[16];
    for (const char *at = extents; *at; at = *end ? end + 1 : end, rank++) {
        const double extent = strtod(at, &end);
        n *= extent, longest = fmax(longest, extent);
    }
    json_add(&w->constants, "'n%d':{dtype:'i64',shape:[],data:[%.0f]}", i, n);
    json_add(&w->constants, "'f%d':{dtype:'f32',shape:[],data:[%.6g]}", i, sqrt(6 * longest / n) / 125);
    json_add(&w->constants, "'s%d':{dtype:'i64',shape:[%d],data:[", i, rank);
    text_add(&w->constants, "%s]}", extents);
    static const struct {
        const char *op, *operands, *attributes, *result; /* of weight %d */
    } steps[] = {{"Range", "\"zero\",\"n%d\",\"one\"", "", "i%d"}, {"Mul", "\"i%1$d\",\"i%1$d\"", "", "q%d"},
                 {"Mod", "\"q%d\",\"prime\"", "", "m%d"},          {"Sub", "\"m%d\",\"middle\"", "", "b%d"},
                 {"Cast", "\"b%d\"", "\"to\":1", "r%d"},           {"Mul", "\"r%1$d\",\"f%1$d\"", "", "e%d"},
                 {"Reshape", "\"e%1$d\",\"s%1$d\"", "", "w%d"}};
    for (int k = 0; k < COUNT(steps); k++) {
        snprintf(operands, sizeof operands, steps[k].operands, i);
        snprintf(name, sizeof name, steps[k].result, i);
        add_node(w, steps[k].op, operands, steps[k].attributes, name);
    }
}

/* Recurrent layers give [time, direction, batch, hidden], and none follows another. */
static void add_layer(writing *w, const layer *l)
{
    char name[16];
    ENDED_BY(text_free) text operands = {0};
    text_add(&operands, "\"v%d\"", w->values++);
    for (int k = 0; k < MOST_WEIGHTS && l->weight[k]; k++) {
        text_add(&operands, ",\"w%d\"", w->weights);
        add_weight(w, l->weight[k]);
    }
    snprintf(name, sizeof name, "v%d", w->values);
    add_node(w, l->op, text_str(&operands), l->attributes, name);
}

const char *network_name(int i)
{
    return i < COUNT(networks) ? networks[i].name : NULL;
}

char *network_make(int i)
{
    writing w = {.constants = {0}};
    text t = {0};
    for (int k = 0; k < networks[i].times; k++)
        for (const layer *l = networks[i].layers; l->op; l++)
            add_layer(&w, l);
    json_add(&t, "{format:'graph/1',name:%s,opset:{'':17},inputs:[{name:'v0',dtype:'f32',shape:[", networks[i].name);
    text_add(&t, "%s]}],", networks[i].input);
    static const struct {
        const char *name;
        int value;
    } numbers[] = {{"zero", 0}, {"one", 1}, {"prime", 251}, {"middle", 125}};
    json_add(&t, "outputs:[{name:'v%d'}],constants:{", w.values);
    for (int k = 0; k < COUNT(numbers); k++)
        json_add(&t, "%s:{dtype:'i64',shape:[],data:[%d]}", numbers[k].name, numbers[k].value);
    text_add(&t, ",%s},\"nodes\":[%s]}", text_str(&w.constants), text_str(&w.nodes));
    text_free(&w.constants), text_free(&w.nodes);
    return text_take(&t);
}
