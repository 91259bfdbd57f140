/* host_memory.c - how much memory this process may still take: the least of what the system can give without
 * swapping, what is left of the control group (containers), and what is left of the address space limit. With
 * overcommit an allocation of more than that succeeds and the process is killed later; so plans ask first. */
#include "backends/host_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The number after `key` in a small text file; with an empty key the first one. -1: no file, no key, or "max". */
static int64_t look_up(const char *path, const char *key)
{
    ENDED_BY(text_free) text t = {0};
    int64_t v = -1;
    if (file_read(path, 1 << 20, &t, NULL)) {
        const char *at = strstr(text_str(&t), key);
        char *end = NULL;
        if (at) {
            v = strtoll(at + strlen(key), &end, 10);
            v = end == at + strlen(key) ? -1 : v;
        }
    }
    return v;
}

/* The group's folder under `mount` for the line of /proc/self/cgroup that starts after `id`; inside a container the
 * path is often that of the host, then the mount itself is the group. */
static void group_folder(text *out, const char *id, const char *mount)
{
    ENDED_BY(text_free) text t = {0};
    const char *at = file_read("/proc/self/cgroup", 1 << 16, &t, NULL) ? strstr(text_str(&t), id) : NULL;
    at = at ? at + strlen(id) : "";
    text_add(out, "%s%.*s", mount, (int)strcspn(at, "\n"), at);
    if (access(text_str(out), R_OK) == 0)
        return;
    text_free(out);
    text_add(out, "%s", mount);
}

static int64_t look_in(const text *folder, const char *file, const char *key)
{
    ENDED_BY(text_free) text path = {0};
    text_add(&path, "%s/%s", text_str(folder), file);
    return look_up(text_str(&path), key);
}

int64_t host_memory_left(int64_t limit, int64_t used, int64_t idle)
{
    int64_t left;
    if (limit < 0 || used < 0 || !int_add(limit - used, idle > 0 ? idle : 0, &left))
        return INT64_MAX;
    return left > 0 ? left : 0;
}

static int64_t group_left(const char *id, const char *mount, const char *limit_file, const char *used_file)
{
    ENDED_BY(text_free) text folder = {0};
    group_folder(&folder, id, mount);
    int64_t limit = look_in(&folder, limit_file, ""), used = look_in(&folder, used_file, "");
    int64_t idle = look_in(&folder, "memory.stat", "inactive_file ");
    return host_memory_left(limit, used, idle);
}

static int64_t address_space_left(void)
{
    struct rlimit r;
    int64_t pages = look_up("/proc/self/statm", "");
    if (getrlimit(RLIMIT_AS, &r) != 0 || r.rlim_cur == RLIM_INFINITY || r.rlim_cur > INT64_MAX || pages < 0)
        return INT64_MAX;
    int64_t left = (int64_t)r.rlim_cur - pages * sysconf(_SC_PAGESIZE);
    return left > 0 ? left : 0;
}

int64_t host_memory_free(void)
{
    int64_t kb = look_up("/proc/meminfo", "MemAvailable:");
    int64_t left[] = {kb >= 0 ? kb * 1024 : INT64_MAX,
                      group_left("0::", "/sys/fs/cgroup", "memory.max", "memory.current"),
                      group_left(":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
                      address_space_left()};
    int64_t least = INT64_MAX;
    for (int i = 0; i < COUNT(left); i++)
        least = left[i] < least ? left[i] : least;
    return least;
}
