// Kills the process at one of the calls by which it changes a folder, for verify-resume (LD_PRELOAD).
//
// KILL_FOLDER: the folder, an absolute path. KILL_AT: the number of the call, from 1; a write then writes its first half.
// KILL_LOG: without KILL_AT, each call appends the process and its own name there, a line each.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OF_LIBC(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static atomic_int calls;

static int begins_with(const char* path) {
  const char* folder = getenv("KILL_FOLDER");
  return folder != NULL && strncmp(path, folder, strlen(folder)) == 0;
}

static int file_is_inside(int descriptor) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t size = readlink(link, path, sizeof path - 1);
  if (size < 0) return 0;
  path[size] = 0;
  return begins_with(path);
}

static int path_is_inside(int folder, const char* path) {
  return path[0] == '/' || folder == AT_FDCWD ? begins_with(path) : file_is_inside(folder);
}

// Whether the process is to be killed at this call.
static int is_due(const char* name) {
  const int number = atomic_fetch_add(&calls, 1) + 1;
  const char* at = getenv("KILL_AT");
  if (at != NULL) return number == atoi(at);
  const int log = OF_LIBC(open)(getenv("KILL_LOG"), O_WRONLY | O_APPEND | O_CREAT, 0644);
  char line[64];
  const int size = snprintf(line, sizeof line, "%d %s\n", (int)getpid(), name);
  if (log < 0 || OF_LIBC(write)(log, line, (size_t)size) != size) abort();
  close(log);
  return 0;
}

static void end(void) { raise(SIGKILL); }

#define AT(inside, name) \
  if ((inside) && is_due(name)) end()

// O_TMPFILE has the bit of O_DIRECTORY too.
static mode_t mode_of(int flags, va_list rest) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, mode_t) : 0;
}

// Opening for reading alone changes nothing.
static int changes(int flags) { return (flags & O_ACCMODE) != O_RDONLY && (flags & O_PATH) == 0; }

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  AT(changes(flags) && path_is_inside(AT_FDCWD, path), "open");
  return OF_LIBC(open)(path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  AT(changes(flags) && path_is_inside(folder, path), "openat");
  return OF_LIBC(openat)(folder, path, flags, mode);
}

ssize_t write(int descriptor, const void* bytes, size_t count) {
  if (file_is_inside(descriptor) && is_due("write")) {
    OF_LIBC(write)(descriptor, bytes, count / 2);
    end();
  }
  return OF_LIBC(write)(descriptor, bytes, count);
}

ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset) {
  if (file_is_inside(descriptor) && is_due("pwrite")) {
    OF_LIBC(pwrite)(descriptor, bytes, count / 2, offset);
    end();
  }
  return OF_LIBC(pwrite)(descriptor, bytes, count, offset);
}

int ftruncate(int descriptor, off_t size) {
  AT(file_is_inside(descriptor), "ftruncate");
  return OF_LIBC(ftruncate)(descriptor, size);
}

int fchmod(int descriptor, mode_t mode) {
  AT(file_is_inside(descriptor), "fchmod");
  return OF_LIBC(fchmod)(descriptor, mode);
}

int fsync(int descriptor) {
  AT(file_is_inside(descriptor), "fsync");
  return OF_LIBC(fsync)(descriptor);
}

int linkat(int from, const char* old, int to, const char* new, int flags) {
  AT(path_is_inside(to, new), "linkat");
  return OF_LIBC(linkat)(from, old, to, new, flags);
}

int rename(const char* old, const char* new) {
  AT(path_is_inside(AT_FDCWD, new), "rename");
  return OF_LIBC(rename)(old, new);
}

int renameat(int from, const char* old, int to, const char* new) {
  AT(path_is_inside(to, new), "renameat");
  return OF_LIBC(renameat)(from, old, to, new);
}

int renameat2(int from, const char* old, int to, const char* new, unsigned flags) {
  AT(path_is_inside(to, new), "renameat2");
  return OF_LIBC(renameat2)(from, old, to, new, flags);
}

int mkdir(const char* path, mode_t mode) {
  AT(path_is_inside(AT_FDCWD, path), "mkdir");
  return OF_LIBC(mkdir)(path, mode);
}

int unlink(const char* path) {
  AT(path_is_inside(AT_FDCWD, path), "unlink");
  return OF_LIBC(unlink)(path);
}

int unlinkat(int folder, const char* path, int flags) {
  AT(path_is_inside(folder, path), "unlinkat");
  return OF_LIBC(unlinkat)(folder, path, flags);
}

int rmdir(const char* path) {
  AT(path_is_inside(AT_FDCWD, path), "rmdir");
  return OF_LIBC(rmdir)(path);
}

int remove(const char* path) {
  AT(path_is_inside(AT_FDCWD, path), "remove");
  return OF_LIBC(remove)(path);
}
