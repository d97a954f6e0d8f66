// test/store/trace-writes.c: a library for LD_PRELOAD that records what a process writes below TRACE_ROOT, and when it syncs.
//
// TRACE_FILE gets a record for each call, in order: type (1 byte), length of the path (4), offset (8), length of the data
// (4), path, data. Types: W write, T truncate (offset: the size), S sync of a file or folder, N create, U unlink, A line
// that the process prints.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int trace = -1;

static void record(char type, const char *path, uint64_t at, const void *data, uint32_t length) {
  const char *root = getenv("TRACE_ROOT"), *file = getenv("TRACE_FILE");
  if (!root || !file || (type != 'A' && strncmp(path, root, strlen(root)) != 0)) return;
  pthread_mutex_lock(&mutex);
  if (trace < 0) trace = syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND, 0600);
  uint32_t name = strlen(path);
  char head[17];
  head[0] = type;
  memcpy(head + 1, &name, 4);
  memcpy(head + 5, &at, 8);
  memcpy(head + 13, &length, 4);
  struct iovec parts[] = {{head, 17}, {(void *)path, name}, {(void *)data, length}};
  syscall(SYS_writev, trace, parts, 3);
  pthread_mutex_unlock(&mutex);
}

static const char *path_of(int fd, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  path[length < 0 ? 0 : length] = 0;
  return path;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int opened(const char *path, int flags, mode_t mode) {
  int isNew = (flags & O_CREAT) && access(path, F_OK) != 0;
  int fd = syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  if (fd >= 0 && isNew) record('N', path, 0, "", 0);
  return fd;
}
static mode_t mode_of(int flags, va_list list) { return flags & O_CREAT ? va_arg(list, mode_t) : 0; }
int open(const char *path, int flags, ...) { va_list l; va_start(l, flags); mode_t m = mode_of(flags, l); va_end(l); return opened(path, flags, m); }
int open64(const char *path, int flags, ...) { va_list l; va_start(l, flags); mode_t m = mode_of(flags, l); va_end(l); return opened(path, flags | O_LARGEFILE, m); }

static void wrote(int fd, const void *data, ssize_t length, off_t at) {
  char path[PATH_MAX];
  if (length > 0) record('W', path_of(fd, path), at, data, length);
}
ssize_t pwrite64(int fd, const void *data, size_t length, off64_t at) {
  ssize_t done = REAL(pwrite64)(fd, data, length, at);
  wrote(fd, data, done, at);
  return done;
}
ssize_t pwrite(int fd, const void *data, size_t length, off_t at) { return pwrite64(fd, data, length, at); }
ssize_t write(int fd, const void *data, size_t length) {
  if (fd == 1) record('A', "", 0, data, length);
  off_t at = lseek(fd, 0, SEEK_CUR);
  ssize_t done = REAL(write)(fd, data, length);
  if (at >= 0) wrote(fd, data, done, at);
  return done;
}
static void synced(int fd) {
  char path[PATH_MAX];
  record('S', path_of(fd, path), 0, "", 0);
}
int fsync(int fd) { int r = REAL(fsync)(fd); if (r == 0) synced(fd); return r; }
int fdatasync(int fd) { int r = REAL(fdatasync)(fd); if (r == 0) synced(fd); return r; }
int ftruncate64(int fd, off64_t size) {
  char path[PATH_MAX];
  record('T', path_of(fd, path), size, "", 0);
  return REAL(ftruncate64)(fd, size);
}
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }
int unlink(const char *path) { int r = REAL(unlink)(path); if (r == 0) record('U', path, 0, "", 0); return r; }
