#include "tests/backends/c/rig.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void rig_make(rig *g)
{
    *g = (rig){0};
    g->root = arena_string(&g->mem, "/tmp/tessera_test_XXXXXX");
    MUST(mkdtemp(g->root));
    MUST(chmod(g->root, 0755) == 0);
    g->temporary = rig_path(g, "tmp");
    MUST(mkdir(g->temporary, 0700) == 0);
    setenv("TMPDIR", g->temporary, 1);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

void rig_free(rig *g)
{
    nftw(g->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    arena_free(&g->mem);
}

char *rig_path(rig *g, const char *name)
{
    return arena_format(&g->mem, "%s/%s", g->root, name);
}

/* Replaced by renaming: a script that still runs keeps its own. */
void rig_compiler(rig *g, const char *name, const char *script)
{
    char *path = rig_path(g, name), *fresh = rig_path(g, "script");
    FILE *f = fopen(fresh, "we");
    MUST(f);
    fprintf(f, "#!/bin/sh\necho \"$*\" >> \"$0.log\"\n");
    fprintf(f, "case \"$1\" in --version) echo fake 1.0; exit;; -print-*) echo cc1; exit;; esac\n");
    fprintf(f, "out=; last=; for a in \"$@\"; do [ \"$last\" = -o ] && out=$a; last=$a; done\n%s\n", script);
    MUST(fclose(f) == 0 && chmod(fresh, 0755) == 0 && rename(fresh, path) == 0);
    setenv("TESSERA_CC", path, 1);
}

int rig_lines(const char *path)
{
    FILE *f = fopen(path, "re");
    int n = 0;
    for (int c = f ? getc(f) : EOF; c != EOF; c = getc(f))
        n += c == '\n';
    if (f)
        fclose(f);
    return n;
}

int rig_count(const char *folder)
{
    DIR *list = opendir(folder);
    int n = -2;
    if (!list)
        return -1;
    while (readdir(list))
        n++;
    closedir(list);
    return n;
}

int rig_program(const char *folder, const char *const *argv)
{
    int status = -1;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        if (chdir(folder) == 0 && freopen("log", "w", stdout) && dup2(1, 2) == 2)
            execvp(argv[0], (char **)(uintptr_t)argv);
        _exit(127);
    }
    MUST(waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
