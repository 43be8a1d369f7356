/* Faults of the C library for one process and one kind of file, for LD_PRELOAD.
 *
 * FAULT_CONTROL names a file. Where that file exists, its first line says what happens, as
 *
 *     ACTION PATTERN NUMBER
 *
 * to calls on files whose path contains PATTERN:
 *
 *     count        nothing; calls that write or sync are only counted
 *     kill         the NUMBERth call that writes or syncs ends the process by SIGKILL, before it does anything
 *     torn         the same, but half of what is to be written is written first
 *     write        calls that write fail with the errno NUMBER
 *     sync         calls that sync fail with the errno NUMBER
 *     read         calls that read fail with the errno NUMBER
 *     slow         calls that sync take NUMBER milliseconds more
 *     clock        the time of day is NUMBER seconds ahead; PATTERN is not used
 *
 * Each call that a fault applies to adds a byte to the file FAULT_CONTROL.hits: "." in a thread, "R" in the main one.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

struct fault { char action[16], pattern[128]; long number; };

static atomic_long calls;

static int fault(struct fault *found) {
    char text[256];
    const char *control = getenv("FAULT_CONTROL");
    int saved = errno;
    if (!control) return 0;
    int fd = (int) syscall(SYS_openat, AT_FDCWD, control, O_RDONLY | O_CLOEXEC);
    if (fd < 0) { errno = saved; return 0; }
    long size = syscall(SYS_read, fd, text, sizeof text - 1);
    syscall(SYS_close, fd);
    errno = saved;
    if (size <= 0) return 0;
    text[size] = 0;
    return sscanf(text, "%15s %127s %ld", found->action, found->pattern, &found->number) == 3;
}

static int applies(int fd, struct fault *found) {
    char link[64], path[1024];
    int saved = errno;
    if (!fault(found)) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, path, sizeof path - 1);
    errno = saved;
    if (size < 0) return 0;
    path[size] = 0;
    return strstr(path, found->pattern) != NULL;
}

static void hit(void) {
    char path[1024];
    int saved = errno;
    snprintf(path, sizeof path, "%s.hits", getenv("FAULT_CONTROL"));
    int fd = (int) syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd >= 0) {
        syscall(SYS_write, fd, syscall(SYS_gettid) == getpid() ? "R" : ".", 1);
        syscall(SYS_close, fd);
    }
    errno = saved;
}

static int is(const struct fault *found, const char *action) { return !strcmp(found->action, action); }

/* Count a call that writes or syncs; end the process if it is the one. */
static void counted(const struct fault *found, int fd, const void *data, size_t size, off_t offset) {
    if (!is(found, "count") && !is(found, "kill") && !is(found, "torn")) return;
    long number = atomic_fetch_add(&calls, 1) + 1;
    hit();
    if (is(found, "count") || number != found->number) return;
    if (is(found, "torn") && size > 1) syscall(SYS_pwrite64, fd, data, size / 2, offset);
    kill(getpid(), SIGKILL);
    pause();
}

static ssize_t written(const char *name, int fd, const void *data, size_t size, off_t offset) {
    struct fault found;
    if (applies(fd, &found)) {
        counted(&found, fd, data, size, offset);
        if (is(&found, "write")) { hit(); errno = (int) found.number; return -1; }
    }
    return ((ssize_t (*)(int, const void *, size_t, off_t)) dlsym(RTLD_NEXT, name))(fd, data, size, offset);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
    return written("pwrite", fd, data, size, offset);
}
ssize_t pwrite64(int fd, const void *data, size_t size, off_t offset) {
    return written("pwrite64", fd, data, size, offset);
}

static ssize_t obtained(const char *name, int fd, void *data, size_t size, off_t offset) {
    struct fault found;
    if (applies(fd, &found) && is(&found, "read")) { hit(); errno = (int) found.number; return -1; }
    return ((ssize_t (*)(int, void *, size_t, off_t)) dlsym(RTLD_NEXT, name))(fd, data, size, offset);
}

ssize_t pread(int fd, void *data, size_t size, off_t offset) { return obtained("pread", fd, data, size, offset); }
ssize_t pread64(int fd, void *data, size_t size, off_t offset) { return obtained("pread64", fd, data, size, offset); }

static int synced(const char *name, int fd) {
    struct fault found;
    if (applies(fd, &found)) {
        counted(&found, fd, NULL, 0, 0);
        if (is(&found, "sync")) { hit(); errno = (int) found.number; return -1; }
        if (is(&found, "slow")) { hit(); usleep((useconds_t) found.number * 1000); }
    }
    return ((int (*)(int)) dlsym(RTLD_NEXT, name))(fd);
}

int fsync(int fd) { return synced("fsync", fd); }
int fdatasync(int fd) { return synced("fdatasync", fd); }

int clock_gettime(clockid_t clock, struct timespec *now) {
    struct fault found;
    int failed = (int) syscall(SYS_clock_gettime, clock, now);
    if (!failed && clock == CLOCK_REALTIME && fault(&found) && is(&found, "clock")) now->tv_sec += found.number;
    return failed;
}

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec exact;
    int failed = clock_gettime(CLOCK_REALTIME, &exact);
    if (!failed) { now->tv_sec = exact.tv_sec; now->tv_usec = exact.tv_nsec / 1000; }
    return failed;
}
