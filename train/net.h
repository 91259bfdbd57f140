/* net.h - a model with what training puts on it: pooling, a head, a loss; and how a batch becomes its inputs.
 * A net owns its model, until net_free; options and data are the caller's and outlive it.
 * Letters: b examples of a batch, s tokens of an example, h width of the model, c classes. */
#pragma once
#include "train/data.h"
#include "train/options.h"

typedef enum feed_role { FEED_IDS, FEED_MASK, FEED_TYPES, FEED_POSITIONS, FEED_EMPTY, FEED_ARRAY } feed_role;
typedef struct feed { /* one input of the model */
    feed_role role;
    ts_port port;
    const ts_array *from; /* FEED_ARRAY: the data */
} feed;

enum {
    MOST_FEEDS = 32,
    MOST_PORTS = 320,
    HEAD_NAME = 48
}; /* inputs that a batch fills; that a model has; bytes of "head7.weight" */
typedef struct net {
    const train_options *asked;
    const struct task *task;
    ts_model *model;
    ts_graph *g;
    int n_feed;
    feed feed[MOST_FEEDS];
    int64_t rows;                               /* of the model's inputs: b, or 2b for pairs */
    int64_t batch, length, classes, vocabulary; /* vocabulary: ids are below; 0: unknown */
    bool text, stream;
    int thinned;                      /* places of the model where elements are left out at random */
    ts_tensor mask, label;            /* inputs: [b, s], and the labels; NULL where not needed */
    char head[HEAD_NAME / 2];         /* what its names begin with: "head", or "head2" where the model has such names */
    ts_tensor head_weight, head_bias; /* weights [c, h] and [c]; NULL without a head */
    ts_tensor output, logits, loss;
    int n_stat; /* statistics of norms over the batch, which follow it while training */
    ts_update *stat;
} net;

bool net_is_built_in(const char *model); /* its name is that of a model without a file */
/* What text gives an input, as exporters name them: attention_mask, token_type_ids, position_ids, input_ids. */
feed_role net_role(const ts_port *p);
bool net_is_integer(const ts_port *p);

/* Opens the model, binds batch and length; nothing is put on. */
bool net_open(net *n, const train_options *w, const data *d, int64_t batch, ts_error *e);
/* The same, and puts head and loss on. classes: labels seen in the data, or 0. */
bool net_make(net *n, const train_options *w, const data *d, int64_t batch, int64_t classes, ts_error *e);
/* The same over `least` examples, or over those of a batch in training where the model takes no other number. */
bool net_make_least(net *n, const train_options *w, const data *d, int64_t least, int64_t classes, ts_error *e);
void net_free(net *n);
const char *net_head_name(const net *n, const char *part, char out[HEAD_NAME]); /* "head.weight" */
/* Dropout (dropout.c): on n->output, which is computed anew; before the head; whether the options can be met. */
bool net_dropout(net *n, ts_error *e);
ts_tensor net_dropout_head(net *n, ts_tensor x);
bool net_dropout_fits(const net *n, bool has_head, ts_error *e);
/* "the nearest are a, b": names that were meant by a glob that matches none (nearest.c). */
enum { NEAREST_TEXT = 800 }; /* bytes of a message */
void names_nearest(const char *glob, int n, const ts_tensor *all, char out[NEAREST_TEXT]);
bool task_is_text(const train_options *w);                        /* data is lines or a stream, not arrays */
ts_tensor *leaves_make(int n, const ts_tensor *root, int *count); /* with room for two more; the caller's */

/* The arrays of examples which[0 .. batch): one for each feed, then the label (data NULL without). */
enum { MOST_FED = MOST_FEEDS + 2 }; /* arrays of a batch */
bool net_arrays(const net *n, const data *d, const int64_t *which, int64_t count, ts_array *out, ts_error *e);
void net_arrays_free(const net *n, ts_array *all); /* also after a failure of net_arrays */
bool net_set(const net *n, ts_plan *p, const ts_array *all, ts_error *e);
int net_n_arrays(const net *n);
const char *net_array_name(const net *n, int i); /* of the input that it is for; "" where there is none */
bool net_array_fixed(const net *n, int i);       /* it does not depend on which examples are taken */
