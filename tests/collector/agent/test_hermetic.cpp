// What the agent brings into a target, according to readelf and nm.
#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>

#include "agent/osrt/later_functions.h"
#include "support/catch.h"
#include "support/paths.h"

namespace {

std::string output_of(const std::string& command) {
  std::string output;
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> buffer{};
  while (const std::size_t bytes = fread(buffer.data(), 1, buffer.size(), pipe)) output.append(buffer.data(), bytes);
  REQUIRE(pclose(pipe) == 0);
  return output;
}

const std::string kAgent = std::string(LANESCOPE_BINARY_DIR) + "/lib/liblanescope-agent.so";

}  // namespace

TEST_CASE("the agent exports its entry points, functions of the C library that it stands before, and nothing else") {
  std::istringstream lines(output_of("nm -D --defined-only '" + kAgent + "'"));
  std::set<std::string> entry_points;
  for (std::string address, type, name; lines >> address >> type >> name;)
    if (type != "A" && dlsym(RTLD_DEFAULT, name.c_str()) == nullptr) entry_points.insert(name);
  CHECK(entry_points == std::set<std::string>{"InitializeInjection", "InitializeInjectionNvtx", "InitializeInjectionNvtx2", "InitializeInjectionNvtxExtension",
                                              "lanescope_agent_attach", "lanescope_agent_await", "lanescope_agent_follow", "lanescope_agent_inject_nvtx",
                                              "lanescope_agent_tell"});
}

TEST_CASE("the agent needs the C library alone") {
  std::istringstream lines(output_of("readelf -d '" + kAgent + "'"));
  for (std::string line; std::getline(lines, line);) {
    if (line.find("(NEEDED)") == std::string::npos) continue;
    const std::string name = line.substr(line.find('[') + 1, line.find(']') - line.find('[') - 1);
    CHECK((name == "libc.so.6" || name == "ld-linux-x86-64.so.2" || name == "libm.so.6" || name == "libdl.so.2" || name == "libpthread.so.0"));
  }
}

TEST_CASE("the agent calls none of the functions of the C library that it stands before") {
  std::set<std::string> exported;
  std::istringstream symbols(output_of("nm -D --defined-only '" + kAgent + "'"));
  for (std::string address, type, name; symbols >> address >> type >> name;) exported.insert(name);
  REQUIRE(exported.contains("pthread_mutex_lock"));
  // A call of a symbol of its own would go to the first definition in the process: the agent itself, if it is preloaded.
  std::istringstream lines(output_of("readelf -rW '" + kAgent + "'"));
  std::set<std::string> called;
  int relocations = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string offset, information, type, value, name;
    if (!(fields >> offset >> information >> type >> value >> name) || !type.starts_with("R_")) continue;
    ++relocations;
    name = name.substr(0, name.find('@'));
    if (exported.contains(name)) called.insert(name);
  }
  CHECK(relocations > 50);
  CHECK(called == std::set<std::string>{});
}

TEST_CASE("where the agent stands before a function, it does before each form of it that headers put in its place") {
  std::set<std::string> exported;
  std::istringstream symbols(output_of("nm -D --defined-only '" + kAgent + "'"));
  for (std::string address, type, name; symbols >> address >> type >> name;) exported.insert(name);
  REQUIRE(exported.contains("read"));
  for (const std::string& name : exported)
    for (const std::string& form : {"__" + name + "_chk", "__" + name + "_2", name + "64", "__" + name + "64_2"}) {
      CAPTURE(form);
      CHECK((dlsym(RTLD_DEFAULT, form.c_str()) == nullptr || exported.contains(form)));
    }
}

TEST_CASE("what the agent stands before and the C library of 2018 has not, it can do itself") {
  constexpr int kOldestMinor = 27;
  std::set<std::string> exported;
  std::istringstream symbols(output_of("nm -D --defined-only '" + kAgent + "'"));
  for (std::string address, type, name; symbols >> address >> type >> name;) exported.insert(name);
  Dl_info library{};
  REQUIRE(dladdr(reinterpret_cast<const void*>(&fopen), &library) != 0);
  std::istringstream words(output_of("objdump -T '" + std::string(library.dli_fname) + "'"));
  std::map<std::string, int> oldest;  // minor version of the C library that introduced it
  for (std::string line; std::getline(words, line);) {
    const std::size_t version = line.find("GLIBC_2.");
    if (version == std::string::npos) continue;
    const std::string name = line.substr(line.rfind(' ') + 1);
    const int minor = std::stoi(line.substr(version + 8));
    const auto [known, is_new] = oldest.emplace(name, minor);
    if (!is_new && minor < known->second) known->second = minor;
  }
  // On x86-64, functions that moved into libc with 2.34 keep the older versions that they had in libpthread and libdl.
  REQUIRE(oldest.at("pthread_mutex_lock") <= kOldestMinor);
  int later = 0;
  for (const std::string& name : exported) {
    const auto found = oldest.find(name);
    if (found == oldest.end() || found->second <= kOldestMinor) continue;
    ++later;
    CAPTURE(name);
    CHECK(lanescope::agent::osrt::stand_in_for(name.c_str()) != nullptr);
  }
  CHECK(later >= 3);
  CHECK(lanescope::agent::osrt::stand_in_for("read") == nullptr);
}

TEST_CASE("stand-ins for later functions of the C library do as these do") {
  using lanescope::agent::osrt::stand_in_for;
  const auto wait_on_condition =
      reinterpret_cast<int (*)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*)>(stand_in_for("pthread_cond_clockwait"));
  const auto lock_by = reinterpret_cast<int (*)(pthread_mutex_t*, clockid_t, const timespec*)>(stand_in_for("pthread_mutex_clocklock"));
  const auto wait_for = reinterpret_cast<int (*)(sem_t*, clockid_t, const timespec*)>(stand_in_for("sem_clockwait"));
  const auto poll_events = reinterpret_cast<int (*)(int, epoll_event*, int, const timespec*, const sigset_t*)>(stand_in_for("epoll_pwait2"));
  const auto in_20_ms = [](clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    time.tv_nsec += 20'000'000;
    time.tv_sec += time.tv_nsec / 1'000'000'000;
    time.tv_nsec %= 1'000'000'000;
    return time;
  };
  const auto has_passed = [](clockid_t clock, const timespec& time) {
    timespec now{};
    clock_gettime(clock, &now);
    return now.tv_sec > time.tv_sec || (now.tv_sec == time.tv_sec && now.tv_nsec >= time.tv_nsec);
  };
  for (const clockid_t clock : {CLOCK_MONOTONIC, CLOCK_REALTIME}) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    pthread_mutex_lock(&mutex);
    timespec until = in_20_ms(clock);
    CHECK(wait_on_condition(&condition, &mutex, clock, &until) == ETIMEDOUT);
    CHECK(has_passed(clock, until));
    CHECK(pthread_mutex_trylock(&mutex) == EBUSY);  // this thread holds it again
    until = in_20_ms(clock);
    CHECK(lock_by(&mutex, clock, &until) == ETIMEDOUT);
    CHECK(has_passed(clock, until));
    pthread_mutex_unlock(&mutex);
    CHECK(lock_by(&mutex, clock, &until) == 0);
    until = in_20_ms(clock);
    CHECK((wait_for(&semaphore, clock, &until) == -1 && errno == ETIMEDOUT));
    CHECK(has_passed(clock, until));
    sem_post(&semaphore);
    CHECK(wait_for(&semaphore, clock, &until) == 0);
  }
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  const timespec until = in_20_ms(CLOCK_REALTIME);
  CHECK(lock_by(&mutex, CLOCK_PROCESS_CPUTIME_ID, &until) == EINVAL);
  epoll_event event{};
  const timespec now{};
  CHECK((poll_events(-1, &event, 1, &now, nullptr) == -1 && (errno == EBADF || errno == ENOSYS)));
}

TEST_CASE("the agent loads with the C library of 2018") {
  constexpr int kNewestMinor = 27;  // glibc 2.27: docs/user-guide.md promises it
  std::istringstream words(output_of("objdump -T '" + kAgent + "'"));
  const std::string prefix = "GLIBC_2.";
  for (std::string word; words >> word;)
    if (const std::size_t at = word.find(prefix); at != std::string::npos) CHECK(std::stoi(word.substr(at + prefix.size())) <= kNewestMinor);
}

TEST_CASE("the agent stays in the process that loaded it, and takes little thread-local memory") {
  CHECK_THAT(output_of("readelf -d '" + kAgent + "'"), contains_text("NODELETE"));
  std::istringstream lines(output_of("readelf -lW '" + kAgent + "'"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string type, offset, virtual_address, physical_address, file_size, memory_size;
    fields >> type >> offset >> virtual_address >> physical_address >> file_size >> memory_size;
    if (type == "TLS") CHECK(std::stoul(memory_size, nullptr, 16) <= 112);  // glibc keeps 1664 bytes for all libraries loaded late
  }
}
