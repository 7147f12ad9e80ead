/* A library to preload: it counts every call with which a process changes what is below a folder, and lets one of
 * them fail, stop short or end the process. It also keeps what is put in place, and lets the clock jump.
 *
 * STROOCK_FAULT_UNDER  the folder, as an absolute path without links
 * STROOCK_FAULT        WHAT:K, the fault and the call at which it comes, counted from 1; WHAT is one of
 *                      kill-before, kill-after, kill-half (of a write), half (a short write),
 *                      signal-N (the process gets a signal, and the call is made),
 *                      once-N, from-N (this call, or this and all later ones, fail with the error number N)
 * STROOCK_FAULT_LOG    a file that gets a line `K CALL PATH` before each call
 * STROOCK_FAULT_KEEP   a folder that gets a link to every file that is about to be renamed below the folder
 * STROOCK_FAULT_CLOCK  seconds by which the wall clock jumps, to and fro, each time it is read
 *
 * Errors of the calls that this library makes for itself are ignored: a fault that does not come is seen by who
 * waits for it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum what { NOTHING, KILL_BEFORE, KILL_AFTER, KILL_HALF, HALF, SIGNAL, FAIL_ONCE, FAIL_FROM };

static char under[PATH_MAX], kept[PATH_MAX];
static size_t under_length;
static enum what what = NOTHING;
static long at, error_number, jump;
static int log_file = -1;
static atomic_long count, reads;

__attribute__((constructor)) static void begin(void) {
    const char *text = getenv("STROOCK_FAULT_UNDER");
    if (text) under_length = (size_t)snprintf(under, sizeof under, "%s", text);
    if ((text = getenv("STROOCK_FAULT_KEEP"))) snprintf(kept, sizeof kept, "%s", text);
    if ((text = getenv("STROOCK_FAULT_CLOCK"))) jump = atol(text);
    if ((text = getenv("STROOCK_FAULT_LOG")))
        log_file = (int)syscall(SYS_openat, AT_FDCWD, text, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (!(text = getenv("STROOCK_FAULT"))) return;
    if (!strncmp(text, "kill-before:", 12)) what = KILL_BEFORE;
    else if (!strncmp(text, "kill-after:", 11)) what = KILL_AFTER;
    else if (!strncmp(text, "kill-half:", 10)) what = KILL_HALF;
    else if (!strncmp(text, "half:", 5)) what = HALF;
    else if (sscanf(text, "signal-%ld:", &error_number) == 1) what = SIGNAL;
    else if (sscanf(text, "once-%ld:", &error_number) == 1) what = FAIL_ONCE;
    else if (sscanf(text, "from-%ld:", &error_number) == 1) what = FAIL_FROM;
    const char *number = strrchr(text, ':');
    at = number ? atol(number + 1) : 0;
}

static void die(void) {
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;) pause();
}

/* Whether a path, or a name in an open folder, is below the folder; `full` gets the path. */
static int is_under(int folder, const char *path, char full[PATH_MAX]) {
    if (!under_length || !path) return 0;
    if (path[0] == '/') {
        snprintf(full, PATH_MAX, "%s", path);
    } else {
        char link[64];
        if (folder == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
        else snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        ssize_t length = readlink(link, full, PATH_MAX - 1);
        if (length < 0) return 0;
        snprintf(full + length, PATH_MAX - (size_t)length, "/%s", path);
    }
    return !strncmp(full, under, under_length) && (full[under_length] == '/' || !full[under_length]);
}

static int is_file_under(int file, char full[PATH_MAX]) {
    if (!under_length) return 0;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, full, PATH_MAX - 1);
    if (length < 0) return 0;
    full[length] = 0;
    return !strncmp(full, under, under_length) && (full[under_length] == '/' || !full[under_length]);
}

/* Counts a call, and gives the fault that is to come with it. `frees` calls do not need room on the disk. */
static enum what meet(const char *call, const char *path, int frees) {
    long number = atomic_fetch_add(&count, 1) + 1;
    if (log_file >= 0) {
        char line[PATH_MAX + 64];
        int length = snprintf(line, sizeof line, "%ld %s %s\n", number, call, path);
        syscall(SYS_write, log_file, line, (size_t)length);
    }
    if (what == FAIL_FROM) return number >= at && !(frees && error_number == ENOSPC) ? FAIL_FROM : NOTHING;
    if (number != at) return NOTHING;
    if (what == KILL_BEFORE) die();
    if (what == SIGNAL) syscall(SYS_kill, getpid(), (int)error_number);
    return what;
}

/* A call that changes names or sizes. */
#define CHANGE(call, path, frees, result, real)                                                                  \
    switch (meet(call, path, frees)) {                                                                           \
    case FAIL_ONCE: case FAIL_FROM: errno = (int)error_number; return -1;                                        \
    case KILL_HALF: die(); return -1;                                                                            \
    case KILL_AFTER: (void)(real); die(); return -1;                                                             \
    default: result = (real); return result;                                                                     \
    }

#define NEXT(name) __extension__({                                                                               \
    static __typeof__(&name) next;                                                                               \
    if (!next) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                                                \
    next; })

ssize_t write(int file, const void *bytes, size_t length) {
    char full[PATH_MAX];
    if (!is_file_under(file, full)) return NEXT(write)(file, bytes, length);
    switch (meet("write", full, 0)) {
    case FAIL_ONCE: case FAIL_FROM: errno = (int)error_number; return -1;
    case KILL_HALF: NEXT(write)(file, bytes, length / 2); die(); return -1;
    case KILL_AFTER: NEXT(write)(file, bytes, length); die(); return -1;
    case HALF: return NEXT(write)(file, bytes, length > 1 ? length / 2 : length);
    default: return NEXT(write)(file, bytes, length);
    }
}

ssize_t writev(int file, const struct iovec *parts, int number) {
    char full[PATH_MAX];
    ssize_t result;
    if (!is_file_under(file, full)) return NEXT(writev)(file, parts, number);
    CHANGE("writev", full, 0, result, NEXT(writev)(file, parts, number))
}

#define OF_FILE(name)                                                                                            \
    int name(int file) {                                                                                         \
        char full[PATH_MAX];                                                                                     \
        int result;                                                                                              \
        if (!is_file_under(file, full)) return NEXT(name)(file);                                                 \
        CHANGE(#name, full, 1, result, NEXT(name)(file))                                                         \
    }
OF_FILE(fsync)
OF_FILE(fdatasync)

#define TRUNCATE(name, type)                                                                                     \
    int name(int file, type length) {                                                                            \
        char full[PATH_MAX];                                                                                     \
        int result;                                                                                              \
        if (!is_file_under(file, full)) return NEXT(name)(file, length);                                         \
        CHANGE(#name, full, 1, result, NEXT(name)(file, length))                                                 \
    }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

#define CHANGES(flags) (((flags) & (O_CREAT | O_TRUNC)) || ((flags) & O_ACCMODE) != O_RDONLY)
#define MODE_OF(flags)                                                                                           \
    mode_t mode = 0;                                                                                             \
    if ((flags) & (O_CREAT | O_TMPFILE)) {                                                                       \
        va_list more;                                                                                            \
        va_start(more, flags);                                                                                   \
        mode = va_arg(more, mode_t);                                                                             \
        va_end(more);                                                                                            \
    }

#define OPEN(name)                                                                                               \
    int name(const char *path, int flags, ...) {                                                                 \
        char full[PATH_MAX];                                                                                     \
        int result;                                                                                              \
        MODE_OF(flags)                                                                                           \
        if (!CHANGES(flags) || !is_under(AT_FDCWD, path, full)) return NEXT(name)(path, flags, mode);            \
        CHANGE(#name, full, 0, result, NEXT(name)(path, flags, mode))                                            \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                                             \
    int name(int folder, const char *path, int flags, ...) {                                                     \
        char full[PATH_MAX];                                                                                     \
        int result;                                                                                              \
        MODE_OF(flags)                                                                                           \
        if (!CHANGES(flags) || !is_under(folder, path, full)) return NEXT(name)(folder, path, flags, mode);      \
        CHANGE(#name, full, 0, result, NEXT(name)(folder, path, flags, mode))                                    \
    }
OPENAT(openat)
OPENAT(openat64)

int mkdir(const char *path, mode_t mode) {
    char full[PATH_MAX];
    int result;
    if (!is_under(AT_FDCWD, path, full)) return NEXT(mkdir)(path, mode);
    CHANGE("mkdir", full, 0, result, NEXT(mkdir)(path, mode))
}

#define OF_PATH(name)                                                                                            \
    int name(const char *path) {                                                                                 \
        char full[PATH_MAX];                                                                                     \
        int result;                                                                                              \
        if (!is_under(AT_FDCWD, path, full)) return NEXT(name)(path);                                            \
        CHANGE(#name, full, 1, result, NEXT(name)(path))                                                         \
    }
OF_PATH(unlink)
OF_PATH(rmdir)

int unlinkat(int folder, const char *path, int flags) {
    char full[PATH_MAX];
    int result;
    if (!is_under(folder, path, full)) return NEXT(unlinkat)(folder, path, flags);
    CHANGE("unlinkat", full, 1, result, NEXT(unlinkat)(folder, path, flags))
}

static void keep(const char *from, long number) {
    char link[PATH_MAX + 32];
    if (!kept[0]) return;
    snprintf(link, sizeof link, "%s/%ld", kept, number);
    syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, link, 0);
}

int rename(const char *from, const char *to) {
    char full[PATH_MAX];
    int result;
    if (!is_under(AT_FDCWD, to, full)) return NEXT(rename)(from, to);
    keep(from, atomic_load(&count) + 1);
    CHANGE("rename", full, 1, result, NEXT(rename)(from, to))
}

int link(const char *from, const char *to) {
    char full[PATH_MAX];
    int result;
    if (!is_under(AT_FDCWD, to, full)) return NEXT(link)(from, to);
    CHANGE("link", full, 0, result, NEXT(link)(from, to))
}

int linkat(int old, const char *from, int folder, const char *to, int flags) {
    char full[PATH_MAX];
    int result;
    if (!is_under(folder, to, full)) return NEXT(linkat)(old, from, folder, to, flags);
    CHANGE("linkat", full, 0, result, NEXT(linkat)(old, from, folder, to, flags))
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = NEXT(clock_gettime)(clock, time);
    if (jump && clock == CLOCK_REALTIME && !result) {
        static const int ways[] = {1, -1, 0, 2, -2};
        time->tv_sec += ways[atomic_fetch_add(&reads, 1) % 5] * jump;
    }
    return result;
}
