/* Faults of the disk on command. fsync.rs preloads this library into a server.
 *
 * Files in the folder DISK_FAULTS select the faults:
 *   fail      every fsync fails
 *   fail-db   fsync of the database file fails, fsync of its log succeeds
 *   full      writes to the database file or its log fail
 *   hold      fsync creates the file `held` and waits until this file is deleted
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void fault_path(const char *name, char *path, size_t size)
{
    const char *folder = getenv("DISK_FAULTS");
    snprintf(path, size, "%s/%s", folder ? folder : "/nowhere", name);
}

static int is_injected(const char *name)
{
    char path[4096];
    fault_path(name, path, sizeof path);
    return access(path, F_OK) == 0;
}

static int is_database(int fd)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = 0;
    size_t end = strlen(path);
    return end >= 8 && strcmp(path + end - 8, "garth.db") == 0;
}

static int is_store_file(int fd)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = 0;
    return strstr(path, "garth.db") != NULL;
}

static int sync_file(int fd, long call)
{
    if (is_injected("hold")) {
        char held[4096];
        fault_path("held", held, sizeof held);
        close(open(held, O_CREAT | O_WRONLY, 0600));
        while (is_injected("hold"))
            usleep(1000);
    }
    if (is_injected("fail") || (is_injected("fail-db") && is_database(fd))) {
        errno = EIO;
        return -1;
    }
    return syscall(call, fd);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at)
{
    if (is_injected("full") && is_store_file(fd)) {
        errno = ENOSPC;
        return -1;
    }
    return syscall(SYS_pwrite64, fd, bytes, count, at);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at)
{
    return pwrite64(fd, bytes, count, at);
}

int fsync(int fd)
{
    return sync_file(fd, SYS_fsync);
}

int fdatasync(int fd)
{
    return sync_file(fd, SYS_fdatasync);
}
