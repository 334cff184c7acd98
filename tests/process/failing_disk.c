/* A disk that fails or stalls on command, preloaded into a server by fsync.rs.
 *
 * What it does is told by files in the folder DISK_ORDERS:
 *   fail      every flush fails
 *   fail-db   flushes of the database file fail, those of its log do not
 *   full      nothing can be written to the database file or its log
 *   hold      a flush waits for as long as this file is there, and makes the file `held`
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void order(const char *name, char *path, size_t size)
{
    const char *folder = getenv("DISK_ORDERS");
    snprintf(path, size, "%s/%s", folder ? folder : "/nowhere", name);
}

static int ordered(const char *name)
{
    char path[4096];
    order(name, path, sizeof path);
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

static int is_of_store(int fd)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = 0;
    return strstr(path, "garth.db") != NULL;
}

static int flush(int fd, long call)
{
    if (ordered("hold")) {
        char held[4096];
        order("held", held, sizeof held);
        close(open(held, O_CREAT | O_WRONLY, 0600));
        while (ordered("hold"))
            usleep(1000);
    }
    if (ordered("fail") || (ordered("fail-db") && is_database(fd))) {
        errno = EIO;
        return -1;
    }
    return syscall(call, fd);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at)
{
    if (ordered("full") && is_of_store(fd)) {
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
    return flush(fd, SYS_fsync);
}

int fdatasync(int fd)
{
    return flush(fd, SYS_fdatasync);
}
