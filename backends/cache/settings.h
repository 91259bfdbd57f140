/* settings.h - where programs and files are: what a build asks of the environment, read once. What one back end alone
 * listens to it asks for itself (`env_text` in graph/base). The strings belong to the environment and stay valid while
 * the program does not change it. */
#pragma once

typedef struct settings {
    const char *path;      /* PATH, where programs are looked for; "" when unset */
    const char *cache;     /* XDG_CACHE_HOME when absolute, else NULL */
    const char *home;      /* HOME when absolute, else NULL */
    const char *temporary; /* TMPDIR when absolute, else "/tmp" */
} settings;

settings settings_read(void); /* never fails: what is unset or unfit has the values above */
