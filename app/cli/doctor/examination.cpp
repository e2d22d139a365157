#include "doctor/examination.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sstream>

#include "collector/channel/file_descriptor.h"
#include "collector/session/gpu_metrics.h"
#include "collector/session/library_traces.h"
#include "collector/session/recording.h"
#include "doctor/machine.h"
#include "session/session_directory.h"

extern char** environ;

namespace lanescope::cli {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;  // a value that is a string literal would be a text to translate
using channel::FileDescriptor;

// What a program printed on both its outputs within the time, and its exit code. No Answer if it can't be started or had to be ended.
struct Answer {
  std::string text;
  int code = 0;
};
std::optional<Answer> answer_of(const std::vector<std::string>& words, std::chrono::milliseconds limit) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  const FileDescriptor ours(ends[0]);
  FileDescriptor its(ends[1]);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, its.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, its.get(), STDERR_FILENO);
  pid_t pid = 0;
  const int failure = posix_spawnp(&pid, arguments.front(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  its.reset();
  if (failure != 0) return std::nullopt;
  constexpr std::size_t kMost = 64u << 10;
  Answer answer;
  const auto end = std::chrono::steady_clock::now() + limit;
  bool is_over = false;
  while (!is_over && answer.text.size() < kMost) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd source{ours.get(), POLLIN, 0};
    if (left.count() <= 0 || poll(&source, 1, static_cast<int>(left.count())) == 0) break;
    char piece[4096];
    const ssize_t count = ::read(ours.get(), piece, sizeof(piece));
    if (count > 0) answer.text.append(piece, static_cast<std::size_t>(count));
    is_over = count == 0 || (count < 0 && errno != EINTR);
  }
  if (!is_over) kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!is_over) return std::nullopt;
  answer.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return answer;
}

std::optional<int> driver_version() {
  void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  using GetVersion = int (*)(int*);
  const auto get_version = library == nullptr ? nullptr : reinterpret_cast<GetVersion>(dlsym(library, "cuDriverGetVersion"));
  int version = 0;
  if (get_version == nullptr || get_version(&version) != 0 || version <= 0) return std::nullopt;
  return version;
}

std::vector<fs::path> cupti_places(int major) {
  const std::string name = "libcupti.so." + std::to_string(major);
  std::vector<fs::path> places;
  if (const Result<fs::path> agent = session::find_agent()) places.push_back(agent->parent_path() / name);
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* root = std::getenv(variable)) places.push_back(fs::path(root) / "extras/CUPTI/lib64" / name);
  for (const char* root : {"/usr/local/cuda", "/usr/local/cuda-13", "/usr/local/cuda-12"})
    for (const char* folder : {"extras/CUPTI/lib64", "lib64", "targets/x86_64-linux/lib"}) places.push_back(fs::path(root) / folder / name);
  places.emplace_back(name);
  return places;
}

std::vector<Cupti> find_cuptis(std::optional<int> cuda) {
  constexpr int kNewest = 13;
  constexpr int kOldest = 12;
  std::vector<fs::path> places;
  if (const char* named = std::getenv("LANESCOPE_CUPTI_LIBRARY")) {
    places.emplace_back(named);
  } else {
    // The driver's own version first, then older ones; newer ones only to say that they are too new.
    std::vector<int> majors;
    const int served = cuda ? std::min(*cuda / 1000, kNewest) : kNewest;
    for (int major = served; major >= kOldest; --major) majors.push_back(major);
    for (int major = served + 1; major <= kNewest; ++major) majors.push_back(major);
    for (const int major : majors)
      for (fs::path& place : cupti_places(major)) places.push_back(std::move(place));
  }
  std::vector<Cupti> found;
  for (const fs::path& place : places) {
    void* library = dlopen(place.c_str(), RTLD_LAZY | RTLD_LOCAL);
    using GetVersion = int (*)(std::uint32_t*);
    const auto get_version = library == nullptr ? nullptr : reinterpret_cast<GetVersion>(dlsym(library, "cuptiGetVersion"));
    std::uint32_t version = 0;
    if (get_version != nullptr && get_version(&version) == 0) found.push_back({place, version});
  }
  return found;
}

Finding agent_finding() {
  const Result<fs::path> agent = session::find_agent();
  if (!agent)
    return {Verdict::kFails,
            "agent",
            Message("Agent"),
            Message::verbatim(agent.error().text),
            {Message("install Lanescope whole, or set {variable}", {{"variable", "LANESCOPE_AGENT"sv}})}};
  if (const std::optional<std::string> obstacle = session::preload_obstacle(*agent))
    return {Verdict::kLimited,
            "agent",
            Message("Agent"),
            Message("{file}; {letters} in this path keeps OS runtime calls, Python's lock, MPI, UCX and OpenGL from being recorded",
                    {{"file", agent->string()}, {"letters", *obstacle}}),
            {Message("install Lanescope in a folder whose path has none")}};
  return {Verdict::kWorks, "agent", Message("Agent"), Message::verbatim(agent->string()), {}};
}

// The result of the sampler of GPU metrics, which tries to sample.
Finding metrics_finding() {
  const Result<std::string> answer = session::ask_gpu_metrics({"--check"});
  if (!answer) return {Verdict::kLimited, "gpu_metrics", Message("GPU metrics"), Message::verbatim(answer.error().text), {}};
  const bool samples = answer->find(" metrics at ") != std::string::npos;
  return {samples ? Verdict::kWorks : Verdict::kLimited,
          "gpu_metrics",
          Message("GPU metrics"),
          answer->empty() ? Message("it says nothing") : Message::verbatim(*answer),
          {}};
}

Finding folder_finding() {
  const Result<fs::path> folder = session_folder();
  if (!folder)
    return {
        Verdict::kFails, "sessions", Message("Sessions"), Message::verbatim(folder.error().text), {Message::verbatim("export XDG_RUNTIME_DIR=$(mktemp -d)")}};
  const std::size_t count = session_names().size();
  const std::vector<Message::Value> values{{"count", std::to_string(count)}, {"folder", folder->string()}};
  return {Verdict::kWorks,
          "sessions",
          Message("Sessions"),
          count == 1 ? Message("{count} runs, in {folder}", values) : Message("{count} run, in {folder}", values),
          {}};
}

Limits own_limits() {
  const auto limit_of = [](auto resource) -> std::optional<std::uint64_t> {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0 || limit.rlim_max == RLIM_INFINITY) return std::nullopt;
    return limit.rlim_max;
  };
  return {limit_of(RLIMIT_NOFILE), limit_of(RLIMIT_FSIZE), limit_of(RLIMIT_AS)};
}

std::vector<Place> places() {
  std::vector<Place> found;
  const auto add = [&found](fs::path folder) {
    std::error_code missing;
    while (folder.has_relative_path() && !fs::is_directory(folder, missing)) folder = folder.parent_path();  // it is made when it is needed
    struct statvfs space {};
    if (statvfs(folder.c_str(), &space) != 0) return;
    found.push_back({folder, access(folder.c_str(), W_OK) == 0, static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize});
  };
  std::error_code gone;
  add(fs::current_path(gone));
  return found;
}

fs::path own_folder() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

std::vector<std::string> missing_parts() {
  std::vector<std::string> missing;
  std::error_code ignored;
  for (const char* name : {"lanescope-code-names", "lanescope-gpu-metrics", "lanescope-kernel-metrics"})
    if (!fs::exists(own_folder() / name, ignored)) missing.emplace_back(name);
  if (const Result<fs::path> agent = session::find_agent())
    for (const char* name : {"liblanescope-kernels.so", "liblanescope-mpi.so", "liblanescope-ucx.so", "liblanescope-opengl.so", "liblanescope-openmp.so",
                             "liblanescope-openacc.so", "liblanescope-nvtx.so"})
      if (!fs::exists(agent->parent_path() / name, ignored)) missing.emplace_back(name);
  return missing;
}

Finding find_python() {
  constexpr auto kPatience = std::chrono::seconds(10);
  const char* chosen = std::getenv("LANESCOPE_PYTHON");
  const std::string interpreter = chosen != nullptr && *chosen != '\0' ? chosen : "python3";
  const std::optional<Answer> answer = answer_of({interpreter, "-c",
                                                  "import sys\nif sys.path[:1] == ['']: del sys.path[0]\nimport importlib.util as u\nprint('%d.%d.%d' % "
                                                  "sys.version_info[:3])\nfor m in ('numpy', 'xxhash', 'zstandard'):\n    if u.find_spec(m) is None: print(m)"},
                                                 kPatience);
  return python_finding(interpreter, answer && answer->code == 0 ? std::optional(answer->text) : std::nullopt);
}

Finding find_viewer() {
  constexpr auto kPatience = std::chrono::seconds(10);
  fs::path viewer;
  std::istringstream folders(own_folder().string() + ":" + (std::getenv("PATH") != nullptr ? std::getenv("PATH") : ""));
  for (std::string folder; viewer.empty() && std::getline(folders, folder, ':');)
    if (!folder.empty() && access((fs::path(folder) / "lanescope-ui").c_str(), X_OK) == 0) viewer = fs::path(folder) / "lanescope-ui";
  if (viewer.empty()) return viewer_finding({}, {});
  const std::optional<Answer> answer = answer_of({viewer.string(), "--version"}, kPatience);
  if (!answer) return viewer_finding(viewer, "it does not answer");
  return viewer_finding(viewer, answer->code == 0 ? "" : answer->text.substr(0, answer->text.find('\n')));
}

utsname own_system() {
  utsname system{};
  uname(&system);
  return system;
}

}  // namespace

std::vector<Finding> examine() {
  const Machine machine{.root = "/", .user = geteuid(), .processor = own_system().machine};
  if (const std::optional<Finding> missing = missing_process_files(machine)) return {*missing};
  const std::optional<int> cuda = driver_version();
  std::vector<Finding> findings{agent_finding(), parts_finding(own_folder(), missing_parts()), driver_finding(machine, cuda)};
  if (cuda) findings.push_back(gpus_finding(machine));
  findings.insert(findings.end(), {cupti_finding(cuda, find_cuptis(cuda)), attach_finding(machine), counters_finding(machine), metrics_finding(),
                                   threads_finding(machine, cpu::probe_access()), folder_finding(), space_finding(places()),
                                   limits_finding(machine, own_limits()), find_python(), find_viewer()});
  return findings;
}

std::string system_text() {
  const utsname system = own_system();
  return std::string(system.sysname) + ' ' + system.release + ' ' + system.machine;
}

void print_examination(std::ostream& to, const std::vector<Finding>& findings) {
  to << "lanescope " LANESCOPE_VERSION " on " << system_text() << "\n\n";
  for (const Finding& finding : findings) print(to, finding);
  const bool can_record = findings.empty() || findings.front().key != "proc";
  if (can_record) to << "\nNVTX ranges, calls into the C library (-t osrt), output, and processes are recorded everywhere.\n";
}

}  // namespace lanescope::cli
