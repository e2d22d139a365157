#include "launch/target_environment.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <optional>

#include "collector/channel/layout.h"
#include "collector/session/library_traces.h"
#include "collector/session/python_functions.h"
#include "processes/proc.h"

namespace lanescope::session {
namespace {

constexpr std::string_view kCudaInjection = "CUDA_INJECTION64_PATH";
constexpr std::string_view kNvtxInjection = "NVTX_INJECTION64_PATH";
constexpr std::string_view kPreload = "LD_PRELOAD";
constexpr std::string_view kOpenMpTools = "OMP_TOOL_LIBRARIES";
constexpr std::string_view kOpenAccTools = "ACC_PROFLIB";
constexpr std::string_view kOpenMpTool = "OMP_TOOL";
constexpr std::string_view kPythonPath = "PYTHONPATH";
constexpr std::string_view kPytorchRanges = "LANESCOPE_PYTORCH";  // read by python_marks/sitecustomize.py, as is the next one
constexpr std::string_view kPythonFunctions = "LANESCOPE_PYTHON_FUNCTIONS";

bool is_variable(std::string_view entry, std::string_view name) { return entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '='; }

std::string value_of(const std::vector<std::string>& variables, std::string_view name) {
  for (const std::string& entry : variables)
    if (is_variable(entry, name)) return entry.substr(name.size() + 1);
  return {};
}

void remove(std::vector<std::string>& variables, std::string_view name) {
  std::erase_if(variables, [&](const std::string& entry) { return is_variable(entry, name); });
}

void set(std::vector<std::string>& variables, std::string_view name, const std::string& value) {
  remove(variables, name);
  variables.push_back(std::string(name) + "=" + value);
}

// A library's path that glibc's loader accepts and musl's ignores: a program that uses musl can't run with our library, and would not start. glibc replaces
// $ORIGIN by the program's folder, and enough steps up lead from any folder to the root.
std::string for_glibc_alone(const std::filesystem::path& library) {
  constexpr int kDeeperThanAnyFolder = 32;
  std::string path = "$ORIGIN";
  for (int step = 0; step < kDeeperThanAnyFolder; ++step) path += "/..";
  return path + library.string();
}

// What in a library's path splits or changes it in a variable with such separators, as text: "a blank". Nothing if the path is passed unchanged.
std::optional<std::string> obstacle_in(const std::string& path, std::string_view separators) {
  for (const std::string_view word : {"ORIGIN", "LIB", "PLATFORM"})  // ld.so(8) replaces these
    for (const char* const form : {"$", "${"})
      if (path.find(form + std::string(word)) != std::string::npos) return '"' + (form + std::string(word)) + '"';
  const std::size_t place = path.find_first_of(separators);
  if (place == std::string::npos) return std::nullopt;
  return path[place] == ' ' ? "a blank" : path[place] == ':' ? "a colon" : "a semicolon";
}

std::string lies_badly(const std::string& what, const std::filesystem::path& folder, const std::string& obstacle) {
  return what + " can't be recorded: Lanescope lies in " + folder.string() + ", and " + obstacle + " in that path keeps it out of programs. " +
         "Install it in a folder whose path has none.";
}

constexpr std::string_view kPreloadSeparators = " :";

// Puts the value before what the list already contains.
void put_in_front(std::vector<std::string>& variables, std::string_view name, const std::string& value, char separator = ':') {
  const std::string others = value_of(variables, name);
  set(variables, name, value + (others.empty() ? "" : separator + others));
}

// Our libraries that mark the calls of another library with NVTX, and the variables by which programs load them.
struct Marker {
  MarkedLibrary marked;
  const char* name;
  const char* file;
  std::string_view variable;
  char separator = ':';  // in the variable's value
};
constexpr std::array kMarkers{
    Marker{MarkedLibrary::kMpi, "MPI", "liblanescope-mpi.so", kPreload},
    Marker{MarkedLibrary::kUcx, "UCX", "liblanescope-ucx.so", kPreload},
    Marker{MarkedLibrary::kOpenGl, "OpenGL", "liblanescope-opengl.so", kPreload},
    Marker{MarkedLibrary::kOpenMp, "OpenMP", "liblanescope-openmp.so", kOpenMpTools},
    Marker{MarkedLibrary::kOpenAcc, "OpenACC", "liblanescope-openacc.so", kOpenAccTools, ';'},
};

// The markers are beside the agent; if one is missing, the recording continues without it.
void add_markers(TargetEnvironment& target, const LaunchRequest& request, const std::filesystem::path& folder) {
  std::error_code ignored;
  const auto is_there = [&](const std::filesystem::path& path, const char* what) {
    if (std::filesystem::exists(path, ignored)) return true;
    target.lacks.push_back(std::string(what) + " can't be recorded: " + path.string() + " is not there. Install Lanescope whole.");
    return false;
  };
  for (const Marker& marker : kMarkers) {
    const std::filesystem::path library = folder / marker.file;
    const std::vector<MarkedLibrary>& wanted = target.settings.marked;
    if (std::find(wanted.begin(), wanted.end(), marker.marked) == wanted.end() || !is_there(library, marker.name)) continue;
    const std::string_view separators = marker.variable == kPreload ? kPreloadSeparators : std::string_view(&marker.separator, 1);
    if (const auto obstacle = obstacle_in(library, separators)) {
      target.lacks.push_back(lies_badly(marker.name, folder, *obstacle));
      continue;
    }
    put_in_front(target.variables, marker.variable, marker.variable == kPreload ? for_glibc_alone(library) : library.string(), marker.separator);
    if (marker.marked == MarkedLibrary::kOpenMp && value_of(target.variables, kOpenMpTool) == "disabled")
      target.lacks.push_back("OpenMP is not recorded: OMP_TOOL is set to disabled. Unset it and record again.");
  }
  const std::filesystem::path python = folder / "lanescope" / "python_marks";
  const bool marks_pytorch = request.pytorch != PytorchRanges::kNone;
  const bool marks_functions = !request.python_functions.empty();
  if (!marks_pytorch && !marks_functions) return;
  const char* const what = marks_pytorch ? "PyTorch's operations" : "Functions of Python";
  if (!is_there(python / "sitecustomize.py", what)) return;
  if (python.native().find(':') != std::string::npos) {
    target.lacks.push_back(lies_badly(what, folder, "a colon"));
    return;
  }
  if (const auto option = option_against_marks(request.command))
    target.lacks.push_back(std::string(what) + " are not marked: with " + *option + ", Python does not load what marks them. Start it without " + *option +
                           ".");
  put_in_front(target.variables, kPythonPath, python);
  if (marks_pytorch) set(target.variables, kPytorchRanges, request.pytorch == PytorchRanges::kOperations ? "autograd-nvtx" : "autograd-shapes-nvtx");
  if (!marks_functions) return;
  set(target.variables, kPythonFunctions, request.python_functions);
  const std::vector<std::string> modules = modules_of(request.python_functions);
  if (std::find(modules.begin(), modules.end(), kProgramItself) != modules.end())
    target.lacks.push_back("Functions of the program's own file (__main__) are not marked: they do not exist before it runs. Import them from a module.");
}

}  // namespace

std::vector<std::string> plain_environment(const LaunchRequest& request, std::vector<std::string> ours) {
  std::vector<std::string> variables;
  if (request.inherit_environment == InheritEnvironment::kYes) variables = std::move(ours);
  if (request.run_as) {
    for (const char* name : {"USER", "LOGNAME"}) set(variables, name, request.run_as->name);
    set(variables, "HOME", request.run_as->home);
    remove(variables, "XDG_RUNTIME_DIR");  // ours, not the target's
  }
  for (const EnvironmentChange& change : request.environment) change.value ? set(variables, change.name, *change.value) : remove(variables, change.name);
  return variables;
}

std::filesystem::path nvtx_tool(const std::filesystem::path& agent) {
  std::error_code ignored;
  std::filesystem::path tool = agent.parent_path() / "liblanescope-nvtx.so";
  return std::filesystem::exists(tool, ignored) ? tool : agent;
}

std::optional<std::string> known_filters() {
  const std::optional<unsigned> filters = own_filters();
  std::string digits = filters ? std::to_string(*filters) : "";
  if (digits.empty() || digits.size() > channel::kFilterDigits) return std::nullopt;
  return std::string(channel::kFilterDigits - digits.size(), '0') + digits;
}

std::vector<AgentVariable> agent_variables(const CaptureSettings& settings) {
  std::vector<AgentVariable> variables;
  if (settings.trace_cuda) variables.push_back({kCudaInjection, "GPU work"});
  if (settings.trace_nvtx) variables.push_back({kNvtxInjection, "NVTX ranges"});
  if (settings.trace_os_runtime) variables.push_back({kPreload, "calls into the C library"});
  if (settings.trace_python_lock && !settings.trace_os_runtime) variables.push_back({kPreload, "waits for Python's lock"});
  return variables;
}

bool comes_with_program(const AgentVariable& variable) { return variable.name == kPreload; }

std::optional<std::string> preload_obstacle(const std::filesystem::path& agent) { return obstacle_in(agent, kPreloadSeparators); }

TargetEnvironment target_environment(const LaunchRequest& request, std::vector<std::string> ours, const std::filesystem::path& agent,
                                     const std::filesystem::path& socket) {
  TargetEnvironment target{plain_environment(request, std::move(ours)), request.settings, {}, {}};
  for (const std::string_view name : {std::string_view(channel::kSocketVariable), std::string_view(channel::kFiltersVariable),
                                      std::string_view(channel::kPythonLockVariable), kPytorchRanges, kPythonFunctions})
    remove(target.variables, name);  // from a recording around this one

  CaptureSettings& settings = target.settings;
  if (const std::string other = value_of(target.variables, kCudaInjection); settings.trace_cuda && !other.empty() && other != agent) {
    settings.trace_cuda = false;
    target.lacks.push_back("CUDA is not traced: " + std::string(kCudaInjection) + " is set to " + other +
                           " already, and CUDA loads only one such library. Unset it and record again.");
  }
  if (const std::string other = value_of(target.variables, kNvtxInjection);
      settings.trace_nvtx && !other.empty() && other != agent && other != nvtx_tool(agent)) {
    target.warnings.push_back("NVTX goes to this recording, not to " + other + ", to which " + std::string(kNvtxInjection) + " was set.");
  }
  if (const auto obstacle = obstacle_in(agent, ""); obstacle && (settings.trace_cuda || settings.trace_nvtx)) {
    settings.trace_cuda = settings.trace_nvtx = false;
    target.lacks.push_back(lies_badly("CUDA and NVTX", agent.parent_path(), *obstacle));
  }
  if (const auto obstacle = preload_obstacle(agent); obstacle && (settings.trace_os_runtime || settings.trace_python_lock)) {
    settings.trace_os_runtime = settings.trace_python_lock = false;
    target.lacks.push_back(lies_badly("OS runtime calls and Python's lock", agent.parent_path(), *obstacle));
  }
  if (struct statvfs system{}; statvfs(agent.c_str(), &system) == 0 && (system.f_flag & ST_NOEXEC) != 0)
    target.lacks.push_back("Nothing can be recorded from within programs: Lanescope lies in " + agent.parent_path().string() +
                           ", on a file system from which nothing may be run (noexec). Install it on another one.");
  if (settings.trace_cuda) set(target.variables, kCudaInjection, agent);
  const bool stands_before_calls = settings.trace_os_runtime || settings.trace_python_lock;
  if (settings.trace_nvtx) set(target.variables, kNvtxInjection, nvtx_tool(agent));  // also besides LD_PRELOAD, which may be lost on the way
  if (stands_before_calls) {
    put_in_front(target.variables, kPreload, for_glibc_alone(agent));
    if (settings.trace_python_lock) set(target.variables, channel::kPythonLockVariable, settings.trace_os_runtime ? "1" : channel::kPythonLockAlone);
    if (settings.trace_os_runtime && settings.os_runtime_backtraces) set(target.variables, channel::kCallChainsVariable, "1");
  }
  if (settings.trace_nvtx) add_markers(target, request, agent.parent_path());
  if (settings.trace_cuda || settings.trace_nvtx || stands_before_calls) {
    set(target.variables, channel::kSocketVariable, socket);
    if (const std::optional<std::string> filters = known_filters()) set(target.variables, channel::kFiltersVariable, *filters);
  }
  return target;
}

}  // namespace lanescope::session
