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
using namespace std::string_view_literals;  // a value that is a string literal would be a text to translate

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

Message version_of(const Cupti& cupti) {
  if (cupti.version >= 100'000) return Message::verbatim(std::to_string(cupti.version / 10'000) + "." + std::to_string(cupti.version % 10'000 / 100));
  return Message("of CUDA 12 (API version {number})", {{"number", std::to_string(cupti.version)}});
}

// Something to type, the same in every language.
Message command(std::string text) { return Message::verbatim(std::move(text)); }

// An empty message changes nothing.
Message joined(Message first, Message then) {
  if (first.empty()) return then;
  if (then.empty()) return first;
  return Message("{first}; {then}", {{"first", std::move(first)}, {"then", std::move(then)}});
}

Message under(Message first, Message then) {
  if (first.empty()) return then;
  return Message("{first}\n{then}", {{"first", std::move(first)}, {"then", std::move(then)}});
}

// Below this limit, the kernel refuses the samples that recordings ask for.
constexpr int kSamplesASecond = 1'000;

}  // namespace

Finding driver_finding(const Machine& machine, std::optional<int> cuda) {
  const std::string module = first_line(machine.root / "proc/driver/nvidia/version");
  if (!cuda) {
    Message remedy = Message("install NVIDIA's driver, for example with: {command}", {{"command", "sudo ubuntu-drivers install"sv}});
    if (is_container(machine))
      remedy = command("docker run --gpus all");
    else if (!module.empty())
      remedy = Message("install the libraries of that driver's version, then: {command}", {{"command", "sudo ldconfig"sv}});
    Message text = module.empty()
                       ? Message("{library} was not found, so programs can't use a GPU; NVTX is recorded all the same", {{"library", "libcuda.so.1"sv}})
                       : Message("{library} was not found (the kernel has its module: {module}), so programs can't use a GPU; NVTX is recorded all the same",
                                 {{"library", "libcuda.so.1"sv}, {"module", module}});
    return {Verdict::kFails, "driver", Message("NVIDIA driver"), std::move(text), {std::move(remedy)}};
  }
  return {Verdict::kWorks, "driver", Message("NVIDIA driver"), Message::verbatim("CUDA " + cuda_version(*cuda) + (module.empty() ? "" : "; " + module)), {}};
}

std::optional<Finding> missing_process_files(const Machine& machine) {
  std::error_code ignored;
  if (fs::exists(machine.root / "proc/self", ignored)) return std::nullopt;
  return Finding{Verdict::kFails,
                 "proc",
                 Message("Processes"),
                 Message("/proc is not mounted, where the kernel says which processes and programs there are: nothing can be recorded, and no more be told of "
                         "this machine"),
                 {command("mount -t proc proc /proc")}};
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
  if (!names.empty()) return {Verdict::kWorks, "gpus", Message("GPUs"), Message::verbatim(text), {}};
  std::vector<Message> remedies;
  if (is_container(machine)) remedies.push_back(command("docker run --gpus all"));
  return {Verdict::kFails, "gpus", Message("GPUs"), Message("the driver lists none; {command} may say why", {{"command", "nvidia-smi"sv}}), remedies};
}

Finding attach_finding(const Machine& machine) {
  const Message arm = Message("start programs with: {command}", {{"command", "lanescope profile --arm"sv}});
  if (machine.processor != "x86_64")
    return {Verdict::kLimited, "attach", Message("Attach"), Message("works on x86-64 so far; this is {processor}", {{"processor", machine.processor}}), {arm}};
  const std::optional<int> scope = number_in(machine.root / "proc/sys/kernel/yama/ptrace_scope");
  if (!scope || *scope == 0) return {Verdict::kWorks, "attach", Message("Attach"), Message("to every process of yours"), {}};
  if (machine.user == 0 && *scope < 3) return {Verdict::kWorks, "attach", Message("Attach"), Message("to every process, as root"), {}};
  const Message text = Message("{setting} is {number}: only to programs that lanescope started or armed",
                               {{"setting", "kernel.yama.ptrace_scope"sv}, {"number", std::to_string(*scope)}});
  if (*scope >= 3)
    return {Verdict::kLimited,
            "attach",
            Message("Attach"),
            text,
            {Message("it can only be changed by a reboot; start programs with: {command}", {{"command", "lanescope profile --arm"sv}})}};
  return {Verdict::kLimited, "attach", Message("Attach"), text, {command("sudo sysctl kernel.yama.ptrace_scope=0")}};
}

Finding counters_finding(const Machine& machine) {
  std::ifstream parameters(machine.root / "proc/driver/nvidia/params");
  for (std::string line; std::getline(parameters, line);) {
    if (!line.starts_with("RmProfilingAdminOnly:")) continue;
    if (line.ends_with('0') || machine.user == 0) return {Verdict::kWorks, "gpu_counters", Message("GPU counters"), Message("open to this user"), {}};
    return {Verdict::kLimited,
            "gpu_counters",
            Message("GPU counters"),
            Message("only for administrators; tracing needs none"),
            {Message("{command}, then reboot",
                     {{"command", "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee /etc/modprobe.d/nvidia-profiling.conf"sv}})}};
  }
  return {Verdict::kLimited, "gpu_counters", Message("GPU counters"), Message("no NVIDIA kernel module is loaded; tracing needs no counters"), {}};
}

Finding threads_finding(const Machine& machine, const cpu::Access& access) {
  if (!access.own_processes) {
    std::vector<Message> remedies;
    if (!access.remedy.empty()) remedies.push_back(command(access.remedy));
    return {Verdict::kLimited, "threads", Message("CPU threads"), Message("neither states nor samples: {reason}", {{"reason", access.reason}}), remedies};
  }
  const Message clock = access.cycles ? Message("processor's cycle counter") : Message("kernel's timer");
  const Message code = access.kernel_code ? Message("with the kernel's code") : Message("without the kernel's code");
  Message text = access.system_wide ? Message("states and samples of all processes by the {clock}, {code}", {{"clock", clock}, {"code", code}})
                                    : Message("states and samples of your processes by the {clock}, {code}", {{"clock", clock}, {"code", code}});
  if (!access.wakeups) text = joined(text, Message("waiting for a processor is not told apart from other waits"));
  if (!access.branch_records) text = joined(text, Message("no record of branches (-b lbr)"));
  // A command for each part that is not open to this user. Parts that the machine does not have get none.
  std::vector<Message> remedies;
  if (!access.system_wide)
    remedies.push_back(command(cpu::kSystemWideRemedy));
  else if (!access.kernel_code)
    remedies.push_back(command("sudo sysctl kernel.perf_event_paranoid=1"));
  if (!access.wakeups && !is_mounted(machine, "tracefs"))
    remedies.push_back(command("sudo mount -t tracefs tracefs /sys/kernel/tracing"));
  else if (!access.wakeups && access.system_wide)
    remedies.push_back(command("sudo mount -o remount,mode=755 /sys/kernel/tracing"));
  const std::optional<int> rate = number_in(machine.root / "proc/sys/kernel/perf_event_max_sample_rate");
  if (rate && *rate < kSamplesASecond) {
    text = joined(text, Message("the kernel takes {number} samples a second at most", {{"number", std::to_string(*rate)}}));
    remedies.push_back(command("sudo sysctl kernel.perf_event_max_sample_rate=100000"));
  }
  return {remedies.empty() ? Verdict::kWorks : Verdict::kLimited, "threads", Message("CPU threads"), text, remedies};
}

Finding cupti_finding(std::optional<int> cuda, const std::vector<Cupti>& found) {
  const auto remedy_for = [](int major) {
    return Message("{command}, or name another one in {variable}",
                   {{"command", "pip install nvidia-cuda-cupti" + std::string(major < 13 ? "-cu12" : "")}, {"variable", "LANESCOPE_CUPTI_LIBRARY"sv}});
  };
  const int served = cuda ? *cuda / 1000 : 0;
  for (const Cupti& each : found)
    if (!cuda || major_of(each) <= served)
      return {Verdict::kWorks,
              "cupti",
              Message("CUPTI"),
              Message("{version}, {file}; one that a program brings along goes before it", {{"version", version_of(each)}, {"file", each.place.string()}}),
              {}};
  if (found.empty())
    return {Verdict::kLimited,
            "cupti",
            Message("CUPTI"),
            Message("no {library} was found; programs that bring their own (PyTorch does) are recorded all the same", {{"library", "libcupti"sv}}),
            {remedy_for(cuda ? served : 13)}};
  return {Verdict::kLimited,
          "cupti",
          Message("CUPTI"),
          Message("{version}, {file}, is too new for the driver, which serves CUDA {number}",
                  {{"version", version_of(found.front())}, {"file", found.front().place.string()}, {"number", cuda_version(*cuda)}}),
          {remedy_for(served)}};
}

Finding limits_finding(const Machine& machine, const Limits& limits) {
  constexpr std::uint64_t kFiles = 4'096;
  Message text;
  std::vector<Message> remedies;
  const auto limited = [&](Message what, Message remedy) {
    text = joined(text, std::move(what));
    remedies.push_back(std::move(remedy));
  };
  if (limits.files && *limits.files < kFiles)
    limited(Message("{count} files may be open, and a recording of many processes has several of each", {{"count", grouped_digits(*limits.files)}}),
            is_container(machine) ? command("docker run --ulimit nofile=65536")
                                  : Message("{command}, or {file}", {{"command", "ulimit -Hn"sv}, {"file", "/etc/security/limits.conf"sv}}));
  if (limits.file_size) limited(Message("files may have {size} at most", {{"size", bytes_text(*limits.file_size)}}), command("ulimit -f unlimited"));
  if (limits.addresses)
    limited(Message("programs may have {size} of addresses, in which what they share with the recorder may have no room",
                    {{"size", bytes_text(*limits.addresses)}}),
            command("ulimit -v unlimited"));
  if (text.empty()) return {Verdict::kWorks, "limits", Message("Limits"), Message("none that recordings come to"), {}};
  return {Verdict::kLimited, "limits", Message("Limits"), text, remedies};
}

Finding space_finding(const std::vector<Place>& places) {
  constexpr std::uint64_t kLittle = 1u << 30;  // bytes: some minutes of a busy program
  Finding finding{Verdict::kWorks, "space", Message("Space"), {}, {}};
  for (const Place& place : places) {
    const std::vector<Message::Value> values{{"size", bytes_text(place.free_bytes)}, {"folder", place.folder.string()}};
    finding.text = under(finding.text, place.is_writable ? Message("{size} free where files are made ({folder})", values)
                                                         : Message("{size} free where files are made ({folder}), which you may not write to", values));
    if (place.is_writable && place.free_bytes >= kLittle) continue;
    finding.verdict = Verdict::kLimited;
    if (finding.remedies.empty()) finding.remedies.push_back(Message("name another folder with -o"));
  }
  return finding;
}

Finding parts_finding(const fs::path& folder, const std::vector<std::string>& missing) {
  if (missing.empty())
    return {Verdict::kWorks, "parts", Message("Installed parts"), Message("all are there, with {folder}", {{"folder", folder.string()}}), {}};
  std::string text;
  for (const std::string& each : missing) text += (text.empty() ? "" : ", ") + each;
  return {Verdict::kLimited, "parts", Message("Installed parts"), Message("missing: {names}", {{"names", text}}), {Message("install Lanescope whole")}};
}

Finding python_finding(const std::string& interpreter, const std::optional<std::string>& answer) {
  if (!answer || answer->empty())
    return {Verdict::kLimited,
            "python",
            Message("Python"),
            Message("{program} was not found; lanescope fleet and reading traces in Python need it", {{"program", interpreter}}),
            {Message("install python3, or name one in {variable}", {{"variable", "LANESCOPE_PYTHON"sv}})}};
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
            Message("Python"),
            Message("{version} ({program}) is too old; 3.9 or newer reads traces", {{"version", version}, {"program", interpreter}}),
            {Message("name a newer one in {variable}", {{"variable", "LANESCOPE_PYTHON"sv}})}};
  if (missing.empty()) return {Verdict::kWorks, "python", Message("Python"), Message::verbatim(version + " (" + interpreter + ")"), {}};
  return {Verdict::kLimited,
          "python",
          Message("Python"),
          Message("{version} ({program}) lacks {names}; lanescope fleet and reading traces in Python need it",
                  {{"version", version}, {"program", interpreter}, {"names", missing}}),
          {command(interpreter + " -m pip install " + missing)}};
}

Finding viewer_finding(const fs::path& viewer, const std::string& problem) {
  if (viewer.empty())
    return {Verdict::kWorks, "viewer", Message("Viewer"), Message("lanescope-ui is not installed here; traces open on any machine that has it"), {}};
  if (problem.empty()) return {Verdict::kWorks, "viewer", Message("Viewer"), Message::verbatim(viewer.string()), {}};
  return {Verdict::kLimited,
          "viewer",
          Message("Viewer"),
          Message("{program} does not start: {reason}", {{"program", viewer.string()}, {"reason", problem}}),
          {command("sudo apt install libqt6widgets6 libqt6charts6 libqt6svg6")}};
}

}  // namespace lanescope::cli
