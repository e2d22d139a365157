#include "base/settings.h"

#include <QCryptographicHash>
#include <QFileInfo>
#include <QStandardPaths>

namespace lanescope::ui {
namespace {

constexpr qsizetype kRecentFiles = 10;
constexpr qsizetype kLaunchedPrograms = 20;

QString settings_path() {
  return QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation) + QStringLiteral("/lanescope/lanescope-ui.ini");
}

QString launch_group(const QString& program) {
  return QStringLiteral("launch/") + QString::fromLatin1(QCryptographicHash::hash(program.toUtf8(), QCryptographicHash::Sha1).toHex());
}

QStringList with_first(QStringList list, const QString& entry, qsizetype limit) {
  list.removeAll(entry);
  list.prepend(entry);
  return list.mid(0, limit);
}

}  // namespace

Settings::Settings() : file_(settings_path(), QSettings::IniFormat) {}

QStringList Settings::recentFiles() const { return file_.value("recentFiles").toStringList(); }
void Settings::addRecentFile(const QString& path) {
  file_.setValue("recentFiles", with_first(recentFiles(), QFileInfo(path).absoluteFilePath(), kRecentFiles));
}
void Settings::clearRecentFiles() { file_.remove("recentFiles"); }

QByteArray Settings::layout(const char* key) const {
  if (file_.value("window/schemaVersion").toInt() != kSchemaVersion) return {};
  return file_.value(key).toByteArray();
}
QByteArray Settings::windowGeometry() const { return layout("window/geometry"); }
void Settings::setWindowGeometry(const QByteArray& geometry) {
  file_.setValue("window/schemaVersion", kSchemaVersion);
  file_.setValue("window/geometry", geometry);
}
QByteArray Settings::windowState() const { return layout("window/state"); }
void Settings::setWindowState(const QByteArray& state) { file_.setValue("window/state", state); }
QByteArray Settings::eventsHeader() const { return layout("window/eventsHeader"); }
void Settings::setEventsHeader(const QByteArray& state) { file_.setValue("window/eventsHeader", state); }

Theme Settings::theme() const {
  const QString name = file_.value("window/theme").toString();
  return name == u"light" ? Theme::kLight : name == u"dark" ? Theme::kDark : Theme::kSystem;
}
void Settings::setTheme(Theme theme) {
  file_.setValue("window/theme", theme == Theme::kLight ? "light" : theme == Theme::kDark ? "dark" : "system");
}

QStringList Settings::launchedPrograms() const { return file_.value("launch/programs").toStringList(); }

LaunchSettings Settings::launchSettings(const QString& program) const {
  const QString group = launch_group(program);
  const auto value = [&](const char* key, const QVariant& otherwise = {}) {
    return file_.value(group + u'/' + QLatin1String(key), otherwise);
  };
  LaunchSettings launch;
  launch.program = program;
  launch.arguments = value("arguments").toString();
  launch.working_directory = value("workingDirectory").toString();
  launch.environment = value("environment").toStringList();
  launch.trace_cuda = value("traceCuda", true).toBool();
  launch.trace_nvtx = value("traceNvtx", true).toBool();
  const QString preset = value("preset").toString();
  launch.preset = preset == u"light" ? session::Preset::kLight : preset == u"deep" ? session::Preset::kDeep : session::Preset::kDefault;
  launch.output = value("output").toString();
  return launch;
}

void Settings::rememberLaunch(const LaunchSettings& launch) {
  file_.setValue("launch/programs", with_first(launchedPrograms(), launch.program, kLaunchedPrograms));
  file_.beginGroup(launch_group(launch.program));
  file_.setValue("arguments", launch.arguments);
  file_.setValue("workingDirectory", launch.working_directory);
  file_.setValue("environment", launch.environment);
  file_.setValue("traceCuda", launch.trace_cuda);
  file_.setValue("traceNvtx", launch.trace_nvtx);
  file_.setValue("preset", launch.preset == session::Preset::kLight  ? "light"
                           : launch.preset == session::Preset::kDeep ? "deep"
                                                                     : "default");
  file_.setValue("output", launch.output);
  file_.endGroup();
}

}  // namespace lanescope::ui
