/* Every function of tessera.h that takes something is given nothing (NULL, as by a call that failed before) for what
 * comes first: it says so in a sentence, or gives the neutral answer where it has nowhere to say it. The header is
 * read: a function that is not called here, nor stands in the list below, is a failure. */
/* ctest: fast */
#include "tessera_shared.h"
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

/* They take nothing that could be missing, or an index of a list, or what says all by NULL; the last ones are told
 * what to do by an array that is there, or bytes of it. */
static const char *const others[] = {
    "ts_dtype_name",  "ts_dtype_bytes",  "ts_optimizer_name", "ts_optimizer_settings", "ts_builder_at",
    "ts_interrupt",   "ts_graph_make",   "ts_ops_json",       "ts_onnx_json",          "ts_gradients_json",
    "ts_axes_json",   "ts_passes_json",  "ts_schemas_json",   "ts_cache_json",         "ts_cache_check",
    "ts_cache_prune", "ts_targets_json", "ts_target_usual",   "ts_machine_json",       "ts_array_at",
    "ts_array_set",   "ts_array_random", "ts_hash_bytes",     "ts_machine_calibrate",
};

static char called[16384] = " "; /* names between blanks */

static void note(const char *name)
{
    const size_t n = strlen(called);
    snprintf(called + n, sizeof called - n, "%s ", name);
}

/* done: what the call gave, which is to be false, or NULL, with a sentence */
static void says(const char *name, bool done)
{
    if (!CHECK(!done && e.code != TS_OK && *e.text))
        printf("%s: \"%s\"\n", name, e.text);
    e = (ts_error){0};
    note(name);
}

static void neutral(const char *name, bool ok)
{
    if (!CHECK(ok))
        puts(name);
    note(name);
}

/* ---- values, graphs, models ---- */
static void test_says(void)
{
    says("ts_array_make", ts_array_make(&a, TS_F32, 2, NULL, &e));
    says("ts_npy_read", ts_npy_read(NULL, &a, &e));
    says("ts_npy_write", ts_npy_write(NULL, &a, &e));
    says("ts_npy_write", ts_npy_write("/nowhere/x.npy", NULL, &e));
    says("ts_value_read", ts_value_read(NULL, NULL, &v, &e));
    says("ts_graph_ok", ts_graph_ok(NULL, &e));
    says("ts_graph_recover", ts_graph_recover(NULL, &e));
    says("ts_parse", ts_parse(NULL, "x = input f32[1]", 1, t, &(int){0}, &e));
    says("ts_function_source", ts_function_source(NULL, "f", "value", &e));
    says("ts_model_open", ts_model_open(NULL, &e));
    says("ts_model_open_within", ts_model_open_within("bert-tiny", 1, NULL, &e));
    says("ts_model_bind", ts_model_bind(NULL, 0, NULL, NULL, &e));
    says("ts_model_bind_values", ts_model_bind_values(NULL, &(ts_binding){0}, &e));
    says("ts_model_reveal", ts_model_reveal(NULL, "*", &e) >= 0);
    says("ts_model_cut", ts_model_cut(NULL, 0, NULL, 0, NULL, &e));
    says("ts_model_steps", ts_model_steps(NULL, &e));
    says("ts_model_json", ts_model_json(NULL, &e));
    says("ts_model_extend", ts_model_extend(NULL, "{}", &e));
    says("ts_model_put", ts_model_put(NULL, "w", &a, &e));
    says("ts_model_separate", ts_model_separate(NULL, &e));
    says("ts_model_mixed", ts_model_mixed(NULL, TS_F16, &e));
    says("ts_model_trained", ts_model_trained(NULL, &e));
    says("ts_model_hash", ts_model_hash(NULL, hex, &e));
    says("ts_model_save", ts_model_save(NULL, "json", "/nowhere", &e));
    CHECK(!ts_quantize("/nowhere/m.onnx", &(ts_quantization){.bits = 8}, "/nowhere/q.onnx", NULL, NULL));
    says("ts_quantize", ts_quantize(NULL, &(ts_quantization){.bits = 8}, "/nowhere", NULL, &e));
    says("ts_advance", ts_advance(NULL, (ts_sequence){0}, (ts_sequence){0}, &(ts_steps){0}, &e));
    says("ts_leaf_value", ts_leaf_value(NULL, &a, &e));
}

static void test_graphs(void)
{
    ts_free(NULL);
    neutral("ts_free", true);
    ts_array_free(NULL);
    neutral("ts_array_free", true);
    neutral("ts_array_count", ts_array_count(NULL) == 0);
    ts_value_free(NULL);
    neutral("ts_value_free", true);
    ts_shared_free(NULL);
    neutral("ts_shared_free", true);
    ts_graph_free(NULL);
    neutral("ts_graph_free", true);
    neutral("ts_input", !ts_input(NULL, "x", TS_F32, 2, two));
    neutral("ts_weight", !ts_weight(NULL, "w", TS_F32, 2, two, 0, 1, 1));
    neutral("ts_constant", !ts_constant(NULL, "c", &a));
    neutral("ts_scalar", !ts_scalar(NULL, TS_F32, 1));
    neutral("ts_call", !ts_call(NULL, "exp", 1, t));
    neutral("ts_call1", !ts_call1(NULL, "exp", t[0]));
    neutral("ts_call2", !ts_call2(NULL, "add", NULL, NULL));
    neutral("ts_call3", !ts_call3(NULL, "where", NULL, NULL, NULL));
    neutral("ts_named", !ts_named(NULL, t[0], "x"));
    neutral("ts_axes", !ts_axes(NULL, t[0], "a b"));
    neutral("ts_axis", ts_axis(NULL, "a") == -1);
    neutral("ts_name", !*ts_name(NULL));
    neutral("ts_type", ts_type(NULL) == TS_N_DTYPE);
    neutral("ts_rank", ts_rank(NULL) == 0);
    neutral("ts_shape", !ts_shape(NULL));
    neutral("ts_op_name", !*ts_op_name(NULL));
    neutral("ts_index", ts_index(NULL) == 0);
    neutral("ts_origin", !ts_origin(NULL));
    neutral("ts_output", !ts_output(NULL, t[0], 0));
    neutral("ts_nodes", ts_nodes(1, none, NULL) == 0);
    neutral("ts_operand", !ts_operand(NULL, 0));
    neutral("ts_consumers", ts_consumers(1, none, t[0], NULL) == 0);
    neutral("ts_attribute_at", !ts_attribute_at(NULL, 0, &(ts_attribute){0}));
    neutral("ts_at", !ts_at(NULL, __FILE__, __LINE__));
    neutral("ts_leaves", ts_leaves(1, none, NULL) == 0);
    neutral("ts_replace", !ts_replace(NULL, 1, t, 0, NULL, NULL, t));
    neutral("ts_mixed_precision", !ts_mixed_precision(NULL, 1, t, TS_F16, t));
    neutral("ts_dropout", ts_dropout(NULL, 1, t, &(ts_dropout_options){0}, t) < 0);
    ts_hash(1, none, hex);
    neutral("ts_hash", strlen(hex) == 64);
    char *s = ts_print(1, none);
    neutral("ts_print", s && !strstr(s, "n0"));
    ts_free(s);
}

static void test_made_of_graphs(void)
{
    ts_update *all;
    neutral("ts_chain_rule", !ts_chain_rule(NULL, 1, t, NULL, 1, t, t));
    neutral("ts_pushforward", !ts_pushforward(NULL, 1, t, t, 1, t, t));
    neutral("ts_batch", !ts_batch(NULL, 1, t, 1, t, t, t));
    neutral("ts_jacobian", !ts_jacobian(NULL, t[0], t[0], NULL, NULL));
    neutral("ts_define", !ts_define(NULL, &(ts_operation){.name = "f", .n_in = 1, .text = "a"}));
    neutral("ts_function", !ts_function(NULL, "f(x)", "x", NULL));
    neutral("ts_scan_begin", !ts_scan_begin(NULL, 2));
    neutral("ts_scan_state", !ts_scan_state(NULL, NULL));
    neutral("ts_scan_slice", !ts_scan_slice(NULL, NULL, false));
    neutral("ts_scan_trip", !ts_scan_trip(NULL));
    neutral("ts_scan_step", !ts_scan_step(NULL, NULL, NULL));
    neutral("ts_scan_gather", !ts_scan_gather(NULL, NULL, false));
    neutral("ts_scan_until", !ts_scan_until(NULL, NULL));
    neutral("ts_scan_keep", !ts_scan_keep(NULL, 1));
    neutral("ts_scan_end", !ts_scan_end(NULL, t));
    neutral("ts_schedule", !ts_schedule(NULL, &(ts_schedule_kind){.name = "constant"}, t[0]));
    neutral("ts_optimize", !ts_optimize(NULL, &(ts_optimizer){.recipe = "sgd"}, 1, t, t, &(ts_updates){0}));
    neutral("ts_lora", !ts_lora(NULL, t[0], 1, 1, u));
    neutral("ts_lora_apply", !ts_lora_apply(NULL, 1, t, 0, NULL, t));
    neutral("ts_accumulate", !ts_accumulate(NULL, 1, t, 2, u, t));
    neutral("ts_batch_statistics", ts_batch_statistics(NULL, 1, t, &(ts_statistics){0}, t, &all) < 0);
}

static void test_models(void)
{
    ts_model_free(NULL);
    neutral("ts_model_free", true);
    neutral("ts_model_inputs", ts_model_inputs(NULL) == 0);
    neutral("ts_model_input", !ts_model_input(NULL, 0, &(ts_port){0}));
    neutral("ts_model_outputs", ts_model_outputs(NULL) == 0);
    neutral("ts_model_output", !ts_model_output(NULL, 0, &(ts_port){0}));
    neutral("ts_model_notes", !*ts_model_notes(NULL));
    neutral("ts_model_waits", !ts_model_waits(NULL));
    neutral("ts_model_take", !ts_model_take(NULL));
    ts_model_restore(NULL, NULL);
    neutral("ts_model_restore", true);
    ts_bound_free(NULL);
    neutral("ts_bound_free", true);
    neutral("ts_model_graph", !ts_model_graph(NULL));
    neutral("ts_model_tensor", !ts_model_tensor(NULL, 0));
    neutral("ts_model_default", !ts_model_default(NULL, 0, &(ts_port){0}));
    neutral("ts_dim", ts_dim(NULL, "n") == -1);
    ts_result(NULL, "y", NULL);
    neutral("ts_result", true);
    ts_below(NULL, NULL, 1);
    neutral("ts_below", true);
}

/* ---- plans, texts, files ---- */
static void test_plans(void)
{
    int64_t count = 1;
    size_t bytes = 1;
    says("ts_plan_make", ts_plan_make(NULL, NULL, &e));
    says("ts_plan_make_varying", ts_plan_make_varying(NULL, 0, NULL, NULL, &e));
    says("ts_plan_of", ts_plan_of(NULL, 0, NULL, 0, NULL, NULL, &e));
    says("ts_plan_build", ts_plan_build(NULL, &e));
    says("ts_plan_runs", ts_plan_runs(NULL, &e));
    says("ts_plan_set", ts_plan_set(NULL, 0, &a, &e));
    says("ts_plan_run", ts_plan_run(NULL, &e));
    says("ts_plan_get", ts_plan_get(NULL, 0, &a, &e));
    says("ts_plan_profile", ts_plan_profile(NULL, 1, seconds, 1, &e));
    says("ts_plan_run_timed", ts_plan_run_timed(NULL, seconds, 1, &e));
    says("ts_plan_run_traced", ts_plan_run_traced(NULL, NULL, NULL, &e));
    says("ts_plan_pipeline", ts_plan_pipeline(NULL, &(ts_pipeline){.n = 1, .in = &a, .out = &a}, &e));
    says("ts_plan_strays", ts_plan_strays(NULL, &(ts_stray){0}, &(ts_stray){0}, &e));
    says("ts_plan_json", ts_plan_json(NULL, &e));
    says("ts_plan_kernel", ts_plan_kernel(NULL, 0, "text", &e));
    says("ts_plan_nests", ts_plan_nests(NULL, 0, 1, 0, &e));
    says("ts_plan_kernel", ts_plan_kernel(NULL, 0, "text", &e));
    says("ts_plan_emit", ts_plan_emit(NULL, "/nowhere", NULL, &e));
    says("ts_plan_value", ts_plan_value(NULL, 0, &a, &e));
    says("ts_plan_view", ts_plan_view(NULL, 0, &a, &e));
    says("ts_plan_ledger", ts_plan_ledger(NULL, &e) != NULL);
    says("ts_plan_lend", ts_plan_lend(NULL, 0, &a, &e));
    ts_shared *const nowhere[1] = {NULL};
    float one = 0;
    says("ts_plan_share", ts_plan_share(NULL, 0, NULL, 0, &e));
    says("ts_merge_link", ts_merge_link(NULL, "x", NULL, 0, TS_ADD, &e));
    says("ts_plan_shares", ts_plan_shares(NULL, 1, &e));
    says("ts_shared_make", ts_shared_make(NULL, 1, &e) != NULL);
    says("ts_shared_write", ts_shared_write(NULL, 0, &one, 1, &e));
    says("ts_shared_read", ts_shared_read(NULL, 0, &one, 1, &e));
    says("ts_shared_meeting", ts_shared_meeting(NULL, &(ts_shared_id){0}, &e));
    says("ts_shared_join", ts_shared_join(1, nowhere, 0, 1, &(ts_shared_id){0}, &e));
    says("ts_shared_exchange", ts_shared_exchange(1, NULL, &e));
    says("ts_plan_run_stops", ts_plan_run_stops(NULL, 0, NULL, NULL, NULL, &e));
    says("ts_plan_touched", ts_plan_touched(NULL, 0, &(int){0}, &(int){0}, &e));
    says("ts_runner_make", ts_runner_make(NULL, 0, NULL, NULL, &e));
    says("ts_runner_run", ts_runner_run(NULL, &a, 1, &a, &e));
    says("ts_eval", ts_eval(1, NULL, 0, NULL, NULL, &a, &e));
    says("ts_eval", ts_eval(1, none, 0, NULL, NULL, &a, &e));
    says("ts_tokenizer_open", ts_tokenizer_open(NULL, &e));
    says("ts_tensors_open", ts_tensors_open(NULL, &e));
    says("ts_tensors_get", ts_tensors_get(NULL, "w", &a, &e));
    says("ts_tensors_write", ts_tensors_write(NULL, 0, NULL, hex, &e));
    says("ts_tensors_write", ts_tensors_write("/nowhere/x", 1, NULL, hex, &e));
    says("ts_tensors_write_parts", ts_tensors_write_parts("/nowhere/x", 1, NULL, NULL, NULL, hex, &e));
    says("ts_file_write", ts_file_write(NULL, "", 0, &e));
    says("ts_file_hash", ts_file_hash(NULL, hex, &e));
    says("ts_file_hash", ts_file_hash("/dev/null", NULL, &e));
    says("ts_schema_guess", ts_schema_guess(NULL, NULL, &e));
    says("ts_schema_text", ts_schema_text(NULL, NULL, &e));
    says("ts_plan_memory", ts_plan_memory(NULL, (ts_memory[TS_N_TAG]){{0}}, &e));
    ts_plan_mark(NULL);
    neutral("ts_plan_mark", !*ts_tag_name(TS_N_TAG));
    neutral("ts_tag_name", true);
    ts_plan_assemble(NULL);
    neutral("ts_plan_assemble", true);
    ts_plan_free(NULL);
    neutral("ts_plan_free", true);
    neutral("ts_plan_find", ts_plan_find(NULL, "x") == -1);
    neutral("ts_runner_made", ts_runner_made(NULL) == 0);
    ts_runner_free(NULL);
    neutral("ts_runner_free", true);
    ts_tokenizer_free(NULL);
    neutral("ts_tokenizer_free", true);
    neutral("ts_tokenizer_size", ts_tokenizer_size(NULL) == 0);
    neutral("ts_tokenizer_id", ts_tokenizer_id(NULL, "a") == -1);
    ts_tensors_free(NULL);
    neutral("ts_tensors_free", true);
    neutral("ts_tensors_count", ts_tensors_count(NULL) == 0);
    neutral("ts_tensors_name", !ts_tensors_name(NULL, 0));
    neutral("ts_plan_device", !ts_plan_device(NULL));
    neutral("ts_tokenizer_encode", !ts_tokenizer_encode(NULL, "a", 1, false, &count) && count == 0);
    neutral("ts_tokenizer_decode", !ts_tokenizer_decode(NULL, two, 2, &bytes) && bytes == 0);
}

/* ---- the headers ---- */
static bool known(const char *name, size_t n)
{
    char word[128];
    snprintf(word, sizeof word, " %.*s ", (int)n, name);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strlen(others[i]) == n && !strncmp(others[i], name, n))
            return true;
    return strstr(called, word);
}

/* The name stands before the first parenthesis of a line that begins with TS_API. */
static int look_through(const char *header)
{
    const char *source = getenv("SOURCE");
    char line[512], path[4096];
    int n = 0;
    snprintf(path, sizeof path, "%s/include/%s", source ? source : ".", header);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        const char *end = strncmp(line, "TS_API ", 7) ? NULL : strchr(line, '('), *at = end;
        while (at && at > line && at[-1] != ' ' && at[-1] != '*')
            at--;
        if (!at)
            continue;
        n++;
        if (!CHECK(known(at, (size_t)(end - at))))
            printf("%.*s is not called here\n", (int)(end - at), at);
    }
    if (f)
        fclose(f);
    return n;
}

int main(void)
{
    ts_graph *g = ts_graph_make();
    t[0] = ts_input(g, "x", TS_F64, 0, NULL);
    test_says();
    test_graphs();
    test_made_of_graphs();
    test_models();
    test_plans();
    CHECK(look_through("tessera.h") > 100 && look_through("tessera_shared.h") > 8);
    ts_graph_free(g);
    return check_done();
}
