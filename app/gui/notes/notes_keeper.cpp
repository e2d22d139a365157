#include "notes/notes_keeper.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <QFile>
#include <QFileInfo>
#include <QSaveFile>

#include "model/file/privacy.h"

namespace lanescope::ui {
namespace {

// The longest beginning that a note may have.
QString kept_of(const QString& text) {
  QByteArray bytes = text.toUtf8();
  if (bytes.size() <= static_cast<qsizetype>(kLongestNote)) return text;
  qsizetype end = static_cast<qsizetype>(kLongestNote);
  while (end > 0 && (static_cast<unsigned char>(bytes[end]) & 0xc0) == 0x80) --end;  // not within a letter
  return QString::fromUtf8(bytes.first(end));
}

std::vector<Note> notes_of(const std::vector<timeline::TimelineView::Marker>& markers) {
  std::vector<Note> notes;
  for (const timeline::TimelineView::Marker& marker : markers) notes.push_back({marker.time, marker.text.toStdString()});
  return notes;
}

std::vector<timeline::TimelineView::Marker> markers_of(const std::vector<Note>& notes) {
  std::vector<timeline::TimelineView::Marker> markers;
  for (const Note& note : notes) markers.push_back({note.time, QString::fromStdString(note.text)});
  return markers;
}

}  // namespace

NotesKeeper::NotesKeeper(timeline::TimelineView& view, QObject* parent) : QObject(parent), view_(view) {
  connect(&view, &timeline::TimelineView::markersEdited, this, &NotesKeeper::save);
}

void NotesKeeper::close() {
  trace_file_.clear();
  notes_ = {};
}

void NotesKeeper::open(const QString& trace_file) {
  if (trace_file == trace_file_) return;
  trace_file_ = trace_file;
  notes_ = {};
  may_write_ = true;
  const std::vector<timeline::TimelineView::Marker> made = view_.markers();  // while the file was being read, or recorded
  const QString name = QFileInfo(fileOf(trace_file)).fileName();
  if (read(notes_) == Reading::kRefused) {
    may_write_ = false;
    emit said(tr("%1 can't be read as notes: markers of this trace are not kept.").arg(name));
    return;
  }
  if (notes_.left_out > 0) {
    may_write_ = false;  // what is left out would be gone
    emit said(tr("%1 has more than %2 notes, or some of more than %3 bytes: not all are shown, and changes are not kept.").arg(name).arg(kMostNotes).arg(kLongestNote));
  }
  if (made.empty()) return view_.setMarkers(markers_of(notes_.notes));
  view_.setMarkers(markers_of(merge_notes({}, notes_of(made), notes_).notes));
  save();
}

NotesKeeper::Reading NotesKeeper::read(Notes& notes) const {
  const QString path = fileOf(trace_file_);
  QFile file(path);
  if (!file.exists()) return Reading::kNoFile;
  const bool is_readable = QFileInfo(path).isFile() && file.size() <= static_cast<qint64>(kLargestNotesFile) && file.open(QIODevice::ReadOnly);
  if (!is_readable) return Reading::kRefused;
  notes = parse_notes(file.read(static_cast<qint64>(kLargestNotesFile)).toStdString());
  return Reading::kDone;
}

// What would be cut when the file is read again is not written.
void NotesKeeper::cutLongTexts() {
  std::vector<timeline::TimelineView::Marker> markers = view_.markers();
  bool is_cut = false;
  for (timeline::TimelineView::Marker& marker : markers) is_cut |= std::exchange(marker.text, kept_of(marker.text)) != marker.text;
  if (!is_cut) return;
  view_.setMarkers(std::move(markers));
  emit said(tr("A note has at most %1 bytes of text: the rest of it was cut.").arg(kLongestNote));
}

bool NotesKeeper::areFewEnough() {
  if (view_.markers().size() <= kMostNotes) return true;
  emit said(tr("A trace has at most %1 notes: remove some, so that the others are kept.").arg(kMostNotes));
  return false;
}

void NotesKeeper::save() {
  if (trace_file_.isEmpty() || !may_write_) return;
  cutLongTexts();
  if (!areFewEnough()) return;
  const std::vector<Note> now = notes_of(view_.markers());
  if (now == notes_.notes) return;
  const QString path = fileOf(trace_file_);
  Notes there;
  const Reading reading = read(there);
  if (reading == Reading::kRefused || there.left_out > 0) {
    emit said(tr("%1 was changed by somebody else, and can't be read as notes now: markers of this trace are not kept.").arg(QFileInfo(path).fileName()));
    return;
  }
  if (reading == Reading::kDone)
    notes_ = merge_notes(notes_, now, there);
  else
    notes_.notes = now;
  if (notes_.notes != now) {
    view_.setMarkers(markers_of(notes_.notes));
  }
  if (notes_.notes.empty() && notes_.other_lines.empty()) {
    QFile::remove(path);
    return;
  }
  const std::string text = format_notes(notes_, QFileInfo(trace_file_).fileName().toStdString());
  QSaveFile file(path);
  const std::filesystem::path about(trace_file_.toStdString());
  const bool is_open = file.open(QIODevice::WriteOnly);
  if (is_open && readers_of({&about, 1}) == Readers::kOwnerAlone) file.setPermissions(QFile::ReadOwner | QFile::WriteOwner);
  if (is_open && file.write(text.data(), static_cast<qint64>(text.size())) == static_cast<qint64>(text.size()) && file.commit()) return;
  emit said(tr("The markers can't be kept in %1: %2.").arg(path, file.errorString()));
}

}  // namespace lanescope::ui
