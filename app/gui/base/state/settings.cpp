#include "base/state/settings.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFileInfo>
#include <QLockFile>
#include <QStandardPaths>

#include "base/files/editor.h"

namespace lanescope::ui {
namespace {

QString versioned(const QString& key) { return key + u'-' + QString::number(Settings::kLayoutVersion); }

constexpr qsizetype kRecentFiles = 10;
constexpr qsizetype kQueries = 50;
constexpr qsizetype kLongestQuery = 20'000;  // characters; longer queries are not stored
constexpr qsizetype kLaunchedPrograms = 20;
constexpr qsizetype kRemoteTargets = 20;
constexpr qsizetype kKindsOfTraces = 50;

// The words in the file.
template <typename Value>
struct Word {
  const char* name;
  Value value;
};
constexpr Word<session::CaptureTrigger> kTriggers[] = {
    {"none", session::CaptureTrigger::kNone}, {"cudaProfilerApi", session::CaptureTrigger::kProfilerApi}, {"nvtx", session::CaptureTrigger::kNvtxRange}};
constexpr Word<session::AfterCapture> kAfterRange[] = {{"none", session::AfterCapture::kGoOn},
                                                       {"stop", session::AfterCapture::kStop},
                                                       {"stop-shutdown", session::AfterCapture::kShutdown},
                                                       {"repeat", session::AfterCapture::kRepeat}};
constexpr Word<session::DomainRule> kDomainRules[] = {
    {"all", session::DomainRule::kAll}, {"include", session::DomainRule::kOnlyListed}, {"exclude", session::DomainRule::kAllButListed}};

constexpr Word<cpu::CallChains> kCallChains[] = {
    {"fp", cpu::CallChains::kFramePointers}, {"dwarf", cpu::CallChains::kDwarf}, {"lbr", cpu::CallChains::kBranchRecords}, {"none", cpu::CallChains::kNone}};

constexpr Word<ChainsOf> kChainsOf[] = {{"none", ChainsOf::kNone}, {"sync", ChainsOf::kWaits}, {"kernel,memory", ChainsOf::kWork}, {"all", ChainsOf::kAll}};
constexpr Word<session::PytorchRanges> kPytorch[] = {{"none", session::PytorchRanges::kNone},
                                                     {"autograd-nvtx", session::PytorchRanges::kOperations},
                                                     {"autograd-shapes-nvtx", session::PytorchRanges::kOperationsAndShapes}};

QString settings_path() { return QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation) + QStringLiteral("/lanescope/lanescope-ui.ini"); }

// The group with the settings of a program: "launch/<hash>/".
QString program_group(const char* purpose, const QString& program) {
  const QByteArray hash = QCryptographicHash::hash(program.toUtf8(), QCryptographicHash::Sha1).toHex();
  return QStringLiteral("%1/%2/").arg(QLatin1String(purpose), QLatin1String(hash));
}

QStringList with_first(QStringList list, const QString& entry, qsizetype limit) {
  list.removeAll(entry);
  list.prepend(entry);
  return list.mid(0, limit);
}

}  // namespace

Settings::Settings() : file_(settings_path(), QSettings::IniFormat) {}

void Settings::change(const std::function<void()>& change) {
  constexpr int kPatience = 2'000;  // ms; others hold the lock for milliseconds. If it cannot be had, for example in a read-only folder, a line may be lost.
  QLockFile lock(settings_path() + QStringLiteral(".change"));
  static_cast<void>(QDir().mkpath(QFileInfo(settings_path()).path()));
  static_cast<void>(lock.tryLock(kPatience));
  file_.sync();
  change();
  file_.sync();
}
void Settings::addFirst(const char* list, const QString& entry, qsizetype limit) {
  change([&] { file_.setValue(list, with_first(file_.value(list).toStringList(), entry, limit)); });
}

QStringList Settings::recentFiles() const { return file_.value("recentFiles").toStringList(); }
void Settings::addRecentFile(const QString& path) { addRecentEntry(QFileInfo(path).absoluteFilePath()); }
void Settings::addRecentEntry(const QString& entry) { addFirst("recentFiles", entry, kRecentFiles); }
void Settings::removeRecentFile(const QString& path) { removeRecentEntry(QFileInfo(path).absoluteFilePath()); }
void Settings::removeRecentEntry(const QString& entry) {
  change([&] {
    QStringList files = recentFiles();
    files.removeAll(entry);
    file_.setValue("recentFiles", files);
  });
}
void Settings::clearRecentFiles() {
  change([this] { file_.remove("recentFiles"); });
}

QStringList Settings::queries() const { return file_.value("queries").toStringList(); }
void Settings::addQuery(const QString& sql) {
  if (sql.size() <= kLongestQuery) addFirst("queries", sql, kQueries);
}

QByteArray Settings::layout(const char* key) const {
  if (file_.value("window/schemaVersion").toInt() != kSchemaVersion) return {};
  return file_.value(key).toByteArray();
}
QByteArray Settings::windowGeometry() const { return layout("window/geometry"); }
void Settings::setWindowGeometry(const QByteArray& geometry) {
  file_.setValue("window/schemaVersion", kSchemaVersion);
  file_.setValue("window/geometry", geometry);
}
QVariant Settings::ofPanels(const QString& key) const { return file_.value(versioned(key), file_.value(key)); }
QVariantMap Settings::floatingPlaces() const { return ofPanels("window/floatingPlaces").toMap(); }
void Settings::setFloatingPlaces(const QVariantMap& places) { file_.setValue(versioned("window/floatingPlaces"), places); }
QVariantMap Settings::panelSizes() const { return ofPanels("window/panelSizes").toMap(); }
void Settings::setPanelSizes(const QVariantMap& sizes) { file_.setValue(versioned("window/panelSizes"), sizes); }
QByteArray Settings::windowState() const {
  return file_.value("window/schemaVersion").toInt() == kSchemaVersion ? ofPanels("window/state").toByteArray() : QByteArray();
}
void Settings::setWindowState(const QByteArray& state) { file_.setValue(versioned("window/state"), state); }
QByteArray Settings::eventsHeader() const { return layout("window/eventsHeader"); }
int Settings::eventsColumns() const { return file_.value("window/eventsColumns").toInt(); }
void Settings::setEventsHeader(const QByteArray& state, int columns) {
  file_.setValue("window/eventsHeader", state);
  file_.setValue("window/eventsColumns", columns);
}
QVariant Settings::panelPart(const QString& name) const { return file_.value("panels/" + name); }
void Settings::setPanelPart(const QString& name, const QVariant& arrangement) { file_.setValue("panels/" + name, arrangement); }

RememberedRows Settings::rows(const QString& kind) const {
  const QString group = program_group("rows", kind);
  RememberedRows rows;
  rows.expanded = file_.value(group + "expanded").toStringList();
  rows.collapsed = file_.value(group + "collapsed").toStringList();
  rows.pinned = file_.value(group + "pinned").toStringList();
  rows.hidden = file_.value(group + "hidden").toStringList();
  const QVariantMap order = file_.value(group + "order").toMap();
  for (auto entry = order.begin(); entry != order.end(); ++entry) rows.order[entry.key()] = entry.value().toStringList();
  return rows;
}

void Settings::setRows(const QString& kind, const RememberedRows& rows) {
  const auto remember = [&] {
    const QStringList before = file_.value("rows/kinds").toStringList();
    const QStringList kinds = with_first(before, kind, kKindsOfTraces);
    for (const QString& other : before)
      if (!kinds.contains(other)) file_.remove(program_group("rows", other).chopped(1));
    file_.setValue("rows/kinds", kinds);
  };
  if (file_.value("rows/kinds").toStringList().value(0) != kind) change(remember);
  const QString group = program_group("rows", kind);
  file_.setValue(group + "expanded", rows.expanded);
  file_.setValue(group + "collapsed", rows.collapsed);
  file_.setValue(group + "pinned", rows.pinned);
  file_.setValue(group + "hidden", rows.hidden);
  QVariantMap order;
  for (auto entry = rows.order.begin(); entry != rows.order.end(); ++entry) order[entry.key()] = entry.value();
  file_.setValue(group + "order", order);
}

QString Settings::exportFolder() const { return file_.value("export/folder").toString(); }
void Settings::setExportFolder(const QString& folder) { file_.setValue("export/folder", folder); }

std::optional<std::uint64_t> Settings::memoryForEvents() const {
  const qulonglong bytes = file_.value("memory/events").toULongLong();
  return bytes == 0 ? std::nullopt : std::optional<std::uint64_t>(bytes);
}

void Settings::setMemoryForEvents(std::uint64_t bytes) { file_.setValue("memory/events", static_cast<qulonglong>(bytes)); }

Theme Settings::theme() const {
  const QString name = file_.value("window/theme").toString();
  return name == u"light" ? Theme::kLight : name == u"dark" ? Theme::kDark : Theme::kSystem;
}
timeline::WheelUse Settings::wheelUse() const {
  return file_.value("timeline/wheel").toString() == u"scroll" ? timeline::WheelUse::kScroll : timeline::WheelUse::kZoom;
}

void Settings::setWheelUse(timeline::WheelUse use) { file_.setValue("timeline/wheel", use == timeline::WheelUse::kScroll ? "scroll" : "zoom"); }

void Settings::setTheme(Theme theme) { file_.setValue("window/theme", theme == Theme::kLight ? "light" : theme == Theme::kDark ? "dark" : "system"); }

std::optional<QString> Settings::keys(const QString& command) const {
  const QVariant keys = file_.value("keys/" + command);
  return keys.isValid() ? std::optional(keys.toString()) : std::nullopt;
}

void Settings::setKeys(const QString& command, const std::optional<QString>& keys) {
  keys ? file_.setValue("keys/" + command, *keys) : file_.remove("keys/" + command);
}

QString Settings::editor() const { return file_.value("window/editor", QString::fromLatin1(editor_presets().front().command)).toString(); }
void Settings::setEditor(const QString& command) { file_.setValue("window/editor", command); }

std::optional<int> Settings::headerWidth() const {
  const int width = file_.value("timeline/headerWidth").toInt();
  return width > 0 ? std::optional(width) : std::nullopt;
}
void Settings::setHeaderWidth(int width) { file_.setValue("timeline/headerWidth", width); }
double Settings::rowScale() const { return file_.value("timeline/rowScale", 1.0).toDouble(); }
void Settings::setRowScale(double scale) { file_.setValue("timeline/rowScale", scale); }

QString Settings::language() const { return file_.value("window/language").toString(); }
void Settings::setLanguage(const QString& code) { file_.setValue("window/language", code); }

QStringList Settings::launchedPrograms() const { return file_.value("launch/programs").toStringList(); }

LaunchSettings Settings::launchSettings(const QString& program) const {
  LaunchSettings settings = launch(program_group("launch", program));
  settings.program = program;
  return settings;
}

LaunchSettings Settings::launch(const QString& group) const {
  LaunchSettings launch;
  launch.arguments = file_.value(group + "arguments").toString();
  launch.working_directory = file_.value(group + "workingDirectory").toString();
  launch.environment = file_.value(group + "environment").toStringList();
  launch.inherit_environment = file_.value(group + "inheritEnvironment", true).toBool();
  launch.capture = choices(group);
  launch.output = file_.value(group + "output").toString();
  return launch;
}

void Settings::rememberLaunch(const LaunchSettings& launch) {
  addFirst("launch/programs", launch.program, kLaunchedPrograms);
  setLaunch(program_group("launch", launch.program), launch);
}

void Settings::setLaunch(const QString& group, const LaunchSettings& launch) {
  file_.setValue(group + "arguments", launch.arguments);
  file_.setValue(group + "workingDirectory", launch.working_directory);
  file_.setValue(group + "environment", launch.environment);
  file_.setValue(group + "output", launch.output);
  file_.setValue(group + "inheritEnvironment", launch.inherit_environment);
  setChoices(group, launch.capture);
}

QStringList Settings::remoteTargets() const { return file_.value("remote/targets").toStringList(); }

RemoteSettings Settings::remoteSettings(const QString& target) const {
  const QString group = program_group("remote", target);
  RemoteSettings remote{target, file_.value(group + "lanescope").toString(), launch(group)};
  remote.launch.program = file_.value(group + "program").toString();
  remote.what = file_.value(group + "attaches", false).toBool() ? Target::kRunning : Target::kLaunched;
  remote.further = file_.value(group + "further").toString();
  return remote;
}

void Settings::rememberRemote(const RemoteSettings& remote) {
  addFirst("remote/targets", remote.target, kRemoteTargets);
  const QString group = program_group("remote", remote.target);
  file_.setValue(group + "lanescope", remote.lanescope);
  file_.setValue(group + "program", remote.launch.program);
  file_.setValue(group + "attaches", remote.what == Target::kRunning);
  file_.setValue(group + "further", remote.further);
  setLaunch(group, remote.launch);
}

CaptureChoices Settings::attachChoices(const QString& program) const { return choices(program_group("attach", program)); }
void Settings::rememberAttach(const AttachSettings& attach) { setChoices(program_group("attach", attach.program), attach.capture); }

CaptureChoices Settings::choices(const QString& group) const {
  CaptureChoices choices;
  choices.trace_cuda = file_.value(group + "traceCuda", true).toBool();
  choices.trace_nvtx = file_.value(group + "traceNvtx", true).toBool();
  choices.trace_os_runtime = file_.value(group + "traceOsRuntime", false).toBool();
  choices.file_access = file_.value(group + "fileAccess", false).toBool();
  const QString preset = file_.value(group + "preset").toString();
  choices.preset = preset == u"light" ? session::Preset::kLight : preset == u"deep" ? session::Preset::kDeep : session::Preset::kDefault;
  const QString level = file_.value(group + "graphLevel").toString();
  if (level == u"node") choices.graph_level = session::GraphLevel::kNode;
  if (level == u"graph") choices.graph_level = session::GraphLevel::kGraph;
  choices.delay = file_.value(group + "delay").toDouble();
  choices.duration = file_.value(group + "duration").toDouble();
  readPart(group, choices);
  return choices;
}

void Settings::readPart(const QString& group, CaptureChoices& choices) const {
  const auto words = [&](const char* key, const auto& known, auto usual) {
    const QString word = file_.value(group + key).toString();
    for (const auto& [name, value] : known)
      if (word == QLatin1String(name)) return value;
    return usual;
  };
  choices.trigger = words("captureRange", kTriggers, choices.trigger);
  choices.range = file_.value(group + "nvtxRange").toString();
  choices.range_domain = file_.value(group + "nvtxRangeDomain").toString();
  choices.after_range = words("afterRange", kAfterRange, choices.after_range);
  choices.repeats = file_.value(group + "repeats").toInt();
  choices.domain_rule = words("domainRule", kDomainRules, choices.domain_rule);
  choices.domains = file_.value(group + "domains").toStringList();
  choices.all_calls = file_.value(group + "allCalls", false).toBool();
  choices.os_runtime_threshold = file_.value(group + "osRuntimeThreshold", choices.os_runtime_threshold).toInt();
  choices.keep_last = file_.value(group + "keepLast").toDouble();
  choices.file_size = file_.value(group + "fileSize").toDouble();
  choices.trace_mpi = file_.value(group + "traceMpi", choices.trace_mpi).toBool();
  choices.libraries = file_.value(group + "libraries").toStringList();
  choices.pytorch = words("pytorch", kPytorch, choices.pytorch);
  choices.memory_usage = file_.value(group + "memoryUsage", false).toBool();
  choices.page_faults = file_.value(group + "pageFaults", false).toBool();
  choices.cuda_events = file_.value(group + "cudaEvents", false).toBool();
  choices.call_chains_of = words("callChainsOf", kChainsOf, choices.call_chains_of);
  choices.call_chains_from = file_.value(group + "callChainsFrom", choices.call_chains_from).toInt();
  choices.flush_interval = file_.value(group + "flushInterval", choices.flush_interval).toInt();
  choices.os_runtime_chains_from = file_.value(group + "osRuntimeChainsFrom", choices.os_runtime_chains_from).toInt();
  choices.from_outside = file_.value(group + "fromOutside", false).toBool();
  choices.program_at_end = file_.value(group + "endProgram", true).toBool() ? ProgramAtEnd::kEnds : ProgramAtEnd::kRunsOn;
  choices.wait_for_children = file_.value(group + "waitForChildren", choices.wait_for_children).toBool();
  choices.whole_machine = file_.value(group + "wholeMachine", false).toBool();
  choices.debug_folders = file_.value(group + "debugFolders").toString();
  choices.gpu_metrics_devices = file_.value(group + "gpuMetricsDevices", choices.gpu_metrics_devices).toString();
  choices.python_functions = file_.value(group + "pythonFunctions", false).toBool();
  choices.python_lock = file_.value(group + "pythonLock", false).toBool();
  choices.thread_states = file_.value(group + "threadStates", choices.thread_states).toBool();
  choices.samples = file_.value(group + "samples", choices.samples).toBool();
  choices.call_chains = words("callChains", kCallChains, choices.call_chains);
  choices.sampling_frequency = file_.value(group + "samplingFrequency", choices.sampling_frequency).toInt();
  choices.python_ranges_of = file_.value(group + "pythonRangesOf").toString();
  choices.system_calls = file_.value(group + "systemCalls", false).toBool();
  choices.kernel_events = file_.value(group + "kernelEvents").toStringList();
  choices.counted_events = file_.value(group + "countedEvents").toStringList();
  choices.network_metrics = file_.value(group + "networkMetrics", false).toBool();
  choices.storage_metrics = file_.value(group + "storageMetrics", false).toBool();
  choices.gpu_metrics = file_.value(group + "gpuMetrics", choices.gpu_metrics).toBool();
  choices.gpu_metrics_set = file_.value(group + "gpuMetricsSet", choices.gpu_metrics_set).toString();
  choices.gpu_metrics_frequency = file_.value(group + "gpuMetricsFrequency", choices.gpu_metrics_frequency).toInt();
}

void Settings::writePart(const QString& group, const CaptureChoices& choices) {
  const auto word = [](const auto& known, auto wanted) {
    for (const auto& [name, value] : known)
      if (value == wanted) return QString::fromLatin1(name);
    return QString();
  };
  file_.setValue(group + "captureRange", word(kTriggers, choices.trigger));
  file_.setValue(group + "nvtxRange", choices.range);
  file_.setValue(group + "nvtxRangeDomain", choices.range_domain);
  file_.setValue(group + "afterRange", word(kAfterRange, choices.after_range));
  file_.setValue(group + "repeats", choices.repeats);
  file_.setValue(group + "domainRule", word(kDomainRules, choices.domain_rule));
  file_.setValue(group + "domains", choices.domains);
  file_.setValue(group + "allCalls", choices.all_calls);
  file_.setValue(group + "osRuntimeThreshold", choices.os_runtime_threshold);
  file_.setValue(group + "keepLast", choices.keep_last);
  file_.setValue(group + "fileSize", choices.file_size);
  file_.setValue(group + "traceMpi", choices.trace_mpi);
  file_.setValue(group + "libraries", choices.libraries);
  file_.setValue(group + "pytorch", word(kPytorch, choices.pytorch));
  file_.setValue(group + "memoryUsage", choices.memory_usage);
  file_.setValue(group + "pageFaults", choices.page_faults);
  file_.setValue(group + "cudaEvents", choices.cuda_events);
  file_.setValue(group + "callChainsOf", word(kChainsOf, choices.call_chains_of));
  file_.setValue(group + "callChainsFrom", choices.call_chains_from);
  file_.setValue(group + "flushInterval", choices.flush_interval);
  file_.setValue(group + "osRuntimeChainsFrom", choices.os_runtime_chains_from);
  file_.setValue(group + "fromOutside", choices.from_outside);
  file_.setValue(group + "endProgram", choices.program_at_end == ProgramAtEnd::kEnds);
  file_.setValue(group + "waitForChildren", choices.wait_for_children);
  file_.setValue(group + "wholeMachine", choices.whole_machine);
  file_.setValue(group + "debugFolders", choices.debug_folders);
  file_.setValue(group + "gpuMetricsDevices", choices.gpu_metrics_devices);
  file_.setValue(group + "pythonFunctions", choices.python_functions);
  file_.setValue(group + "pythonLock", choices.python_lock);
  file_.setValue(group + "threadStates", choices.thread_states);
  file_.setValue(group + "samples", choices.samples);
  file_.setValue(group + "callChains", word(kCallChains, choices.call_chains));
  file_.setValue(group + "samplingFrequency", choices.sampling_frequency);
  file_.setValue(group + "pythonRangesOf", choices.python_ranges_of);
  file_.setValue(group + "systemCalls", choices.system_calls);
  file_.setValue(group + "kernelEvents", choices.kernel_events);
  file_.setValue(group + "countedEvents", choices.counted_events);
  file_.setValue(group + "networkMetrics", choices.network_metrics);
  file_.setValue(group + "storageMetrics", choices.storage_metrics);
  file_.setValue(group + "gpuMetrics", choices.gpu_metrics);
  file_.setValue(group + "gpuMetricsSet", choices.gpu_metrics_set);
  file_.setValue(group + "gpuMetricsFrequency", choices.gpu_metrics_frequency);
}

void Settings::setChoices(const QString& group, const CaptureChoices& choices) {
  using session::GraphLevel;
  using session::Preset;
  file_.setValue(group + "traceCuda", choices.trace_cuda);
  file_.setValue(group + "traceNvtx", choices.trace_nvtx);
  file_.setValue(group + "traceOsRuntime", choices.trace_os_runtime);
  file_.setValue(group + "fileAccess", choices.file_access);
  file_.setValue(group + "preset", choices.preset == Preset::kLight ? "light" : choices.preset == Preset::kDeep ? "deep" : "default");
  file_.setValue(group + "graphLevel", !choices.graph_level ? "" : *choices.graph_level == GraphLevel::kNode ? "node" : "graph");
  file_.setValue(group + "delay", choices.delay);
  file_.setValue(group + "duration", choices.duration);
  writePart(group, choices);
}

}  // namespace lanescope::ui
