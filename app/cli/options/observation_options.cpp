#include "options/observation_options.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <sstream>

#include "checks.h"
#include "collector/cpu/counted_events.h"
#include "collector/cpu/kernel_events.h"
#include "collector/machine_metrics/sampled_devices.h"
#include "collector/session/gpu_metrics.h"
#include "text.h"

namespace lanescope::cli {
namespace {

// Prints the answer of the sampler of GPU metrics, and ends the command.
[[noreturn]] void print_gpu_metrics(const std::string& question) {
  print_values_of_machine([question] { return session::ask_gpu_metrics({question}); });
}

// "10000", "10k", "0.1M".
std::optional<std::uint64_t> frequency(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const double factor = suffix.empty() ? 1 : suffix == "k" || suffix == "K" ? 1e3 : suffix == "M" ? 1e6 : 0;
  value *= factor;
  if (error != std::errc{} || !(value >= 10 && value <= 200'000)) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

// What would be sampled on this machine. `lacking`: what to say if that is nothing.
std::string devices_text(const machine_metrics::Settings& settings, const char* lacking, std::vector<std::string> values) {
  const std::vector<machine_metrics::SampledDevice> devices = machine_metrics::sampled_devices(settings);
  values.emplace_back();
  values.emplace_back(devices.empty() ? lacking : "On this machine:");
  for (const machine_metrics::SampledDevice& device : devices) {
    std::string counters;
    for (const std::string& counter : device.counters) counters += (counters.empty() ? ": " : ", ") + counter;
    values.push_back("  " + device.kind + ' ' + device.name + counters);
  }
  return lines_text(values);
}

// Empty where the word is fine. nsys's older and newer words for the same, and for reading by other ways, also several of them.
std::string nic_metrics_word(std::string& word) {
  if (word == kHelpValue) {
    print_values_of_machine([] { return devices_text({.networks = true}, "There is no network device here whose traffic could be sampled.", {"none", "lf"}); });
  }
  const std::string given = in_small_letters(word);
  constexpr std::array kWords{"true", "efa", "lf", "hf", "hf-via-dts"};
  const bool is_off = given == "false" || given == "none";
  for (std::size_t begin = 0, end = 0; !is_off && end != std::string::npos; begin = end + 1) {
    end = given.find(',', begin);
    if (std::find(kWords.begin(), kWords.end(), given.substr(begin, end - begin)) == kWords.end()) return "\"" + word + "\" is neither lf nor none";
  }
  word = is_off ? "none" : "lf";
  return {};
}

// nsys has a list of its own options there: --storage-metrics=--storage-devices=all,--nfs-volumes=all; guides also leave the dashes out.
std::string storage_metrics_word(std::string& word, UnrecordedOptions& unrecorded) {
  if (word == kHelpValue) {
    print_values_of_machine([] { return devices_text({.storage = true}, "There is no disk here whose traffic could be sampled.", {"false", "true"}); });
  }
  constexpr std::array kParts{"storage-devices", "interval", "nfs-volumes", "lustre-volumes", "gds-metrics"};
  if (std::any_of(kParts.begin(), kParts.end(), [&word](const char* part) { return word.starts_with(part); })) word.insert(0, "--");
  for (const char* part : {"nfs-volumes", "lustre-volumes", "gds-metrics"}) {
    const std::string argument = "--storage-metrics=--" + std::string(part);
    const auto is_it = [&argument](const UnrecordedOptions::Item& item) { return item.argument == argument; };
    const bool is_known = std::any_of(unrecorded.items.begin(), unrecorded.items.end(), is_it);  // the word may be checked several times
    if (word.find(part) != std::string::npos && !is_known) unrecorded.items.push_back({argument, "Disks of the machine are sampled, all of them."});
  }
  if (word.starts_with("--") || word == "all") word = "true";
  if (word == "none") word = "false";
  return {};
}

std::string tracepoints_text() {
  const Result<std::vector<std::string>> names = cpu::tracepoint_names();
  if (!names) return lines_text({"none", "", names.error().text});
  std::vector<std::string> lines{"none"};
  lines.insert(lines.end(), names->begin(), names->end());
  return lines_text(lines);
}

std::string system_calls_text() {
  std::vector<std::string> lines{"process-tree", "system-wide", "none", "", "What is recorded:"};
  for (const std::string& name : cpu::system_call_names()) lines.push_back("  " + name);
  return lines_text(lines);
}

// Returns an empty text if the word is GROUP/EVENT, as in tracefs, or GROUP:EVENT, as in perf, which is changed to the former.
std::string tracepoint_word(std::string& word) {
  if (word == "none") return {};
  if (word == kHelpValue) print_values_of_machine(tracepoints_text);
  const std::size_t middle = word.find_first_of("/:");
  const auto is_name = [](std::string_view name) {
    const auto is_letter = [](char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '-'; };
    return !name.empty() && std::all_of(name.begin(), name.end(), is_letter);
  };
  if (middle == std::string::npos || !is_name(std::string_view(word).substr(0, middle)) || !is_name(std::string_view(word).substr(middle + 1)))
    return "\"" + word + "\" is no event of the kernel such as sched/sched_switch";
  word[middle] = '/';
  return {};
}

std::string counted_events_text() {
  std::ostringstream text;
  for (const cpu::CountedEvent& event : cpu::counted_events()) {
    text << event.name << std::string(26 - std::min<std::size_t>(event.name.size(), 25), ' ')
         << (cpu::can_be_counted(event) ? event.description : "(not counted on this machine, or not for this user)") << '\n';
  }
  text << "rHEX                      An event by its number in the processor's manual.\n";
  return text.str();
}

// nsys numbers events in a list of its own, which differs between machines. Of these numbers only its default is known.
std::string counted_event_word(std::string& word, UnrecordedOptions& unrecorded) {
  if (word == kHelpValue) print_values_of_machine(counted_events_text);
  if (word == "2") word = "instructions";
  if (!word.empty() && word.find_first_not_of("0123456789") == std::string::npos) {
    unrecorded.items.push_back({"--cpu-core-events=" + word, "Events have names here. See: --cpu-core-events=help"});
    word = "none";
  }
  if (word == "none" || cpu::find_counted_event(word)) return {};
  return "there is no event \"" + word + "\". See: --cpu-core-events=help";
}

std::vector<std::string> without_none(std::vector<std::string> words) {
  std::erase(words, "none");
  return words;
}

// A plugin whose function is a part of Lanescope is granted: "network_interface,-i10000" by --nic-metrics.
void take_plugins(const std::vector<std::string>& plugins, CaptureOptions& options) {
  for (const std::string& plugin : plugins) {
    if (plugin == kHelpValue)
      print_values({"network_interface (--nic-metrics=lf)", "efa_metrics (--nic-metrics=lf)", "storage_metrics (--storage-metrics)",
                    "nvml_metrics (--gpu-metrics-devices=all --gpu-metrics-set=nvml)"});
    const std::string name = plugin.substr(0, plugin.find(','));
    if (name == "network_interface" || name == "efa_metrics") {  // the counters of EFA are included
      options.nic_metrics = "lf";
    } else if (name == "storage_metrics") {
      options.storage_metrics = true;
    } else if (name == "nvml_metrics") {
      if (options.gpu_metrics_devices == "none") options.gpu_metrics_set = "nvml";
      if (options.gpu_metrics_devices == "none") options.gpu_metrics_devices = "all";
    } else {
      options.unrecorded.items.push_back({"--enable=" + plugin, "There are no plugins. See what can be recorded with: lanescope profile --help"});
    }
  }
}

}  // namespace

void describe_gpu_metrics(CLI::App& app, CaptureOptions& options) {
  constexpr const char* kGroup = "GPU metrics";
  const auto help_or_text = [](const char* question) {
    return CLI::Validator(
        [question](const std::string& text) {
          if (text == kHelpValue) print_gpu_metrics(question);
          return std::string();
        },
        "", "help");
  };
  app.add_option("--gpu-metrics-devices,--gpu-metrics-device", options.gpu_metrics_devices,
                 "GPUs whose hardware is sampled: all, cuda-visible, none,\nor numbers as nvidia-smi has them; help: what is possible here")
      ->type_name("GPUS")
      ->check(help_or_text("--check"))
      ->default_str("none")
      ->group(kGroup);
  app.add_option("--gpu-metrics-frequency", options.gpu_metrics_frequency, "Samples a second, 10 to 200k")
      ->type_name("HZ")
      ->default_str(options.gpu_metrics_frequency)
      ->group(kGroup);
  app.add_option("--gpu-metrics-set", options.gpu_metrics_set, "What is sampled: default, light, nvml, or a file that names\none metric a line; help: the sets")
      ->type_name("SET")
      ->check(help_or_text("--list-sets"))
      ->default_str("default")
      ->group(kGroup);
}

Result<session::GpuMetricsSettings> gpu_metrics_settings(const CaptureOptions& options) {
  session::GpuMetricsSettings settings;
  const std::string& devices = options.gpu_metrics_devices;
  const bool listed = !devices.empty() && devices.find_first_not_of("0123456789,") == std::string::npos;
  if (!listed && devices != "all" && devices != "cuda-visible" && devices != "none")
    return Error{"--gpu-metrics-devices: \"" + devices + "\" is none of all, cuda-visible, none, or numbers such as 0,1.", ErrorKind::kUsage};
  const auto samples = frequency(options.gpu_metrics_frequency);
  if (!samples) return Error{"--gpu-metrics-frequency: \"" + options.gpu_metrics_frequency + "\" is no number from 10 to 200000.", ErrorKind::kUsage};
  constexpr std::array kSets{"default", "light", "nvml"};
  const bool known_set = std::find(kSets.begin(), kSets.end(), options.gpu_metrics_set) != kSets.end();
  std::error_code ignored;
  if (!known_set && !std::filesystem::is_regular_file(options.gpu_metrics_set, ignored))
    return Error{"--gpu-metrics-set: \"" + options.gpu_metrics_set + "\" is none of default, light and nvml, nor a file.", ErrorKind::kUsage};
  if (devices != "none") settings.devices = devices;
  settings.set = options.gpu_metrics_set;
  settings.frequency = *samples;
  return settings;
}

void describe_machine_metrics(CLI::App& app, CaptureOptions& options) {
  constexpr const char* kGroup = "Metrics of the machine";
  app.add_option("--nic-metrics", options.nic_metrics,
                 "lf: traffic of network and InfiniBand devices, ten times a\nsecond, of the whole machine; none; help: which there are")
      ->type_name("HOW")
      ->transform(CLI::Validator([](std::string& word) { return nic_metrics_word(word); }, "", "nic"))
      ->default_str("none")
      ->group(kGroup);
  app.add_flag("--storage-metrics", options.storage_metrics, "Traffic of its disks, ten times a second; =help: which there\nare [false]")
      ->transform(CLI::Validator([&options](std::string& word) { return storage_metrics_word(word, options.unrecorded); }, "", "storage"))
      ->group(kGroup);
  app.add_option_function<std::vector<std::string>>(
         "--enable", [&options](const std::vector<std::string>& plugins) { take_plugins(plugins, options); }, "")
      ->expected(1)
      ->take_all()
      ->group("");
}

machine_metrics::Settings machine_metrics_settings(const CaptureOptions& options) {
  return {.networks = options.nic_metrics != "none", .storage = options.storage_metrics};
}

void describe_threads(CLI::App& app, CaptureOptions& options) {
  constexpr const char* kGroup = "What to record of threads";
  app.add_option("--cpuctxsw", options.thread_states, "When they run and wait: process-tree, system-wide, none")
      ->type_name("SCOPE")
      ->check(one_of({"process-tree", "system-wide", "none"}))
      ->default_str("process-tree")
      ->group(kGroup);
  app.add_option("-s,--sample", options.samples,
                 "Samples of the code that they run: process-tree,\nsystem-wide, none; where one of the two is system-wide, both\nare")
      ->type_name("SCOPE")
      ->check(one_of({"process-tree", "cpu", "system-wide", "none"}))
      ->default_str("process-tree")
      ->group(kGroup);
  app.add_option("-b,--backtrace", options.call_chains,
                 "How the callers of that code are found: fp (frame pointers,\ncheap), dwarf (unwind tables, whole chains), lbr (the\n"
                 "processor's record of calls), none")
      ->type_name("HOW")
      ->check(one_of({"auto", "fp", "dwarf", "lbr", "none"}))
      ->default_str("fp; dwarf with --python-sampling")
      ->group(kGroup);
  app.add_option("--sampling-frequency", options.sampling_frequency, "Samples for each second that a thread runs")
      ->type_name("HZ")
      ->check(whole_number(1, cpu::kMaximumFrequency))
      ->default_str("1000")
      ->group(kGroup);
  app.add_flag("--python-sampling", options.python_sampling,
               "Samples of CPython, 3.9 to 3.15, name the Python functions\nthat run, read from outside at the same frequency [false]")
      ->group(kGroup);
  app.add_option("--ftrace", options.tracepoints,
                 "Events of the kernel on these threads, by the names that\ntracefs has: sched/sched_switch,block/block_rq_issue; help:\nall of them")
      ->type_name("LIST")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->transform(CLI::Validator(tracepoint_word, "", "event"))
      ->default_str("none")
      ->group(kGroup);
  app.add_option_function<std::string>(  // nsys's name for -t syscall
         "--syscall", [&options](const std::string& scope) { options.system_calls = scope != "none"; }, "")
      ->check(CLI::Validator(
          [](std::string& scope) {
            if (scope == kHelpValue) print_values_of_machine(system_calls_text);
            return one_of({"process-tree", "system-wide", "none"})(scope);
          },
          "", "syscall"))
      ->group("");
  app.add_option("--cpu-core-events", options.counted_events,
                 "How often these happen to them, ten times a second:\ninstructions,cache-misses,page-faults; help: which can be\ncounted here")
      ->type_name("LIST")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->transform(CLI::Validator([&options](std::string& word) { return counted_event_word(word, options.unrecorded); }, "", "event"))
      ->default_str("none")
      ->group(kGroup);
  app.add_option("--debug-symbols", options.debug_folders, "Folders with debug files besides /usr/lib/debug, separated by\ncolons")
      ->type_name("FOLDERS")
      ->group(kGroup);
}

cpu::CpuSettings cpu_settings(const CaptureOptions& options) {
  const auto scope = [](const std::string& word) {
    return word == "none" ? cpu::Scope::kNone : word == "system-wide" ? cpu::Scope::kSystemWide : cpu::Scope::kProcessTree;
  };
  cpu::CpuSettings settings;
  settings.thread_states = scope(options.thread_states);
  settings.samples = scope(options.samples);
  settings.python_names = options.python_sampling || options.python_backtrace == "cuda";
  const std::string how = !options.call_chains.empty() ? options.call_chains : options.python_sampling ? "dwarf" : "fp";
  settings.call_chains = how == "dwarf"  ? cpu::CallChains::kDwarf
                         : how == "lbr"  ? cpu::CallChains::kBranchRecords
                         : how == "none" ? cpu::CallChains::kNone
                                         : cpu::CallChains::kFramePointers;
  settings.frequency = options.sampling_frequency;
  settings.debug_folders = options.debug_folders;
  settings.tracepoints = without_none(options.tracepoints);
  settings.counted_events = without_none(options.counted_events);
  return settings;
}

}  // namespace lanescope::cli
