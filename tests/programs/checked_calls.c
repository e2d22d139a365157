// Waits in functions that the C library's headers substitute for others if a buffer's size is known, and in some that wait for signals and file locks, each
// for at least 20 ms. It is built as distributions build their packages (_FORTIFY_SOURCE).
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MICROSECONDS 20000

static void ignore(int signal) { (void)signal; }

// Forks a child that writes a byte there later.
static void write_later(int descriptor) {
  if (fork() != 0) return;
  usleep(WAIT_MICROSECONDS + 5000);
  _exit(write(descriptor, "x", 1) == 1 ? 0 : 1);
}

int main(int count, char** arguments) {
  (void)arguments;
  char bytes[64];
  const size_t size = (size_t)count;  // the compiler does not know it
  int ends[2];
  int sockets[2];
  if (pipe(ends) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) return 1;
  struct pollfd sources[2] = {{.fd = ends[0], .events = POLLIN}, {.fd = -1}};
  if (poll(sources, size, WAIT_MICROSECONDS / 1000 + 5) != 0) return 2;
  write_later(ends[1]);
  if (read(ends[0], bytes, size) != 1) return 3;
  write_later(sockets[1]);
  if (recv(sockets[0], bytes, size, 0) != 1) return 4;

  signal(SIGALRM, ignore);
  ualarm(WAIT_MICROSECONDS + 5000, 0);
  pause();
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  sigprocmask(SIG_BLOCK, &alarm, NULL);
  ualarm(WAIT_MICROSECONDS + 5000, 0);
  int signal_number = 0;
  if (sigwait(&alarm, &signal_number) != 0 || signal_number != SIGALRM) return 5;

  char path[] = "checked-calls-XXXXXX";
  const int file = mkstemp(path);
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  int ready[2];
  if (file < 0 || pipe(ready) != 0) return 6;
  if (fork() == 0) {
    const int is_locked = fcntl(file, F_SETLKW, &whole) == 0 && write(ready[1], "x", 1) == 1;
    usleep(2 * WAIT_MICROSECONDS + 10000);
    _exit(is_locked ? 0 : 1);
  }
  if (read(ready[0], bytes, size) != 1) return 7;
  usleep(WAIT_MICROSECONDS / 10);
  if (fcntl(file, F_SETLKW, &whole) != 0) return 8;
  unlink(path);
  while (wait(NULL) > 0) {
  }
  puts("waited");
  return 0;
}
