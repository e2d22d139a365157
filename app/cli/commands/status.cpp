// lanescope status: what this machine can record, and the one command that would change each thing that it can't.
#include <dlfcn.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "../remote/remote_work.h"
#include "../session_directory.h"
#include "collector/cpu/access.h"
#include "collector/session/gpu_metrics.h"
#include "collector/session/recording.h"
#include "commands.h"

namespace lanescope::cli {
namespace {

constexpr std::size_t kWidth = 16;               // of subjects
constexpr std::size_t kTextColumn = kWidth + 6;  // behind the verdict and the subject

enum class Verdict { kWorks, kLimited, kFails };

struct Finding {
  Verdict verdict;
  std::string subject;
  std::string text;
  std::string remedy;  // what to run, a command a line; empty when nothing has to be done
};

std::string first_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::optional<int> number_in(const std::filesystem::path& path) {
  const std::string line = first_line(path);
  if (line.empty()) return std::nullopt;
  return std::atoi(line.c_str());
}

std::string cuda_version(int version) { return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10); }

struct Driver {
  int cuda = 0;  // 13000 for 13.0; 0: there is none
};

bool is_container() {
  std::error_code ignored;
  return std::filesystem::exists("/.dockerenv", ignored) || std::filesystem::exists("/run/.containerenv", ignored);
}

Finding driver_finding(Driver& driver) {
  void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  using GetVersion = int (*)(int*);
  const auto get_version = library == nullptr ? nullptr : reinterpret_cast<GetVersion>(dlsym(library, "cuDriverGetVersion"));
  if (get_version == nullptr || get_version(&driver.cuda) != 0)
    return {Verdict::kFails, "NVIDIA driver", "libcuda.so.1 was not found, so programs can't use a GPU; NVTX is recorded all the same",
            is_container() ? "docker run --gpus all" : "install NVIDIA's driver, for example with: sudo ubuntu-drivers install"};
  const std::string module = first_line("/proc/driver/nvidia/version");
  return {Verdict::kWorks, "NVIDIA driver", "CUDA " + cuda_version(driver.cuda) + (module.empty() ? "" : "; " + module), ""};
}

Finding gpu_finding() {
  std::string names;
  std::error_code failed;
  std::filesystem::directory_iterator entry("/proc/driver/nvidia/gpus", failed);
  for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
    std::istringstream model(first_line(entry->path() / "information"));
    std::string label;
    std::string name;
    std::getline(model, label, ':');
    std::getline(model >> std::ws, name);
    names += (names.empty() ? "" : ", ") + name;
  }
  if (names.empty())
    return {Verdict::kFails, "GPUs", "the driver lists none; nvidia-smi may say why", is_container() ? "docker run --gpus all" : ""};
  return {Verdict::kWorks, "GPUs", names, ""};
}

std::vector<std::filesystem::path> cupti_places(int major) {
  const std::string name = "libcupti.so." + std::to_string(major);
  std::vector<std::filesystem::path> places;
  if (const Result<std::filesystem::path> agent = session::find_agent()) places.push_back(agent->parent_path() / name);
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* root = std::getenv(variable)) places.push_back(std::filesystem::path(root) / "extras/CUPTI/lib64" / name);
  for (const char* root : {"/usr/local/cuda", "/usr/local/cuda-13", "/usr/local/cuda-12"})
    for (const char* folder : {"extras/CUPTI/lib64", "lib64", "targets/x86_64-linux/lib"})
      places.push_back(std::filesystem::path(root) / folder / name);
  places.emplace_back(name);
  return places;
}

Finding cupti_finding(const Driver& driver) {
  constexpr int kNewest = 13;
  constexpr int kOldest = 12;
  std::vector<std::filesystem::path> places;
  if (const char* named = std::getenv("LANESCOPE_CUPTI_LIBRARY")) {
    places.emplace_back(named);
  } else {
    for (int major = driver.cuda != 0 ? std::min(driver.cuda / 1000, kNewest) : kNewest; major >= kOldest; --major)
      for (std::filesystem::path& place : cupti_places(major)) places.push_back(std::move(place));
  }
  for (const std::filesystem::path& place : places) {
    void* library = dlopen(place.c_str(), RTLD_LAZY | RTLD_LOCAL);
    using GetVersion = int (*)(std::uint32_t*);
    const auto get_version = library == nullptr ? nullptr : reinterpret_cast<GetVersion>(dlsym(library, "cuptiGetVersion"));
    std::uint32_t version = 0;
    if (get_version == nullptr || get_version(&version) != 0) continue;
    const std::string number = version >= 100'000 ? std::to_string(version / 10'000) + "." + std::to_string(version % 10'000 / 100)
                                                  : "of CUDA 12 (API version " + std::to_string(version) + ")";
    return {Verdict::kWorks, "CUPTI", number + ", " + place.string() + "; one that a program brings along goes before it", ""};
  }
  return {Verdict::kLimited, "CUPTI", "no libcupti was found; programs that bring their own (PyTorch does) are recorded all the same",
          "install it with: pip install nvidia-cuda-cupti, or name it in LANESCOPE_CUPTI_LIBRARY"};
}

Finding agent_finding() {
  const Result<std::filesystem::path> agent = session::find_agent();
  if (!agent) return {Verdict::kFails, "Agent", agent.error().text, "install Lanescope whole, or set LANESCOPE_AGENT"};
  return {Verdict::kWorks, "Agent", agent->string(), ""};
}

Finding attach_finding() {
  const std::optional<int> scope = number_in("/proc/sys/kernel/yama/ptrace_scope");
  if (!scope || *scope == 0) return {Verdict::kWorks, "Attach", "to every process of yours", ""};
  if (geteuid() == 0 && *scope < 3) return {Verdict::kWorks, "Attach", "to every process, as root", ""};
  const std::string text = "kernel.yama.ptrace_scope is " + std::to_string(*scope) + ": only to programs that lanescope started or armed";
  if (*scope >= 3)
    return {Verdict::kLimited, "Attach", text, "it can only be changed by a reboot; start programs with: lanescope profile --arm"};
  return {Verdict::kLimited, "Attach", text, "sudo sysctl kernel.yama.ptrace_scope=0"};
}

// What the sampler of GPU metrics says itself: it tries.
Finding metrics_finding() {
  const Result<std::string> answer = session::ask_gpu_metrics({"--check"});
  if (!answer) return {Verdict::kLimited, "GPU metrics", answer.error().text, ""};
  std::istringstream lines(*answer);
  std::string text;
  bool samples = false;
  for (std::string line; std::getline(lines, line);) {
    samples = samples || line.find(" metrics at ") != line.npos;
    text += (text.empty() ? "" : "\n" + std::string(kTextColumn, ' ')) + line;
  }
  return {samples ? Verdict::kWorks : Verdict::kLimited, "GPU metrics", text, ""};
}

Finding counters_finding() {
  std::ifstream parameters("/proc/driver/nvidia/params");
  for (std::string line; std::getline(parameters, line);) {
    if (!line.starts_with("RmProfilingAdminOnly:")) continue;
    if (line.ends_with('0') || geteuid() == 0) return {Verdict::kWorks, "GPU counters", "open to this user", ""};
    return {Verdict::kLimited, "GPU counters", "only for administrators; tracing needs none",
            "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee /etc/modprobe.d/nvidia-profiling.conf, then reboot"};
  }
  return {Verdict::kLimited, "GPU counters", "no NVIDIA kernel module is loaded; tracing needs no counters", ""};
}

bool is_mounted(std::string_view type) {
  std::ifstream mounts("/proc/self/mounts");  // device, place, type, options
  for (std::string device, place, found, rest; mounts >> device >> place >> found && std::getline(mounts, rest);)
    if (found == type) return true;
  return false;
}

// A command for each part of what threads do that is not open to this user; what a machine does not have, none gives it.
std::string thread_remedies(const cpu::Access& access) {
  std::string commands;
  const auto add = [&commands](const std::string& command) { commands += (commands.empty() ? "" : "\n") + command; };
  if (!access.system_wide)
    add(cpu::kSystemWideRemedy);
  else if (!access.kernel_code)
    add("sudo sysctl kernel.perf_event_paranoid=1");
  if (!access.wakeups && !is_mounted("tracefs"))
    add("sudo mount -t tracefs tracefs /sys/kernel/tracing");
  else if (!access.wakeups && access.system_wide)
    add("sudo mount -o remount,mode=755 /sys/kernel/tracing");
  return commands;
}

Finding threads_finding() {
  const cpu::Access access = cpu::probe_access();
  if (!access.own_processes) return {Verdict::kLimited, "Threads", "neither states nor samples: " + access.reason, access.remedy};
  const std::string text = std::string("states and samples of ") + (access.system_wide ? "all processes" : "your processes") + " by the " +
                           (access.cycles ? "processor's cycle counter" : "kernel's timer") +
                           (access.kernel_code ? ", with the kernel's code" : ", without the kernel's code") +
                           (access.wakeups ? "" : "; waiting for a processor is not told apart from other waits") +
                           (access.branch_records ? "" : "; no record of branches (-b lbr)");
  const std::string remedies = thread_remedies(access);
  return {remedies.empty() ? Verdict::kWorks : Verdict::kLimited, "Threads", text, remedies};
}

Finding folder_finding() {
  const Result<std::filesystem::path> folder = session_folder();
  if (!folder) return {Verdict::kFails, "Sessions", folder.error().text, "export XDG_RUNTIME_DIR=$(mktemp -d)"};
  const std::size_t count = session_names().size();
  return {Verdict::kWorks, "Sessions", std::to_string(count) + (count == 1 ? " runs" : " run") + ", in " + folder->string(), ""};
}

void print(const Finding& finding) {
  const char* verdict = finding.verdict == Verdict::kWorks ? "OK    " : finding.verdict == Verdict::kLimited ? "Note  " : "Fail  ";
  std::string subject = finding.subject;
  subject.resize(kWidth, ' ');
  std::cout << verdict << subject << finding.text << '\n';
  std::istringstream commands(finding.remedy);
  for (std::string command; std::getline(commands, command);)
    std::cout << std::string(kTextColumn, ' ') << "Change it: " << command << '\n';
}

}  // namespace

int run_status(Arguments arguments) {
  CLI::App app("Says what this machine can record and, for what it can't, what would change that.", "lanescope status");
  bool everything = false;
  std::string session;
  app.add_flag("-e,--environment,-n,--network,-a,--all", everything, "Accepted for nsys's sake: all that there is is always shown");
  app.add_option("--session", session, "Say what this session does instead")->type_name("NAME");
  RemoteOptions remote;
  describe_remote(app, remote);
  if (const auto code = parse(app, std::move(arguments))) return *code;
  if (!remote.target.empty()) return run_there(remote, "status", app);
  if (!session.empty()) return show_session(session);
  utsname system{};
  uname(&system);
  std::cout << "lanescope " LANESCOPE_VERSION " on " << system.sysname << ' ' << system.release << ' ' << system.machine << "\n\n";
  Driver driver;
  print(agent_finding());
  print(driver_finding(driver));
  if (driver.cuda != 0) print(gpu_finding());
  for (const Finding& finding :
       {cupti_finding(driver), attach_finding(), counters_finding(), metrics_finding(), threads_finding(), folder_finding()})
    print(finding);
  std::cout << "\nNVTX ranges, calls into the C library (-t osrt), output, and processes are recorded everywhere.\n";
  return kSuccess;
}

}  // namespace lanescope::cli
