// What the viewer remembers between runs, in an ini file in the user's configuration folder. Tests use a file of their own by setting XDG_CONFIG_HOME.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include <QByteArray>
#include <QSettings>
#include <QSize>
#include <QString>
#include <QStringList>

#include "base/state/remembered_rows.h"
#include "record/launch_settings.h"
#include "record/remote_settings.h"
#include "timeline/widget/timeline_view.h"

namespace lanescope::ui {

enum class Theme { kSystem, kLight, kDark };

class Settings {
 public:
  Settings();

  // Reads changes that other programs of this user made since. Changes by other Settings objects of this program are visible without this.
  void readAgain() { file_.sync(); }

  [[nodiscard]] QStringList recentFiles() const;  // newest first: absolute paths, and entries of several files (window/start/recent_entry.h)
  void addRecentFile(const QString& path);        // at the front; the list keeps ten
  void addRecentEntry(const QString& entry);      // the same
  void removeRecentFile(const QString& path);
  void removeRecentEntry(const QString& entry);
  void clearRecentFiles();

  // Layouts that another version wrote are not returned.
  [[nodiscard]] QByteArray windowGeometry() const;
  void setWindowGeometry(const QByteArray& geometry);
  // The arrangement of panels. Viewers whose panels differ have different versions of it, and each version keeps its own. What a viewer stored that knew no
  // versions is returned until this version has stored something.
  static constexpr int kLayoutVersion = 4;
  [[nodiscard]] QVariantMap panelSizes() const;  // at the time of setWindowState(), by name
  void setPanelSizes(const QVariantMap& sizes);
  [[nodiscard]] QVariantMap floatingPlaces() const;  // of panels, by name
  void setFloatingPlaces(const QVariantMap& places);
  [[nodiscard]] QByteArray windowState() const;
  void setWindowState(const QByteArray& state);
  [[nodiscard]] QByteArray eventsHeader() const;
  [[nodiscard]] int eventsColumns() const;  // the number of columns when the header was stored; 0 if it was not stored yet
  void setEventsHeader(const QByteArray& state, int columns);
  // The arrangement of a part of a panel, by the name of the part.
  [[nodiscard]] QVariant panelPart(const QString& name) const;
  void setPanelPart(const QString& name, const QVariant& arrangement);

  // Queries that were run in the query panel, newest first.
  [[nodiscard]] QStringList queries() const;
  void addQuery(const QString& sql);  // at the front; the list keeps fifty, without duplicates

  [[nodiscard]] QString exportFolder() const;  // the folder of the last exported file; empty if there was no export
  void setExportFolder(const QString& folder);

  // Kept for the kinds of trace (kind_of_trace()) whose rows were arranged last; older ones are forgotten.
  [[nodiscard]] RememberedRows rows(const QString& kind) const;
  void setRows(const QString& kind, const RememberedRows& rows);

  // In bytes, for events that are read from files on demand; nothing: the default.
  [[nodiscard]] std::optional<std::uint64_t> memoryForEvents() const;
  void setMemoryForEvents(std::uint64_t bytes);

  [[nodiscard]] Theme theme() const;
  void setTheme(Theme theme);
  [[nodiscard]] timeline::WheelUse wheelUse() const;
  void setWheelUse(timeline::WheelUse use);

  // Keys of a command, in the portable text of QKeySequence; nothing: the default keys.
  [[nodiscard]] std::optional<QString> keys(const QString& command) const;
  void setKeys(const QString& command, const std::optional<QString>& keys);
  // A command (base/files/editor.h); the default is that of VS Code.
  [[nodiscard]] QString editor() const;
  void setEditor(const QString& command);

  [[nodiscard]] std::optional<int> headerWidth() const;  // timeline::TimelineView::headerWidth(), if the user chose one
  void setHeaderWidth(int width);
  [[nodiscard]] double rowScale() const;  // timeline::TimelineView::rowScale()
  void setRowScale(double scale);

  [[nodiscard]] QString language() const;  // a code (model/text/language.h); empty: the language of the desktop
  void setLanguage(const QString& code);

  [[nodiscard]] QStringList launchedPrograms() const;                         // newest first
  [[nodiscard]] LaunchSettings launchSettings(const QString& program) const;  // as last used; the defaults for a new program
  void rememberLaunch(const LaunchSettings& launch);
  [[nodiscard]] CaptureChoices attachChoices(const QString& program) const;  // as last used with a process of this name
  void rememberAttach(const AttachSettings& attach);
  [[nodiscard]] QStringList remoteTargets() const;                           // newest first
  [[nodiscard]] RemoteSettings remoteSettings(const QString& target) const;  // as last used there; the defaults for a new target
  void rememberRemote(const RemoteSettings& remote);

 private:
  static constexpr int kSchemaVersion = 1;
  // Changes settings that other windows and programs change as well: reads what they wrote first, and locks them out meanwhile.
  void change(const std::function<void()>& change);
  void addFirst(const char* list, const QString& entry, qsizetype limit);
  [[nodiscard]] QByteArray layout(const char* key) const;
  [[nodiscard]] QVariant ofPanels(const QString& key) const;
  [[nodiscard]] LaunchSettings launch(const QString& group) const;
  void setLaunch(const QString& group, const LaunchSettings& launch);
  [[nodiscard]] CaptureChoices choices(const QString& group) const;
  void setChoices(const QString& group, const CaptureChoices& choices);
  // Which part is recorded, and how much of it is kept.
  void readPart(const QString& group, CaptureChoices& choices) const;
  void writePart(const QString& group, const CaptureChoices& choices);
  QSettings file_;
};

}  // namespace lanescope::ui
