/* nothing_test [NAME] - every function of tessera.h that takes something is given nothing (NULL, as by a call that
 * failed before) for what comes first: it says so in a sentence, or gives the neutral answer where it has nowhere to
 * say it. NAME: that one alone. The header is read: a function that is in no table here is a failure. */
/* ctest: fast */
#include "tessera.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t two[] = {2, 3};
static ts_error e;
static ts_array a;
static ts_tensor t[4], none[4]; /* t: of a graph that is there */
static ts_update u[2];
static ts_value v;
static char hex[65] = "x";
static double seconds[1];

/* ---- what can say why: false, or NULL, with a sentence ---- */
static bool array_make(void)
{
    return ts_array_make(&a, TS_F32, 2, NULL, &e);
}
static bool npy_read(void)
{
    return ts_npy_read(NULL, &a, &e);
}
static bool npy_write(void)
{
    return ts_npy_write(NULL, &a, &e);
}
static bool npy_write_none(void)
{
    return ts_npy_write("/nowhere/x.npy", NULL, &e);
}
static bool value_read(void)
{
    return ts_value_read(NULL, NULL, &v, &e);
}
static bool graph_ok(void)
{
    return ts_graph_ok(NULL, &e);
}
static bool graph_recover(void)
{
    return ts_graph_recover(NULL, &e);
}
static bool parse(void)
{
    return ts_parse(NULL, "x = input f32[1]", 1, t, &(int){0}, &e);
}
static bool function_source(void)
{
    return ts_function_source(NULL, "f", "value", &e);
}
static bool model_open(void)
{
    return ts_model_open(NULL, &e);
}
static bool model_within(void)
{
    return ts_model_open_within("bert-tiny", 1, NULL, &e);
}
static bool model_bind(void)
{
    return ts_model_bind(NULL, 0, NULL, NULL, &e);
}
static bool model_bind_values(void)
{
    return ts_model_bind_values(NULL, &(ts_binding){0}, &e);
}
static bool model_reveal(void)
{
    return ts_model_reveal(NULL, "*", &e) >= 0;
}
static bool model_steps(void)
{
    return ts_model_steps(NULL, &e);
}
static bool model_json(void)
{
    return ts_model_json(NULL, &e);
}
static bool model_extend(void)
{
    return ts_model_extend(NULL, "{}", &e);
}
static bool model_put(void)
{
    return ts_model_put(NULL, "w", &a, &e);
}
static bool model_separate(void)
{
    return ts_model_separate(NULL, &e);
}
static bool model_mixed(void)
{
    return ts_model_mixed(NULL, TS_F16, &e);
}
static bool model_trained(void)
{
    return ts_model_trained(NULL, &e);
}
static bool model_hash(void)
{
    return ts_model_hash(NULL, hex, &e);
}
static bool model_save(void)
{
    return ts_model_save(NULL, "json", "/nowhere", &e);
}
static bool plan_make(void)
{
    return ts_plan_make(NULL, NULL, &e);
}
static bool plan_varying(void)
{
    return ts_plan_make_varying(NULL, 0, NULL, NULL, &e);
}
static bool plan_of(void)
{
    return ts_plan_of(NULL, 0, NULL, 0, NULL, NULL, &e);
}
static bool plan_build(void)
{
    return ts_plan_build(NULL, &e);
}
static bool plan_set(void)
{
    return ts_plan_set(NULL, 0, &a, &e);
}
static bool plan_run(void)
{
    return ts_plan_run(NULL, &e);
}
static bool plan_get(void)
{
    return ts_plan_get(NULL, 0, &a, &e);
}
static bool plan_profile(void)
{
    return ts_plan_profile(NULL, 1, seconds, 1, &e);
}
static bool plan_timed(void)
{
    return ts_plan_run_timed(NULL, seconds, 1, &e);
}
static bool plan_strays(void)
{
    return ts_plan_strays(NULL, &(ts_stray){0}, &(ts_stray){0}, &e);
}
static bool plan_json(void)
{
    return ts_plan_json(NULL, &e);
}
static bool plan_emit(void)
{
    return ts_plan_emit(NULL, "/nowhere", NULL, &e);
}
static bool plan_value(void)
{
    return ts_plan_value(NULL, 0, &a, &e);
}
static bool plan_view(void)
{
    return ts_plan_view(NULL, 0, &a, &e);
}
static bool advance(void)
{
    return ts_advance(NULL, (ts_sequence){0}, (ts_sequence){0}, &(ts_steps){0}, &e);
}
static bool leaf_value(void)
{
    return ts_leaf_value(NULL, &a, &e);
}
static bool runner_make(void)
{
    return ts_runner_make(NULL, 0, NULL, NULL, &e);
}
static bool runner_run(void)
{
    return ts_runner_run(NULL, &a, 1, &a, &e);
}
static bool eval(void)
{
    return ts_eval(1, NULL, 0, NULL, NULL, &a, &e);
}
static bool eval_null(void)
{
    return ts_eval(1, none, 0, NULL, NULL, &a, &e);
}
static bool tokenizer_open(void)
{
    return ts_tokenizer_open(NULL, &e);
}
static bool tensors_open(void)
{
    return ts_tensors_open(NULL, &e);
}
static bool tensors_get(void)
{
    return ts_tensors_get(NULL, "w", &a, &e);
}
static bool tensors_write(void)
{
    return ts_tensors_write(NULL, 0, NULL, hex, &e);
}
static bool tensors_write_none(void)
{
    return ts_tensors_write("/nowhere/x", 1, NULL, hex, &e);
}
static bool file_write(void)
{
    return ts_file_write(NULL, "", 0, &e);
}
static bool file_hash(void)
{
    return ts_file_hash(NULL, hex, &e);
}
static bool schema_guess(void)
{
    return ts_schema_guess(NULL, NULL, &e);
}
static bool schema_text(void)
{
    return ts_schema_text(NULL, NULL, &e);
}

/* ---- what has nowhere to say it: true where the answer is a neutral one ---- */
static bool array_free(void)
{
    return ts_array_free(NULL), true;
}
static bool array_count(void)
{
    return ts_array_count(NULL) == 0;
}
static bool value_free(void)
{
    return ts_value_free(NULL), true;
}
static bool graph_free(void)
{
    return ts_graph_free(NULL), true;
}
static bool freed(void)
{
    return ts_free(NULL), true;
}
static bool input(void)
{
    return !ts_input(NULL, "x", TS_F32, 2, two);
}
static bool weight(void)
{
    return !ts_weight(NULL, "w", TS_F32, 2, two, 0, 1, 1);
}
static bool constant(void)
{
    return !ts_constant(NULL, "c", &a);
}
static bool scalar(void)
{
    return !ts_scalar(NULL, TS_F32, 1);
}
static bool call(void)
{
    return !ts_call(NULL, "exp", 1, t);
}
static bool call1(void)
{
    return !ts_call1(NULL, "exp", t[0]);
}
static bool call2(void)
{
    return !ts_call2(NULL, "add", NULL, NULL);
}
static bool call3(void)
{
    return !ts_call3(NULL, "where", NULL, NULL, NULL);
}
static bool named(void)
{
    return !ts_named(NULL, t[0], "x");
}
static bool name(void)
{
    return !*ts_name(NULL);
}
static bool type(void)
{
    return ts_type(NULL) == TS_N_DTYPE;
}
static bool rank(void)
{
    return ts_rank(NULL) == 0;
}
static bool shape(void)
{
    return !ts_shape(NULL);
}
static bool op_name(void)
{
    return !*ts_op_name(NULL);
}
static bool index_of(void)
{
    return ts_index(NULL) == 0;
}
static bool origin(void)
{
    return !ts_origin(NULL);
}
static bool output(void)
{
    return !ts_output(NULL, t[0], 0);
}
static bool node_count(void)
{
    return ts_node_count(1, none) == 0;
}
static bool leaves(void)
{
    return ts_leaves(1, none, NULL) == 0;
}
static bool replace(void)
{
    return !ts_replace(NULL, 1, t, 0, NULL, NULL, t);
}
static bool mixed(void)
{
    return !ts_mixed_precision(NULL, 1, t, TS_F16, t);
}
static bool dropout(void)
{
    return ts_dropout(NULL, 1, t, &(ts_dropout_options){0}, t) < 0;
}
static bool print(void)
{
    char *s = ts_print(1, none);
    ts_free(s);
    return s;
}
static bool hash(void)
{
    return ts_hash(1, none, hex), strlen(hex) == 64;
}
static bool chain_rule(void)
{
    return !ts_chain_rule(NULL, 1, t, NULL, 1, t, t);
}
static bool pushforward(void)
{
    return !ts_pushforward(NULL, 1, t, t, 1, t, t);
}
static bool batch(void)
{
    return !ts_batch(NULL, 1, t, 1, t, t, t);
}
static bool jacobian(void)
{
    return !ts_jacobian(NULL, t[0], t[0], NULL, NULL);
}
static bool define(void)
{
    return !ts_define(NULL, &(ts_operation){.name = "f", .n_in = 1, .text = "a"});
}
static bool function(void)
{
    return !ts_function(NULL, "f(x)", "x", NULL);
}
static bool scan_begin(void)
{
    return !ts_scan_begin(NULL, 2);
}
static bool scan_state(void)
{
    return !ts_scan_state(NULL, NULL);
}
static bool scan_slice(void)
{
    return !ts_scan_slice(NULL, NULL, false);
}
static bool scan_trip(void)
{
    return !ts_scan_trip(NULL);
}
static bool scan_step(void)
{
    return !ts_scan_step(NULL, NULL, NULL);
}
static bool scan_gather(void)
{
    return !ts_scan_gather(NULL, NULL, false);
}
static bool scan_until(void)
{
    return !ts_scan_until(NULL, NULL);
}
static bool scan_keep(void)
{
    return !ts_scan_keep(NULL, 1);
}
static bool scan_end(void)
{
    return !ts_scan_end(NULL, t);
}
static bool schedule(void)
{
    return !ts_schedule(NULL, &(ts_schedule_kind){.name = "constant"}, t[0]);
}
static bool statistics(void)
{
    ts_update *all;
    return ts_batch_statistics(NULL, 1, t, &(ts_statistics){0}, t, &all) < 0;
}
static bool optimize(void)
{
    return !ts_optimize(NULL, &(ts_optimizer){.recipe = "sgd"}, 1, t, t, &(ts_updates){0});
}
static bool lora(void)
{
    return !ts_lora(NULL, t[0], 1, 1, u);
}
static bool lora_apply(void)
{
    return !ts_lora_apply(NULL, 1, t, 0, NULL, t);
}
static bool accumulate(void)
{
    return !ts_accumulate(NULL, 1, t, 2, u, t);
}
static bool model_free(void)
{
    return ts_model_free(NULL), true;
}
static bool model_inputs(void)
{
    return ts_model_inputs(NULL) == 0;
}
static bool model_input(void)
{
    return !ts_model_input(NULL, 0, &(ts_port){0});
}
static bool model_outputs(void)
{
    return ts_model_outputs(NULL) == 0;
}
static bool model_output(void)
{
    return !ts_model_output(NULL, 0, &(ts_port){0});
}
static bool model_notes(void)
{
    return !*ts_model_notes(NULL);
}
static bool model_waits(void)
{
    return !ts_model_waits(NULL);
}
static bool model_take(void)
{
    return !ts_model_take(NULL);
}
static bool bound_free(void)
{
    return ts_bound_free(NULL), true;
}
static bool model_graph(void)
{
    return !ts_model_graph(NULL);
}
static bool model_tensor(void)
{
    return !ts_model_tensor(NULL, 0);
}
static bool model_default(void)
{
    return !ts_model_default(NULL, 0, &(ts_port){0});
}
static bool dim(void)
{
    return ts_dim(NULL, "n") == -1;
}
static bool result(void)
{
    return ts_result(NULL, "y", NULL), true;
}
static bool below(void)
{
    return ts_below(NULL, NULL, 1), true;
}
static bool plan_assemble(void)
{
    return ts_plan_assemble(NULL), true;
}
static bool plan_free(void)
{
    return ts_plan_free(NULL), true;
}
static bool plan_find(void)
{
    return ts_plan_find(NULL, "x") == -1;
}
static bool runner_made(void)
{
    return ts_runner_made(NULL) == 0;
}
static bool runner_free(void)
{
    return ts_runner_free(NULL), true;
}
static bool tokenizer_free(void)
{
    return ts_tokenizer_free(NULL), true;
}
static bool tokenizer_size(void)
{
    return ts_tokenizer_size(NULL) == 0;
}
static bool tokenizer_id(void)
{
    return ts_tokenizer_id(NULL, "a") == -1;
}
static bool tokenizer_encode(void)
{
    int64_t n = 1;
    return !ts_tokenizer_encode(NULL, "a", 1, false, &n) && n == 0;
}
static bool tokenizer_decode(void)
{
    size_t n = 1;
    return !ts_tokenizer_decode(NULL, two, 2, &n) && n == 0;
}
static bool tensors_free(void)
{
    return ts_tensors_free(NULL), true;
}
static bool tensors_count(void)
{
    return ts_tensors_count(NULL) == 0;
}
static bool tensors_name(void)
{
    return !ts_tensors_name(NULL, 0);
}

static const struct row {
    const char *name;
    bool (*says)(void);    /* false, with a sentence in e */
    bool (*neutral)(void); /* true */
} rows[] = {
    {"ts_array_make", array_make, NULL},
    {"ts_npy_read", npy_read, NULL},
    {"ts_npy_write", npy_write, NULL},
    {"ts_npy_write", npy_write_none, NULL},
    {"ts_value_read", value_read, NULL},
    {"ts_graph_ok", graph_ok, NULL},
    {"ts_graph_recover", graph_recover, NULL},
    {"ts_parse", parse, NULL},
    {"ts_function_source", function_source, NULL},
    {"ts_model_open", model_open, NULL},
    {"ts_model_open_within", model_within, NULL},
    {"ts_model_bind", model_bind, NULL},
    {"ts_model_bind_values", model_bind_values, NULL},
    {"ts_model_reveal", model_reveal, NULL},
    {"ts_model_steps", model_steps, NULL},
    {"ts_model_json", model_json, NULL},
    {"ts_model_extend", model_extend, NULL},
    {"ts_model_put", model_put, NULL},
    {"ts_model_separate", model_separate, NULL},
    {"ts_model_mixed", model_mixed, NULL},
    {"ts_model_trained", model_trained, NULL},
    {"ts_model_hash", model_hash, NULL},
    {"ts_model_save", model_save, NULL},
    {"ts_plan_make", plan_make, NULL},
    {"ts_plan_make_varying", plan_varying, NULL},
    {"ts_plan_of", plan_of, NULL},
    {"ts_plan_build", plan_build, NULL},
    {"ts_plan_set", plan_set, NULL},
    {"ts_plan_run", plan_run, NULL},
    {"ts_plan_get", plan_get, NULL},
    {"ts_plan_profile", plan_profile, NULL},
    {"ts_plan_run_timed", plan_timed, NULL},
    {"ts_plan_strays", plan_strays, NULL},
    {"ts_plan_json", plan_json, NULL},
    {"ts_plan_emit", plan_emit, NULL},
    {"ts_plan_value", plan_value, NULL},
    {"ts_plan_view", plan_view, NULL},
    {"ts_advance", advance, NULL},
    {"ts_leaf_value", leaf_value, NULL},
    {"ts_runner_make", runner_make, NULL},
    {"ts_runner_run", runner_run, NULL},
    {"ts_eval", eval, NULL},
    {"ts_eval", eval_null, NULL},
    {"ts_tokenizer_open", tokenizer_open, NULL},
    {"ts_tensors_open", tensors_open, NULL},
    {"ts_tensors_get", tensors_get, NULL},
    {"ts_tensors_write", tensors_write, NULL},
    {"ts_tensors_write", tensors_write_none, NULL},
    {"ts_file_write", file_write, NULL},
    {"ts_file_hash", file_hash, NULL},
    {"ts_schema_guess", schema_guess, NULL},
    {"ts_schema_text", schema_text, NULL},
    {"ts_free", NULL, freed},
    {"ts_array_free", NULL, array_free},
    {"ts_array_count", NULL, array_count},
    {"ts_value_free", NULL, value_free},
    {"ts_graph_free", NULL, graph_free},
    {"ts_input", NULL, input},
    {"ts_weight", NULL, weight},
    {"ts_constant", NULL, constant},
    {"ts_scalar", NULL, scalar},
    {"ts_call", NULL, call},
    {"ts_call1", NULL, call1},
    {"ts_call2", NULL, call2},
    {"ts_call3", NULL, call3},
    {"ts_named", NULL, named},
    {"ts_name", NULL, name},
    {"ts_type", NULL, type},
    {"ts_rank", NULL, rank},
    {"ts_shape", NULL, shape},
    {"ts_op_name", NULL, op_name},
    {"ts_index", NULL, index_of},
    {"ts_origin", NULL, origin},
    {"ts_output", NULL, output},
    {"ts_node_count", NULL, node_count},
    {"ts_leaves", NULL, leaves},
    {"ts_replace", NULL, replace},
    {"ts_mixed_precision", NULL, mixed},
    {"ts_dropout", NULL, dropout},
    {"ts_print", NULL, print},
    {"ts_hash", NULL, hash},
    {"ts_chain_rule", NULL, chain_rule},
    {"ts_pushforward", NULL, pushforward},
    {"ts_batch", NULL, batch},
    {"ts_jacobian", NULL, jacobian},
    {"ts_define", NULL, define},
    {"ts_function", NULL, function},
    {"ts_scan_begin", NULL, scan_begin},
    {"ts_scan_state", NULL, scan_state},
    {"ts_scan_slice", NULL, scan_slice},
    {"ts_scan_trip", NULL, scan_trip},
    {"ts_scan_step", NULL, scan_step},
    {"ts_scan_gather", NULL, scan_gather},
    {"ts_scan_until", NULL, scan_until},
    {"ts_scan_keep", NULL, scan_keep},
    {"ts_scan_end", NULL, scan_end},
    {"ts_schedule", NULL, schedule},
    {"ts_batch_statistics", NULL, statistics},
    {"ts_optimize", NULL, optimize},
    {"ts_lora", NULL, lora},
    {"ts_lora_apply", NULL, lora_apply},
    {"ts_accumulate", NULL, accumulate},
    {"ts_model_free", NULL, model_free},
    {"ts_model_inputs", NULL, model_inputs},
    {"ts_model_input", NULL, model_input},
    {"ts_model_outputs", NULL, model_outputs},
    {"ts_model_output", NULL, model_output},
    {"ts_model_notes", NULL, model_notes},
    {"ts_model_waits", NULL, model_waits},
    {"ts_model_take", NULL, model_take},
    {"ts_bound_free", NULL, bound_free},
    {"ts_model_graph", NULL, model_graph},
    {"ts_model_tensor", NULL, model_tensor},
    {"ts_model_default", NULL, model_default},
    {"ts_dim", NULL, dim},
    {"ts_result", NULL, result},
    {"ts_below", NULL, below},
    {"ts_plan_assemble", NULL, plan_assemble},
    {"ts_plan_free", NULL, plan_free},
    {"ts_plan_find", NULL, plan_find},
    {"ts_runner_made", NULL, runner_made},
    {"ts_runner_free", NULL, runner_free},
    {"ts_tokenizer_free", NULL, tokenizer_free},
    {"ts_tokenizer_size", NULL, tokenizer_size},
    {"ts_tokenizer_id", NULL, tokenizer_id},
    {"ts_tokenizer_encode", NULL, tokenizer_encode},
    {"ts_tokenizer_decode", NULL, tokenizer_decode},
    {"ts_tensors_free", NULL, tensors_free},
    {"ts_tensors_count", NULL, tensors_count},
    {"ts_tensors_name", NULL, tensors_name},
};

/* They take nothing that could be missing, or an index of a list, or what says all by NULL; the last three are told
 * what to do by an array that is there, or bytes of it. */
static const char *const others[] = {
    "ts_dtype_name",  "ts_dtype_bytes",  "ts_optimizer_name", "ts_optimizer_settings", "ts_builder_at",
    "ts_interrupt",   "ts_graph_make",   "ts_ops_json",       "ts_onnx_json",          "ts_gradients_json",
    "ts_axes_json",   "ts_passes_json",  "ts_schemas_json",   "ts_cache_json",         "ts_cache_check",
    "ts_cache_prune", "ts_targets_json", "ts_target_usual",   "ts_machine_json",       "ts_array_at",
    "ts_array_set",   "ts_array_random", "ts_hash_bytes",
};

static bool known(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strlen(rows[i].name) == n && !strncmp(rows[i].name, name, n))
            return true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strlen(others[i]) == n && !strncmp(others[i], name, n))
            return true;
    return false;
}

/* The name stands before the first parenthesis of a line that begins with TS_API. */
static void look_through(FILE *header)
{
    char line[512];
    int n = 0;
    while (fgets(line, sizeof line, header)) {
        const char *end = strncmp(line, "TS_API ", 7) ? NULL : strchr(line, '('), *at = end;
        while (at && at > line && at[-1] != ' ' && at[-1] != '*')
            at--;
        if (!at)
            continue;
        n++;
        if (!CHECK(known(at, (size_t)(end - at))))
            printf("%.*s is in no table here\n", (int)(end - at), at);
    }
    CHECK(n > 100);
}

int main(int argc, char **argv)
{
    ts_graph *g = ts_graph_make();
    t[0] = ts_input(g, "x", TS_F64, 0, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        if (argc > 1 && strcmp(argv[1], r->name))
            continue;
        e = (ts_error){0};
        if (!(r->says ? CHECK(!r->says() && e.code != TS_OK && *e.text) : CHECK(r->neutral())))
            printf("%s: \"%s\"\n", r->name, e.text);
    }
    const char *source = getenv("SOURCE");
    char path[4096];
    snprintf(path, sizeof path, "%s/include/tessera.h", source ? source : ".");
    FILE *header = fopen(path, "r");
    if (CHECK(header))
        look_through(header), fclose(header);
    ts_graph_free(g);
    return check_done();
}
