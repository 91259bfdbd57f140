/* share.h - of a kernel's work: which part of how many. Every kernel's text has this in front. A plain value; what it
 * points to is the caller's, for the call. */
typedef struct ts_share {
    long part, parts;
    char *claimed; /* how much of part i's, at i * apart */
    long apart;
} ts_share;
