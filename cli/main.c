/* main.c - finds the verb, runs it, reports the error, ends with its code. Signals end the process in one place. */
#include "cli/args.h"
#include "cli/help.h"
#include "cli/mapped.h"
#include "cli/stop.h"
#include "graph/base/suggest.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

/* abort() is how the library and fail_bug report mistakes of ours. */
static void broken(int signal)
{
    (void)signal;
    static const char said[] = "this is a bug in Tessera; please report it with the command and `tessera version`\n";
    if (write(STDERR_FILENO, said, sizeof said - 1) < 0)
        _exit(TS_BUG);
    _exit(TS_BUG);
}

static void handle(int signal, void (*by)(int))
{
    struct sigaction now = {0}, before;
    if (sigaction(signal, NULL, &before) == 0 && before.sa_handler == SIG_IGN)
        return; /* nohup */
    now.sa_handler = by;
    sigaction(signal, &now, NULL);
}

static bool unknown_verb(const char *name, ts_error *e)
{
    err_set(e, TS_USAGE, "there is no verb \"%s\"", name);
    ENDED_BY(suggest_free) suggestion near = {.word = name};
    for (int i = 0; verbs[i]; i++) {
        if (!verbs[i]->hidden)
            suggest_offer(&near, verbs[i]->name);
    }
    if (!suggest_near(&near, "", e))
        err_hint(e, "tessera alone lists the verbs");
    return false;
}

static int run_verb(const verb *v, args *a, ts_error *e)
{
    if (a->help) {
        (a->help == HELP_WHOLE ? help_verb : help_short)(stdout, v, a->console.color_out);
        return TS_OK;
    }
    int code = v->run(a, e);
    return e->code ? (int)e->code : code;
}

/* Standard output may be a full disk. */
static int finish(int code, const console *c, ts_error *e)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    if (e->code)
        return code;
    err_set(e, TS_FILES, "cannot write to standard output: the disk is full or the reader is gone");
    console plain = *c;
    plain.json = false;
    console_error(&plain, e);
    return e->code;
}

static int command(int argc, char **argv)
{
    ts_error e = {0};
    args a = {.console = console_make(NULL, false, false)};
    const char *name = argc > 1 ? argv[1] : "--help";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        help_overview(stdout, a.console.color_out);
        return finish(TS_OK, &a.console, &e);
    }
    const verb *v = verb_find(strcmp(name, "--version") == 0 ? "version" : name);
    for (int i = 1; i < argc; i++)
        a.console.json |= strcmp(argv[i], "--json") == 0 && (!v || verb_answers_json(v));
    int code = TS_USAGE;
    if (!v)
        unknown_verb(name, &e);
    else if (args_parse(&a, v, argc - 2, argv + 2, &e))
        code = run_verb(v, &a, &e);
    if (e.code) {
        code = (int)e.code;
        console_error(&a.console, &e);
    }
    code = stop_code(finish(code, &a.console, &e));
    args_free(&a);
    return code;
}

int main(int argc, char **argv)
{
    handle(SIGINT, stop_now);
    handle(SIGTERM, stop_now);
    handle(SIGALRM, stop_now);
    handle(SIGABRT, broken);
    handle(SIGXFSZ, SIG_IGN); /* a file that may not grow is a full disk: said by who writes it, and taken away */
    mapped_watch();
    return command(argc, argv);
}
