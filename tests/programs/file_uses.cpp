// Uses files in a given folder with known calls and numbers of bytes (test_file_access.cpp lists them). Prints "errno 9" if a failed read left errno as it
// should be, and "errno of memory 0" if a read from memory did.
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

constexpr mode_t kMode = 0600;
char bytes[4096];

void require(bool is_true, const char* what) {
  if (is_true) return;
  std::fprintf(stderr, "%s failed\n", what);
  std::_Exit(1);
}

// 5 reads of 1,000 bytes each.
void* read_stream(void* path) {
  std::FILE* stream = std::fopen(static_cast<const char*>(path), "r");
  for (int i = 0; i < 5; ++i) require(std::fread(bytes, 10, 100, stream) == 100, "fread");
  std::fclose(stream);
  return nullptr;
}

// Makes a file of `size` bytes and frees its number for the next new file.
void leave_number(const char* name, std::size_t size) {
  const int file = open(name, O_CREAT | O_WRONLY, kMode);
  require(write(file, bytes, size) == static_cast<ssize_t>(size), "write");
  close(file);
  unlink(name);
}

void nested(const std::string& folder) {
  std::string path = folder;
  for (int i = 0; i < 6; ++i) {
    path += "/" + std::string(200, static_cast<char>('a' + i));
    require(mkdir(path.c_str(), 0700) == 0, "mkdir");
  }
  const int file = open((path + "/deep").c_str(), O_CREAT | O_WRONLY, kMode);
  require(write(file, bytes, 77) == 77, "write");
  close(file);
}

}  // namespace

int main(int, char** arguments) {
  const std::string folder = arguments[1];
  const auto in_folder = [&](const char* name) { return folder + "/" + name; };

  // all: the ways of reading and writing
  const int file = open(in_folder("all").c_str(), O_CREAT | O_RDWR, kMode);
  for (int i = 0; i < 10; ++i) require(write(file, bytes, 4096) == 4096, "write");
  require(pwrite(file, bytes, 100, 0) == 100, "pwrite");
  iovec parts[2] = {{bytes, 30}, {bytes, 12}};
  require(writev(file, parts, 2) == 42, "writev");
  require(pwritev(file, parts, 2, 5) == 42, "pwritev");
  require(fsync(file) == 0 && fdatasync(file) == 0, "fsync");
  require(pread(file, bytes, 1000, 0) == 1000, "pread");
  require(preadv(file, parts, 2, 0) == 42, "preadv");
  require(lseek(file, 0, SEEK_SET) == 0, "lseek");
  require(read(file, bytes, 500) == 500, "read");
  require(readv(file, parts, 2) == 42, "readv");
  void* map = mmap(nullptr, 8192, PROT_READ, MAP_SHARED, file, 0);
  require(map != MAP_FAILED, "mmap");

  // copy: bytes that the kernel copies, and bytes written through a duplicate of a descriptor
  const int copy = open(in_folder("copy").c_str(), O_CREAT | O_WRONLY, kMode);
  off_t from = 0;
  require(sendfile(copy, file, &from, 600) == 600, "sendfile");
  const int duplicate = dup(copy);
  require(write(duplicate, bytes, 8) == 8, "write");
  if (const pid_t child = fork(); child == 0) {
    _exit(write(copy, bytes, 7) == 7 ? 0 : 1);
  } else {
    int status = 0;
    waitpid(child, &status, 0);
    require(status == 0, "child");
  }
  close(duplicate);

  // Not a file any more: a pipe has the number of the descriptor.
  int ends[2];
  require(pipe(ends) == 0, "pipe");
  require(dup2(ends[1], copy) == copy && write(copy, bytes, 1000) == 1000, "pipe");

  // stream: by two threads
  std::FILE* stream = std::fopen(in_folder("stream").c_str(), "w");
  require(std::fwrite(bytes, 500, 10, stream) == 10, "fwrite");
  std::fclose(stream);
  std::string path = in_folder("stream");
  pthread_t threads[2];
  for (pthread_t& thread : threads) pthread_create(&thread, nullptr, read_stream, path.data());
  for (pthread_t thread : threads) pthread_join(thread, nullptr);

  leave_number(in_folder("gone").c_str(), 11);
  leave_number(in_folder("gone too").c_str(), 13);

  // A relative name, with characters that are rare in text
  require(chdir(folder.c_str()) == 0, "chdir");
  const int relative = openat(AT_FDCWD, "\"a\",\n\xff<script>", O_CREAT | O_WRONLY, kMode);
  require(write(relative, bytes, 3) == 3, "write");
  close(relative);
  nested(folder);

  close(file);
  std::FILE* memory = fmemopen(bytes, sizeof(bytes), "r");
  errno = 0;
  require(std::fread(bytes + 100, 10, 10, memory) == 10, "fread");
  std::printf("errno of memory %d\n", errno);
  std::fclose(memory);
  errno = 0;
  if (read(file, bytes, 1) == -1) std::printf("errno %d\n", errno);
}
