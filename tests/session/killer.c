/* Preloaded into a producer: ends it when it opens a picture whose path ends in $KILLER for the
   third time. Before that it is recognised and its header is read. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

int open64(const char *path, int flags, ...) {
    static int opened;
    const char *killer = getenv("KILLER");
    size_t length = strlen(path), end = killer ? strlen(killer) : 0;
    if (end > 0 && length >= end && strcmp(path + length - end, killer) == 0 &&
        __atomic_add_fetch(&opened, 1, __ATOMIC_SEQ_CST) == 3)
        abort();
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = va_arg(arguments, mode_t);
    va_end(arguments);
    int (*next)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open64");
    return next(path, flags, mode);
}
