// Sizes and times of the last change of files. They are looked up off the GUI thread, so that a file on a network that does not answer delays only what is
// shown about it.
//
// Threads: the GUI thread only. Each lookup has its own thread; a thread that has no answer yet is not waited for.
#pragma once

#include <memory>
#include <optional>

#include <QHash>
#include <QObject>
#include <QSet>
#include <QString>

namespace lanescope::ui {

struct FileFacts {
  enum class State { kThere, kGone, kNotReadable };
  State state = State::kNotReadable;
  qint64 changed = 0;  // seconds since 1970
  qint64 bytes = 0;
};

class FileLookup : public QObject {
  Q_OBJECT

 public:
  explicit FileLookup(QObject* parent = nullptr);
  ~FileLookup() override;

  // The result of the last lookup of this path; nothing if none has finished.
  [[nodiscard]] std::optional<FileFacts> of(const QString& path) const;
  // Starts a lookup, unless one is running for this path. found() is emitted when it ends.
  void look(const QString& path);

 signals:
  void found(const QString& path);

 private:
  struct Link;
  QHash<QString, FileFacts> known_;
  QSet<QString> looking_;
  std::shared_ptr<Link> link_;  // to this object, for threads that may outlive it
};

}  // namespace lanescope::ui
