// The memory of successive sessions in this process.
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/channel/places.h"
#include "support/catch.h"

using lanescope::agent::Places;

namespace {

constexpr std::size_t kMemoryBytes = std::size_t{8} << 20;

// A memory file that is identified by its first and last byte.
class MemoryFile {
 public:
  MemoryFile(std::size_t bytes, char mark) : file_(memfd_create("places", MFD_CLOEXEC)), bytes_(bytes) {
    if (ftruncate(file_, static_cast<off_t>(bytes)) != 0 || pwrite(file_, &mark, 1, 0) != 1 || pwrite(file_, &mark, 1, last()) != 1) FAIL("no memory file");
  }
  ~MemoryFile() { close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  [[nodiscard]] int get() const { return file_; }
  // True if this file is mapped there, and writes to the mapping reach the file.
  [[nodiscard]] bool lies_at(void* mapping, char mark) const {
    auto* const bytes = static_cast<char*>(mapping);
    if (bytes[0] != mark || bytes[bytes_ - 1] != mark) return false;
    bytes[bytes_ / 2] = mark;
    char written = 0;
    return pread(file_, &written, 1, static_cast<off_t>(bytes_ / 2)) == 1 && written == mark;
  }

 private:
  [[nodiscard]] off_t last() const { return static_cast<off_t>(bytes_) - 1; }
  int file_;
  std::size_t bytes_;
};

// Successive sessions, like those of a process that is attached to repeatedly.
class Sessions {
 public:
  // Maps the memory of the next session after the last one was left. Null if it is not mapped, or if another memory is there.
  std::byte* next(std::size_t bytes = kMemoryBytes) {
    ++generation_;
    const auto mark = static_cast<char>(generation_);
    const MemoryFile file(bytes, mark);
    void* const mapping = places.map(file.get(), bytes, generation_ - 1);
    if (mapping == nullptr) return nullptr;
    places.leave(live_, generation_ - 1);
    live_ = mapping;
    return file.lies_at(mapping, mark) ? static_cast<std::byte*>(mapping) : nullptr;
  }
  [[nodiscard]] std::uint32_t generation() const { return generation_; }

  Places places;

 private:
  std::uint32_t generation_ = 1;
  void* live_ = nullptr;
};

// Returns the exit code of a child that runs `work`.
template <typename Work>
int in_child(Work work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

std::size_t bytes_of_addresses() {
  std::size_t pages = 0;
  FILE* const file = fopen("/proc/self/statm", "r");
  REQUIRE(file != nullptr);
  REQUIRE(fscanf(file, "%zu", &pages) == 1);
  fclose(file);
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST_CASE("three places are enough for memory of one session after the other, and two sessions lie between those that share one") {
  Sessions sessions;
  std::vector<std::byte*> places;
  for (int i = 0; i < 20; ++i) places.push_back(sessions.next());
  CHECK(std::set<std::byte*>(places.begin(), places.end()).size() == 3);
  for (std::size_t i = 0; i < places.size(); ++i) {
    REQUIRE(places[i] != nullptr);
    if (i >= 3) CHECK(places[i] == places[i - 3]);
  }
}

TEST_CASE("a place keeps the size of the largest memory that lay there") {
  Sessions sessions;
  const std::size_t before = bytes_of_addresses();
  for (int i = 0; i < 30; ++i) {
    const std::size_t bytes = i % 2 == 0 ? kMemoryBytes : kMemoryBytes / 4;
    std::byte* const memory = sessions.next(bytes);
    REQUIRE(memory != nullptr);
    memory[bytes - 1] = std::byte{1};
  }
  // The smallest place that is large enough is taken: at most three of each size.
  CHECK(bytes_of_addresses() - before <= 3 * (kMemoryBytes + kMemoryBytes / 4) + (std::size_t{1} << 20));
  std::set<std::byte*> places;
  for (int i = 0; i < 6; ++i) places.insert(sessions.next(kMemoryBytes / 2));
  for (std::byte* const place : places) std::memset(place, 7, kMemoryBytes);  // the places are larger than the memory, and the rest is accessible
}

TEST_CASE("memory that somebody holds is not lain over, until two sessions after it was released") {
  Sessions sessions;
  std::byte* const held = sessions.next();
  sessions.places.hold(held);
  for (int i = 0; i < 10; ++i) REQUIRE(sessions.next() != held);
  sessions.places.release(held, sessions.generation());
  CHECK(sessions.next() != held);
  CHECK(sessions.next() != held);
  bool is_used_again = false;
  for (int i = 0; i < 4; ++i) is_used_again = sessions.next() == held || is_used_again;
  CHECK(is_used_again);
}

TEST_CASE("whoever writes to memory of long ago finds memory at each moment") {
  Sessions sessions;
  std::byte* const first = sessions.next();
  REQUIRE(first != nullptr);
  std::atomic<bool> is_over{false};
  std::thread writer([&] {
    while (!is_over.load())
      for (std::size_t place = 4096; place < kMemoryBytes - 4096; place += 64 * 1024) reinterpret_cast<std::atomic<int>*>(first + place)->store(1);
  });
  int lain_over = 0;
  for (int i = 0; i < 300; ++i) lain_over += sessions.next() == first ? 1 : 0;
  is_over = true;
  writer.join();
  CHECK(lain_over > 90);
}

TEST_CASE("where there is no room for more, memory goes straight over what was left, and where nothing was, there is none") {
  const auto without_room = [](int sessions_before) {
    return in_child([&] {
      Sessions sessions;
      for (int i = 0; i < sessions_before; ++i) sessions.next();
      const std::size_t now = bytes_of_addresses();
      const rlimit limit{now + kMemoryBytes / 2, now + kMemoryBytes / 2};
      if (setrlimit(RLIMIT_AS, &limit) != 0) return 2;
      for (int i = 0; i < 10; ++i)
        if (sessions.next() == nullptr) return 1;
      return 0;
    });
  };
  CHECK(without_room(3) == 0);
  CHECK(without_room(2) == 0);  // with one session between
  CHECK(without_room(1) == 1);
}

TEST_CASE("where a program locks what it maps, memory of sessions is not filled") {
  const int code = in_child([] {
    Sessions sessions;
    for (int i = 0; i < 3; ++i) sessions.next();
    if (mlockall(MCL_FUTURE) != 0) return 3;
    std::byte* const memory = sessions.next();
    if (memory == nullptr) return errno == EAGAIN ? 3 : 1;
    std::vector<unsigned char> resident(kMemoryBytes / static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
    if (mincore(memory, kMemoryBytes, resident.data()) != 0) return 1;
    std::size_t pages = 0;
    for (const unsigned char page : resident) pages += page & 1u;
    return pages < 16 ? 0 : 2;
  });
  if (code == 3) WARN("This process may not lock so much memory.");
  CHECK((code == 0 || code == 3));
}
