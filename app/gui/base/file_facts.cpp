#include "base/file_facts.h"

#include <sys/stat.h>

#include <cerrno>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <QFile>

namespace lanescope::ui {
namespace {

FileFacts facts_of(const QByteArray& path) {
  struct stat status {};
  if (::stat(path.constData(), &status) == 0) return {FileFacts::State::kThere, static_cast<qint64>(status.st_mtime), static_cast<qint64>(status.st_size)};
  return {errno == ENOENT || errno == ENOTDIR ? FileFacts::State::kGone : FileFacts::State::kNotReadable, 0, 0};
}

}  // namespace

struct FileLookup::Link {
  std::mutex mutex;
  FileLookup* lookup = nullptr;  // null: it is gone
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
    return;  // no thread can be had: nothing is known of it
  }
}

}  // namespace lanescope::ui
