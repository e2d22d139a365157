#include "notes/notes_keeper.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include <unistd.h>

#include <QDateTime>
#include <QFile>
#include <QFileInfo>
#include <QLocale>

#include "base/files/file_path.h"
#include "export/trace_writing.h"
#include "model/file/privacy.h"
#include "model/trace/text/utf8.h"

namespace lanescope::ui {
namespace {

// The longest start of the text that a note can store.
QString kept_of(const QString& text) {
  const std::string bytes = text.toStdString();
  return bytes.size() <= kLongestNote ? text : QString::fromStdString(std::string(first_bytes(bytes, kLongestNote)));
}

std::filesystem::path path_of_notes(const QString& trace_file) {
  std::filesystem::path path = file_path(trace_file);  // the real path, even if its name is not text
  path += ".notes";
  return path;
}

QString name_of_notes(const QString& trace_file) { return QFileInfo(NotesKeeper::fileOf(trace_file)).fileName(); }

// When the recording of the notes started.
QString began_text(const Notes& notes) { return QLocale().toString(QDateTime::fromMSecsSinceEpoch(notes.utc_epoch / 1'000'000), QLocale::ShortFormat); }

// "run.trace.notes.old", or with a number behind it.
std::filesystem::path unused_name(const std::filesystem::path& file) {
  std::filesystem::path name = file;
  name += ".old";
  const std::filesystem::path first = name;
  std::error_code error;
  for (int number = 2; std::filesystem::exists(std::filesystem::symlink_status(name, error)); ++number) {
    name = first;
    name += std::to_string(number);
  }
  return name;
}

// Writes the text of notes into the file, with the permissions of the trace. Fails with one sentence, and leaves the present file unchanged.
Result<void> write_notes(const std::filesystem::path& path, const std::string& text, const std::filesystem::path& trace) {
  return write_text({path.string(), readers_of({&trace, 1})}, {}, [&](const TextConsumer& consumer) { return consumer(text); });
}

// A new file would take the place of the old one, which the folder alone permits.
bool is_read_only(const std::filesystem::path& path) {
  using std::filesystem::perms;
  std::error_code unknown;
  const perms permissions = std::filesystem::status(path, unknown).permissions();
  const bool nobody_may_write = (permissions & (perms::owner_write | perms::group_write | perms::others_write)) == perms::none;  // root may, all the same
  return !unknown && (nobody_may_write || access(path.c_str(), W_OK) != 0);
}

Result<void> remove_notes(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
  return error ? Result<void>(Error{path.string() + " can't be removed: " + error.message() + "."}) : Result<void>();
}

}  // namespace

NotesKeeper::NotesKeeper(timeline::TimelineView& view, QObject* parent) : QObject(parent), view_(view) {
  connect(&view, &timeline::TimelineView::markersEdited, this, &NotesKeeper::save);
}

void NotesKeeper::close() {
  places_.clear();
  view_.setMarkerFiles({});
  emit filesChanged({});
}

void NotesKeeper::open(const QString& trace_file, const Trace& trace) {
  const auto name_of = [](const QString& path) { return QFileInfo(path).fileName(); };
  std::vector<Place> places;
  std::error_code unreadable;
  if (trace.parts().empty())
    places.push_back({trace_file, name_of(trace_file), {}, trace.provenance().utc_epoch});
  else if (std::filesystem::is_directory(file_path(trace_file), unreadable))
    places.push_back({trace_file, name_of(trace_file), {}});
  for (const TracePart& part : trace.parts()) {
    const QString path = QFile::decodeName(part.file.c_str());
    if (!path.isEmpty()) places.push_back({path, name_of(path), part.clock, part.provenance.utc_epoch});
  }
  open(std::move(places));
}

void NotesKeeper::openPair(const QString& first, const QString& second, const Trace& pair) {
  const TracePart &a = pair.parts().front(), &b = pair.parts().back();
  std::vector<Place> places{{first, QStringLiteral("A  ") + QFileInfo(first).fileName(), {}, a.provenance.utc_epoch}};
  if (second != first) places.push_back({second, QStringLiteral("B  ") + QFileInfo(second).fileName(), b.clock, b.provenance.utc_epoch});
  open(std::move(places));
}

void NotesKeeper::open(std::vector<Place> places) {
  if (std::equal(places.begin(), places.end(), places_.begin(), places_.end(), [](const Place& a, const Place& b) { return a.isOf(b); })) return;
  const std::vector<timeline::TimelineView::Marker> before = view_.markers();
  const bool any_is_made = std::any_of(before.begin(), before.end(), [](const auto& marker) { return marker.file.isEmpty(); });
  std::vector<timeline::TimelineView::MarkerFile> files;
  QMap<QString, QString> names;
  for (const Place& place : places) {
    files.push_back({place.trace_file, place.clock});
    names[place.trace_file] = place.name;
  }
  view_.setMarkerFiles(std::move(files));
  std::swap(places, places_);
  std::vector<timeline::TimelineView::Marker> markers = view_.markers();
  for (Place& place : places_) {
    const auto same = std::find_if(places.begin(), places.end(), [&](const Place& each) { return each.trace_file == place.trace_file; });
    if (same != places.end()) {
      place.notes = same->notes;
      place.gives_way = same->gives_way;
      continue;
    }
    load(place);
    const std::vector<Note> made = notesOf(place);
    for (const Note& note : place.notes.notes)
      if (std::find(made.begin(), made.end(), note) == made.end()) markers.push_back({0, QString::fromStdString(note.text), place.trace_file, note.time});
  }
  view_.setMarkers(std::move(markers));
  emit filesChanged(names);
  if (any_is_made) save();
}

void NotesKeeper::load(Place& place) {
  const Reading reading = read(place, place.notes);
  place.gives_way = reading == Reading::kOfAnother;
  if (place.gives_way) {
    emit said(tr("%1 has notes on another recording, of %2, so that none are shown. It gets another name once you make a note on this one.")
                  .arg(name_of_notes(place.trace_file), began_text(place.notes)));
    place.notes = {};
  } else if (const QString why = whyNot(place, reading, place.notes); !why.isEmpty()) {
    emit said(why);
  }
}

NotesKeeper::Reading NotesKeeper::read(const Place& place, Notes& notes) {
  const std::filesystem::path path = path_of_notes(place.trace_file);
  std::error_code unreadable;
  const std::filesystem::file_status status = std::filesystem::status(path, unreadable);
  if (status.type() == std::filesystem::file_type::not_found || unreadable == std::errc::filename_too_long) return Reading::kNoFile;
  if (!std::filesystem::is_regular_file(status) || std::filesystem::file_size(path, unreadable) > kLargestNotesFile || unreadable) return Reading::kRefused;
  std::ifstream file(path, std::ios::binary);
  if (!file) return Reading::kRefused;
  std::string text(kLargestNotesFile, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  notes = parse_notes(text);
  const bool is_of_another = notes.utc_epoch != 0 && place.utc_epoch != 0 && notes.utc_epoch != place.utc_epoch;
  return is_of_another ? Reading::kOfAnother : Reading::kDone;
}

void NotesKeeper::show(const Place& place, const std::vector<Note>& notes) {
  std::vector<timeline::TimelineView::Marker> markers = view_.markers();
  std::erase_if(markers, [&](const auto& marker) { return marker.file == place.trace_file; });
  for (const Note& note : notes) markers.push_back({0, QString::fromStdString(note.text), place.trace_file, note.time});
  view_.setMarkers(std::move(markers));
}

std::vector<Note> NotesKeeper::notesOf(const Place& place) const {
  std::vector<Note> notes;
  for (const timeline::TimelineView::Marker& marker : view_.markers())
    if (marker.file == place.trace_file) notes.push_back({marker.own_time, stored_text(marker.text.toStdString())});
  std::stable_sort(notes.begin(), notes.end(), [](const Note& a, const Note& b) { return a.time < b.time; });
  return notes;
}

// Text that would be cut when the file is read again is not written.
void NotesKeeper::cutLongTexts() {
  std::vector<timeline::TimelineView::Marker> markers = view_.markers();
  bool is_cut = false;
  for (timeline::TimelineView::Marker& marker : markers) is_cut |= std::exchange(marker.text, kept_of(marker.text)) != marker.text;
  if (!is_cut) return;
  view_.setMarkers(std::move(markers));
  emit said(tr("A note has at most %1 bytes of text: the rest of it was cut.").arg(kLongestNote));
}

QStringList NotesKeeper::unwritten() {
  const auto is_written = [this](const Place& place) { return notesOf(place) == place.notes.notes; };
  if (!std::all_of(places_.begin(), places_.end(), is_written)) save();
  QStringList files;
  for (const Place& place : places_)
    if (!is_written(place)) files += name_of_notes(place.trace_file);
  return files;
}

void NotesKeeper::save() {
  if (places_.empty()) return;
  emit saving();
  cutLongTexts();
  for (Place& place : places_) {
    const std::vector<Note> mine = notesOf(place);
    if (mine == place.notes.notes || !keep(place, mine)) continue;
    if (mine != place.notes.notes) show(place, place.notes.notes);  // somebody else wrote some, too
  }
}

QString NotesKeeper::whyNot(const Place& place, Reading reading, const Notes& there) {
  const QString name = name_of_notes(place.trace_file);
  switch (reading) {
    case Reading::kRefused:
      return tr("%1 can't be read as notes, so that notes on this trace are not written. Rename it: they are written then, at the latest when you close the "
                "window.")
          .arg(name);
    case Reading::kOfAnother:
      return tr("%1 is now about another recording, of %2, so that notes on this one are not written. Rename it: they are written then, at the latest when you "
                "close the window.")
          .arg(name, began_text(there));
    case Reading::kDone:
    case Reading::kNoFile:
      break;
  }
  if (there.left_out == 0) return {};  // otherwise the notes that were left out would be lost
  return tr("%1 has more than %2 notes, or some of more than %3 bytes: not all are shown, and changes are not written. Rename it: they are written then, at "
            "the latest when you close the window.")
      .arg(name)
      .arg(kMostNotes)
      .arg(kLongestNote);
}

QString NotesKeeper::tooMuch(const Notes& notes, const std::string& text) {
  if (notes.notes.size() > kMostNotes) return tr("A trace has at most %1 notes: remove some, so that the others are kept.").arg(kMostNotes);
  if (text.size() > kLargestNotesFile)
    return tr("The notes on a trace have at most %1 MiB of text: remove some, so that the others are kept.").arg(kLargestNotesFile >> 20);
  return {};
}

bool NotesKeeper::setAside(Place& place, const Notes& there) {
  const std::filesystem::path from = path_of_notes(place.trace_file), to = unused_name(from);
  std::error_code error;
  std::filesystem::rename(from, to, error);
  if (error) {
    emit said(tr("%1 has notes on another recording, and can't get another name: %2. Notes on this one are not written before you rename it.")
                  .arg(name_of_notes(place.trace_file), QString::fromStdString(error.message())));
    return false;
  }
  place.gives_way = false;
  emit said(tr("The notes on the recording of %1, which had this name, are in %2 now.").arg(began_text(there), QFile::decodeName(to.filename().c_str())));
  return true;
}

bool NotesKeeper::keep(Place& place, const std::vector<Note>& mine) {
  Notes there;
  Reading reading = read(place, there);
  if (reading == Reading::kOfAnother && place.gives_way) {
    if (!setAside(place, there)) return false;
    reading = read(place, there);
  }
  if (const QString why = whyNot(place, reading, there); !why.isEmpty()) {
    emit said(why);
    return false;
  }
  Notes notes = merge_notes(place.notes, mine, there);
  if (reading == Reading::kNoFile) {
    notes.notes = mine;
    notes.other_lines = place.notes.other_lines;
  }
  if (place.utc_epoch != 0) notes.utc_epoch = place.utc_epoch;
  const std::filesystem::path trace = file_path(place.trace_file), file = path_of_notes(place.trace_file);
  const std::string text = format_notes(notes, trace.filename().string());
  if (const QString why = tooMuch(notes, text); !why.isEmpty()) {
    emit said(why);
    return false;
  }
  if (reading == Reading::kDone && is_read_only(file)) {
    emit said(
        tr("%1 is read-only, so that notes on this trace are not written. Make it writable: they are written then, at the latest when you close the window.")
            .arg(name_of_notes(place.trace_file)));
    return false;
  }
  if (const Result<void> written = notes.notes.empty() && notes.other_lines.empty() ? remove_notes(file) : write_notes(file, text, trace); !written) {
    emit said(tr("The markers can't be kept: %1").arg(QString::fromStdString(written.error().text)));
    return false;
  }
  place.notes = std::move(notes);
  return true;
}

}  // namespace lanescope::ui
