#include "base/files/file_facts.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <QFile>

namespace lanescope::ui {
namespace {

// For a folder, the facts about all traces in it, because it is opened as one.
FileFacts facts_of_folder(const std::filesystem::path& folder, qint64 changed) {
  FileFacts facts{FileFacts::State::kThere, changed, 0};
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
    struct stat status {};
    if (entry->path().extension() != ".trace" || ::stat(entry->path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    facts.changed = std::max(facts.changed, static_cast<qint64>(status.st_mtime));
    facts.bytes += static_cast<qint64>(status.st_size);
  }
  if (failed) facts.state = FileFacts::State::kNotReadable;
  return facts;
}

FileFacts facts_of(const QByteArray& path) {
  struct stat status {};
  if (::stat(path.constData(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return facts_of_folder(path.constData(), static_cast<qint64>(status.st_mtime));
    return {FileFacts::State::kThere, static_cast<qint64>(status.st_mtime), static_cast<qint64>(status.st_size)};
  }
  return {errno == ENOENT || errno == ENOTDIR ? FileFacts::State::kGone : FileFacts::State::kNotReadable, 0, 0};
}

}  // namespace

struct FileLookup::Link {
  std::mutex mutex;
  FileLookup* lookup = nullptr;  // null: it was destroyed
};

FileLookup::FileLookup(QObject* parent) : QObject(parent), link_(std::make_shared<Link>()) { link_->lookup = this; }

FileLookup::~FileLookup() {
  const std::lock_guard lock(link_->mutex);
  link_->lookup = nullptr;
}

std::optional<FileFacts> FileLookup::of(const QString& path) const {
  const auto found = known_.find(path);
  return found == known_.end() ? std::nullopt : std::optional(*found);
}

void FileLookup::look(const QString& path) {
  if (looking_.contains(path)) return;
  const auto work = [link = link_, path, name = QFile::encodeName(path)] {
    const FileFacts facts = facts_of(name);
    const std::lock_guard lock(link->mutex);
    FileLookup* const lookup = link->lookup;
    if (lookup == nullptr) return;
    QMetaObject::invokeMethod(
        lookup,
        [lookup, path, facts] {
          lookup->looking_.remove(path);
          lookup->known_[path] = facts;
          emit lookup->found(path);
        },
        Qt::QueuedConnection);
  };
  try {
    std::thread(work).detach();
    looking_.insert(path);
  } catch (const std::system_error&) {
    return;  // no thread can be created: nothing becomes known
  }
}

}  // namespace lanescope::ui
