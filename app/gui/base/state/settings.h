// What the viewer remembers between runs, in an ini file of the user's configuration folder. Tests keep it apart by setting
// XDG_CONFIG_HOME.
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

  // What another program of this user changed meanwhile is known from then on; what another Settings of this program changed is known anyway.
  void readAgain() { file_.sync(); }

  [[nodiscard]] QStringList recentFiles() const;  // newest first, absolute paths
  void addRecentFile(const QString& path);        // at the front; the list keeps ten
  void removeRecentFile(const QString& path);
  void clearRecentFiles();

  // Layouts that another version wrote are not returned.
  [[nodiscard]] QByteArray windowGeometry() const;
  void setWindowGeometry(const QByteArray& geometry);
  [[nodiscard]] QVariantMap panelSizes() const;  // when windowState() was kept, by name
  void setPanelSizes(const QVariantMap& sizes);
  [[nodiscard]] QVariantMap floatingPlaces() const;  // of panels, by name
  void setFloatingPlaces(const QVariantMap& places);
  [[nodiscard]] QByteArray windowState() const;
  void setWindowState(const QByteArray& state);
  [[nodiscard]] QByteArray eventsHeader() const;
  [[nodiscard]] int eventsColumns() const;  // that the list had when its header was kept; 0 where that was not written yet
  void setEventsHeader(const QByteArray& state, int columns);
  // How a part of a panel was arranged, by its name.
  [[nodiscard]] QVariant panelPart(const QString& name) const;
  void setPanelPart(const QString& name, const QVariant& arrangement);

  // What was asked in the panel for queries, newest first.
  [[nodiscard]] QStringList queries() const;
  void addQuery(const QString& sql);  // at the front; the list keeps fifty, each once

  [[nodiscard]] QString exportFolder() const;  // of the last file that was exported; empty: none was
  void setExportFolder(const QString& folder);

  // Of the kinds of trace (kind_of_trace()) whose rows were arranged last; others are forgotten.
  [[nodiscard]] RememberedRows rows(const QString& kind) const;
  void setRows(const QString& kind, const RememberedRows& rows);

  // In bytes, of events that are read from files when they are needed; none: as much as is usual.
  [[nodiscard]] std::optional<std::uint64_t> memoryForEvents() const;
  void setMemoryForEvents(std::uint64_t bytes);

  [[nodiscard]] Theme theme() const;
  void setTheme(Theme theme);
  [[nodiscard]] timeline::WheelUse wheelUse() const;
  void setWheelUse(timeline::WheelUse use);

  // Keys of a command, in the portable text of QKeySequence; none: as at first.
  [[nodiscard]] std::optional<QString> keys(const QString& command) const;
  void setKeys(const QString& command, const std::optional<QString>& keys);
  // A command (base/editor.h); at first that of VS Code.
  [[nodiscard]] QString editor() const;
  void setEditor(const QString& command);

  [[nodiscard]] std::optional<int> headerWidth() const;  // timeline::TimelineView::headerWidth(), where somebody chose one
  void setHeaderWidth(int width);
  [[nodiscard]] double rowScale() const;  // timeline::TimelineView::rowScale()
  void setRowScale(double scale);

  [[nodiscard]] QString language() const;  // a code (model/text/language.h); empty: as the desktop has it
  void setLanguage(const QString& code);

  [[nodiscard]] QStringList launchedPrograms() const;                         // newest first
  [[nodiscard]] LaunchSettings launchSettings(const QString& program) const;  // as last used; the defaults for a program that is new
  void rememberLaunch(const LaunchSettings& launch);
  [[nodiscard]] CaptureChoices attachChoices(const QString& program) const;  // as last used with a process of this name
  void rememberAttach(const AttachSettings& attach);
  [[nodiscard]] QStringList remoteTargets() const;                           // newest first
  [[nodiscard]] RemoteSettings remoteSettings(const QString& target) const;  // as last used there; the defaults for a target that is new
  void rememberRemote(const RemoteSettings& remote);

 private:
  static constexpr int kSchemaVersion = 1;
  // Of what other windows and programs change as well: with what they have written, and while none of them does so.
  void change(const std::function<void()>& change);
  void addFirst(const char* list, const QString& entry, qsizetype limit);
  [[nodiscard]] QByteArray layout(const char* key) const;
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
