#include "doctor/machine.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "model/trace/text/grouped_digits.h"
#include "text.h"

namespace lanescope::cli {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::optional<int> number_in(const fs::path& path) {
  const std::string line = first_line(path);
  if (line.empty()) return std::nullopt;
  return std::atoi(line.c_str());
}

std::string cuda_version(int version) { return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10); }

bool is_container(const Machine& machine) {
  std::error_code ignored;
  return fs::exists(machine.root / ".dockerenv", ignored) || fs::exists(machine.root / "run/.containerenv", ignored);
}

bool is_mounted(const Machine& machine, std::string_view type) {
  std::ifstream mounts(machine.root / "proc/self/mounts");  // device, place, type, options
  for (std::string device, place, found, rest; mounts >> device >> place >> found && std::getline(mounts, rest);)
    if (found == type) return true;
  return false;
}

int major_of(const Cupti& cupti) {
  constexpr std::uint32_t kFirstOfManyDigits = 100'000;  // lower numbers, of CUDA 12, were counted up: 18, 19, ...
  return cupti.version >= kFirstOfManyDigits ? static_cast<int>(cupti.version / 10'000) : 12;
}

std::string version_of(const Cupti& cupti) {
  if (cupti.version >= 100'000) return std::to_string(cupti.version / 10'000) + "." + std::to_string(cupti.version % 10'000 / 100);
  return "of CUDA 12 (API version " + std::to_string(cupti.version) + ")";
}

// Below this limit, the kernel refuses the samples that recordings ask for.
constexpr int kSamplesASecond = 1'000;

}  // namespace

Finding driver_finding(const Machine& machine, std::optional<int> cuda) {
  const std::string module = first_line(machine.root / "proc/driver/nvidia/version");
  if (!cuda) {
    std::string remedy = "install NVIDIA's driver, for example with: sudo ubuntu-drivers install";
    if (is_container(machine))
      remedy = "docker run --gpus all";
    else if (!module.empty())
      remedy = "install the libraries of that driver's version, then: sudo ldconfig";
    const std::string found = module.empty() ? "" : " (the kernel has its module: " + module + ")";
    return {Verdict::kFails,
            "driver",
            "NVIDIA driver",
            "libcuda.so.1 was not found" + found + ", so programs can't use a GPU; NVTX is recorded all the same",
            {remedy}};
  }
  return {Verdict::kWorks, "driver", "NVIDIA driver", "CUDA " + cuda_version(*cuda) + (module.empty() ? "" : "; " + module), {}};
}

std::optional<Finding> missing_process_files(const Machine& machine) {
  std::error_code ignored;
  if (fs::exists(machine.root / "proc/self", ignored)) return std::nullopt;
  return Finding{
      Verdict::kFails,
      "proc",
      "Processes",
      "/proc is not mounted, where the kernel says which processes and programs there are: nothing can be recorded, and no more be told of this machine",
      {"mount -t proc proc /proc"}};
}

Finding gpus_finding(const Machine& machine) {
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator entry(machine.root / "proc/driver/nvidia/gpus", failed); !failed && entry != fs::directory_iterator(); entry.increment(failed)) {
    std::istringstream model(first_line(entry->path() / "information"));
    std::string label;
    std::string name;
    std::getline(model, label, ':');
    std::getline(model >> std::ws, name);
    names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  std::string text;
  for (std::size_t i = 0; i < names.size();) {
    const auto count = static_cast<std::size_t>(std::count(names.begin(), names.end(), names[i]));
    text += (text.empty() ? "" : ", ") + (count > 1 ? std::to_string(count) + " × " : "") + names[i];
    i += count;
  }
  if (!names.empty()) return {Verdict::kWorks, "gpus", "GPUs", text, {}};
  std::vector<std::string> remedies;
  if (is_container(machine)) remedies.emplace_back("docker run --gpus all");
  return {Verdict::kFails, "gpus", "GPUs", "the driver lists none; nvidia-smi may say why", remedies};
}

Finding attach_finding(const Machine& machine) {
  if (machine.processor != "x86_64")
    return {Verdict::kLimited, "attach", "Attach", "works on x86-64 so far; this is " + machine.processor, {"start programs with: lanescope profile --arm"}};
  const std::optional<int> scope = number_in(machine.root / "proc/sys/kernel/yama/ptrace_scope");
  if (!scope || *scope == 0) return {Verdict::kWorks, "attach", "Attach", "to every process of yours", {}};
  if (machine.user == 0 && *scope < 3) return {Verdict::kWorks, "attach", "Attach", "to every process, as root", {}};
  const std::string text = "kernel.yama.ptrace_scope is " + std::to_string(*scope) + ": only to programs that lanescope started or armed";
  if (*scope >= 3) return {Verdict::kLimited, "attach", "Attach", text, {"it can only be changed by a reboot; start programs with: lanescope profile --arm"}};
  return {Verdict::kLimited, "attach", "Attach", text, {"sudo sysctl kernel.yama.ptrace_scope=0"}};
}

Finding counters_finding(const Machine& machine) {
  std::ifstream parameters(machine.root / "proc/driver/nvidia/params");
  for (std::string line; std::getline(parameters, line);) {
    if (!line.starts_with("RmProfilingAdminOnly:")) continue;
    if (line.ends_with('0') || machine.user == 0) return {Verdict::kWorks, "gpu_counters", "GPU counters", "open to this user", {}};
    return {Verdict::kLimited,
            "gpu_counters",
            "GPU counters",
            "only for administrators; tracing needs none",
            {"echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee /etc/modprobe.d/nvidia-profiling.conf, then reboot"}};
  }
  return {Verdict::kLimited, "gpu_counters", "GPU counters", "no NVIDIA kernel module is loaded; tracing needs no counters", {}};
}

Finding threads_finding(const Machine& machine, const cpu::Access& access) {
  if (!access.own_processes) {
    std::vector<std::string> remedies;
    if (!access.remedy.empty()) remedies.push_back(access.remedy);
    return {Verdict::kLimited, "threads", "Threads", "neither states nor samples: " + access.reason, remedies};
  }
  std::string text = std::string("states and samples of ") + (access.system_wide ? "all processes" : "your processes") + " by the " +
                     (access.cycles ? "processor's cycle counter" : "kernel's timer") +
                     (access.kernel_code ? ", with the kernel's code" : ", without the kernel's code") +
                     (access.wakeups ? "" : "; waiting for a processor is not told apart from other waits") +
                     (access.branch_records ? "" : "; no record of branches (-b lbr)");
  // A command for each part that is not open to this user. Parts that the machine does not have get none.
  std::vector<std::string> remedies;
  if (!access.system_wide)
    remedies.emplace_back(cpu::kSystemWideRemedy);
  else if (!access.kernel_code)
    remedies.emplace_back("sudo sysctl kernel.perf_event_paranoid=1");
  if (!access.wakeups && !is_mounted(machine, "tracefs"))
    remedies.emplace_back("sudo mount -t tracefs tracefs /sys/kernel/tracing");
  else if (!access.wakeups && access.system_wide)
    remedies.emplace_back("sudo mount -o remount,mode=755 /sys/kernel/tracing");
  const std::optional<int> rate = number_in(machine.root / "proc/sys/kernel/perf_event_max_sample_rate");
  if (rate && *rate < kSamplesASecond) {
    text += "; the kernel takes " + std::to_string(*rate) + " samples a second at most";
    remedies.emplace_back("sudo sysctl kernel.perf_event_max_sample_rate=100000");
  }
  return {remedies.empty() ? Verdict::kWorks : Verdict::kLimited, "threads", "Threads", text, remedies};
}

Finding cupti_finding(std::optional<int> cuda, const std::vector<Cupti>& found) {
  const auto remedy_for = [](int major) {
    return "pip install nvidia-cuda-cupti" + std::string(major < 13 ? "-cu12" : "") + ", or name another one in LANESCOPE_CUPTI_LIBRARY";
  };
  const int served = cuda ? *cuda / 1000 : 0;
  for (const Cupti& each : found)
    if (!cuda || major_of(each) <= served)
      return {Verdict::kWorks, "cupti", "CUPTI", version_of(each) + ", " + each.place.string() + "; one that a program brings along goes before it", {}};
  if (found.empty())
    return {Verdict::kLimited,
            "cupti",
            "CUPTI",
            "no libcupti was found; programs that bring their own (PyTorch does) are recorded all the same",
            {remedy_for(cuda ? served : 13)}};
  return {Verdict::kLimited,
          "cupti",
          "CUPTI",
          version_of(found.front()) + ", " + found.front().place.string() + ", is too new for the driver, which serves CUDA " + cuda_version(*cuda),
          {remedy_for(served)}};
}

Finding limits_finding(const Machine& machine, const Limits& limits) {
  constexpr std::uint64_t kFiles = 4'096;
  std::string text;
  std::vector<std::string> remedies;
  const auto add = [&](const std::string& what, const std::string& remedy) {
    text += (text.empty() ? "" : "; ") + what;
    remedies.push_back(remedy);
  };
  if (limits.files && *limits.files < kFiles)
    add(grouped_digits(*limits.files) + " files may be open, and a recording of many processes has several of each",
        is_container(machine) ? "docker run --ulimit nofile=65536" : "ulimit -Hn, or /etc/security/limits.conf");
  if (limits.file_size) add("files may have " + bytes_text(*limits.file_size) + " at most", "ulimit -f unlimited");
  if (limits.addresses)
    add("programs may have " + bytes_text(*limits.addresses) + " of addresses, in which what they share with the recorder may have no room",
        "ulimit -v unlimited");
  if (text.empty()) return {Verdict::kWorks, "limits", "Limits", "none that recordings come to", {}};
  return {Verdict::kLimited, "limits", "Limits", text, remedies};
}

Finding space_finding(const std::vector<Place>& places) {
  constexpr std::uint64_t kLittle = 1u << 30;  // bytes: some minutes of a busy program
  Finding finding{Verdict::kWorks, "space", "Space", "", {}};
  for (const Place& place : places) {
    finding.text += (finding.text.empty() ? "" : "\n") + bytes_text(place.free_bytes) + " free where " + place.purpose + " (" + place.folder.string() + ")";
    if (place.is_writable && place.free_bytes >= kLittle) continue;
    finding.verdict = Verdict::kLimited;
    if (!place.is_writable) finding.text += ", which you may not write to";
    if (finding.remedies.empty()) finding.remedies.emplace_back("name another folder with -o");
  }
  return finding;
}

Finding parts_finding(const fs::path& folder, const std::vector<std::string>& missing) {
  if (missing.empty()) return {Verdict::kWorks, "parts", "Parts", "all are there, with " + folder.string(), {}};
  std::string text;
  for (const std::string& each : missing) text += (text.empty() ? "" : ", ") + each;
  return {Verdict::kLimited, "parts", "Parts", "missing: " + text, {"install Lanescope whole"}};
}

Finding python_finding(const std::string& interpreter, const std::optional<std::string>& answer) {
  const std::string needs = "lanescope fleet and reading traces in Python need it";
  if (!answer || answer->empty())
    return {Verdict::kLimited, "python", "Python", interpreter + " was not found; " + needs, {"install python3, or name one in LANESCOPE_PYTHON"}};
  std::istringstream lines(*answer);
  std::string version;
  std::string missing;
  std::getline(lines, version);
  for (std::string module; std::getline(lines, module);) missing += (missing.empty() ? "" : " ") + module;
  int major = 0, minor = 0;
  char dot = 0;
  std::istringstream numbers(version);
  numbers >> major >> dot >> minor;
  if (major < 3 || (major == 3 && minor < 9))
    return {Verdict::kLimited,
            "python",
            "Python",
            version + " (" + interpreter + ") is too old; 3.9 or newer reads traces",
            {"name a newer one in LANESCOPE_PYTHON"}};
  if (missing.empty()) return {Verdict::kWorks, "python", "Python", version + " (" + interpreter + ")", {}};
  return {
      Verdict::kLimited, "python", "Python", version + " (" + interpreter + ") lacks " + missing + "; " + needs, {interpreter + " -m pip install " + missing}};
}

Finding viewer_finding(const fs::path& viewer, const std::string& problem) {
  if (viewer.empty()) return {Verdict::kWorks, "viewer", "Viewer", "lanescope-ui is not installed here; traces open on any machine that has it", {}};
  if (problem.empty()) return {Verdict::kWorks, "viewer", "Viewer", viewer.string(), {}};
  return {Verdict::kLimited, "viewer", "Viewer", viewer.string() + " does not start: " + problem, {"sudo apt install libqt6widgets6 libqt6charts6 libqt6svg6"}};
}

}  // namespace lanescope::cli
