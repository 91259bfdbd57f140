/* compile.c - CUDA C to PTX by NVRTC: compile ARCHITECTURE IN OUT [OPTION...]. Status 77 where there is no NVRTC. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 16 };

typedef struct nvrtc {
    int (*create)(void **, const char *, const char *, int, const char *const *, const char *const *);
    int (*compile)(void *, int, const char *const *);
    int (*size)(void *, size_t *), (*text)(void *, char *), (*log_size)(void *, size_t *), (*log)(void *, char *);
} nvrtc;

static void *open_library(void)
{
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", NULL};
    void *l = NULL;
    for (int i = 0; names[i] && !l; i++)
        l = dlopen(names[i], RTLD_NOW);
    return l;
}

static int find(void *l, nvrtc *n)
{
    *(void **)&n->create = dlsym(l, "nvrtcCreateProgram");
    *(void **)&n->compile = dlsym(l, "nvrtcCompileProgram");
    *(void **)&n->size = dlsym(l, "nvrtcGetPTXSize");
    *(void **)&n->text = dlsym(l, "nvrtcGetPTX");
    *(void **)&n->log_size = dlsym(l, "nvrtcGetProgramLogSize");
    *(void **)&n->log = dlsym(l, "nvrtcGetProgramLog");
    return n->create && n->compile && n->size && n->text && n->log_size && n->log;
}

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    long n = 0;
    if (!f || fseek(f, 0, SEEK_END) || (n = ftell(f)) < 0)
        return NULL;
    rewind(f);
    char *s = calloc((size_t)n + 1, 1);
    if (s && fread(s, 1, (size_t)n, f) != (size_t)n)
        s[0] = 0;
    fclose(f);
    return s;
}

static int failed(const nvrtc *n, void *program)
{
    size_t size = 0;
    char *log = !n->log_size(program, &size) ? calloc(size + 1, 1) : NULL;
    if (log && !n->log(program, log))
        fprintf(stderr, "%s\n", log);
    free(log);
    return 1;
}

static int compile(const nvrtc *n, const char *text, const char *name, const char *out, int n_option,
                   const char *const *option)
{
    void *program;
    size_t size;
    if (n->create(&program, text, name, 0, NULL, NULL) || n->compile(program, n_option, option) ||
        n->size(program, &size))
        return failed(n, program);
    char *ptx = calloc(size + 1, 1);
    FILE *f = fopen(out, "wb");
    const int ok = ptx && f && !n->text(program, ptx) && fputs(ptx, f) >= 0;
    free(ptx);
    return (!f || !fclose(f)) && ok ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *option[MOST];
    int n_option = 0;
    char arch[64];
    nvrtc n;
    void *l = open_library();
    if (argc < 4 || argc > MOST)
        return fprintf(stderr, "compile ARCHITECTURE IN OUT [OPTION...]\n"), 2;
    if (!l || !find(l, &n))
        return printf("skipped: no NVRTC\n"), 77;
    snprintf(arch, sizeof arch, "--gpu-architecture=%s", argv[1]);
    option[n_option++] = arch;
    for (int i = 4; i < argc; i++)
        option[n_option++] = argv[i];
    char *text = read_file(argv[2]);
    if (!text)
        return fprintf(stderr, "cannot read %s\n", argv[2]), 1;
    const int status = compile(&n, text, argv[2], argv[3], n_option, option);
    free(text);
    return status;
}
