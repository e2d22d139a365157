// When files were changed last and how large they are, looked up off the GUI thread: a file on a network that does not answer holds nothing up
// but what is said of it.
//
// Threads: the GUI thread only. Each lookup has a thread of its own, which is left to itself where it has no answer yet.
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

  // As it was when its lookup ended last; none: it has not.
  [[nodiscard]] std::optional<FileFacts> of(const QString& path) const;
  // Looks again, unless it is looking already. Ends with found().
  void look(const QString& path);

 signals:
  void found(const QString& path);

 private:
  struct Link;
  QHash<QString, FileFacts> known_;
  QSet<QString> looking_;
  std::shared_ptr<Link> link_;  // to this, for threads that may outlive it
};

}  // namespace lanescope::ui
