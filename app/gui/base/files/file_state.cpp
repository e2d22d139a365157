#include "base/files/file_state.h"

#include <sys/stat.h>

#include <algorithm>

#include <QCryptographicHash>
#include <QFile>

namespace lanescope::ui {
namespace {

// Recordings and databases have the time at which they were written at their start or end; small files are read whole.
QByteArray mark_of(const std::filesystem::path& file, std::int64_t bytes) {
  constexpr std::int64_t kAtOneEnd = 64 << 10;
  QFile opened(QFile::decodeName(file.c_str()));
  if (!opened.open(QIODevice::ReadOnly | QIODevice::Unbuffered)) return {};
  QCryptographicHash mark(QCryptographicHash::Sha1);
  mark.addData(opened.read(kAtOneEnd));
  if (opened.seek(std::max<qint64>(opened.pos(), bytes - kAtOneEnd))) mark.addData(opened.read(kAtOneEnd));
  return mark.result();
}

std::optional<FileState> facts_of(const std::filesystem::path& file) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  struct stat facts {};
  if (stat(file.c_str(), &facts) != 0) return std::nullopt;
  return FileState{facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtim.tv_sec * kSecond + facts.st_mtim.tv_nsec, {}};
}

}  // namespace

std::optional<FileState> state_of(const std::filesystem::path& file) {
  std::optional<FileState> state = facts_of(file);
  if (state) state->mark = mark_of(file, state->bytes);
  return state;
}

FileChange find_change(const std::filesystem::path& file, FileState& known) {
  std::optional<FileState> now = facts_of(file);
  const bool is_same = !now || (now->device == known.device && now->number == known.number && now->bytes == known.bytes && now->last_write == known.last_write);
  if (is_same) return FileChange::kNone;
  now->mark = mark_of(file, now->bytes);
  if (now->bytes != known.bytes || now->mark != known.mark || now->mark.isEmpty()) return FileChange::kContent;
  known = *now;
  return FileChange::kNone;
}

}  // namespace lanescope::ui
