#include "notes/notes_keeper.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>

#include <QFile>
#include <QFileInfo>

#include "base/files/file_path.h"
#include "export/trace_writing.h"
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

std::filesystem::path path_of_notes(const QString& trace_file) {
  std::filesystem::path path = file_path(trace_file);  // it is there, whatever its name
  path += ".notes";
  return path;
}

// Brings the notes into the file, for those who may read the trace; where there are none, the file goes. Fails with one sentence, and leaves what
// was there.
Result<void> write(const std::filesystem::path& path, const Notes& notes, const std::filesystem::path& trace) {
  if (notes.notes.empty() && notes.other_lines.empty()) {
    std::error_code error;
    std::filesystem::remove(path, error);
    return error ? Result<void>(Error{path.string() + " can't be removed: " + error.message() + "."}) : Result<void>();
  }
  return write_text({path.string(), readers_of({&trace, 1})}, {},
                    [&](const TextConsumer& consumer) { return consumer(format_notes(notes, trace.filename().string())); });
}

}  // namespace

NotesKeeper::NotesKeeper(timeline::TimelineView& view, QObject* parent) : QObject(parent), view_(view) {
  connect(&view, &timeline::TimelineView::markersEdited, this, &NotesKeeper::save);
}

void NotesKeeper::close() { places_.clear(); }

void NotesKeeper::open(const QString& trace_file, const std::vector<TracePart>& parts) {
  std::vector<Place> places;
  std::error_code unreadable;
  if (parts.empty() || std::filesystem::is_directory(file_path(trace_file), unreadable)) places.push_back({trace_file, {}, {}, true});
  for (const TracePart& part : parts)
    if (!part.file.empty()) places.push_back({QFile::decodeName(part.file.c_str()), part.clock, {}, true});
  open(std::move(places));
}

void NotesKeeper::openPair(const QString& first, const QString& second, const ClockLine& clock_of_second) {
  open({{first, {}, {}, true}, {second, clock_of_second, {}, true}});
}

void NotesKeeper::open(std::vector<Place> places) {
  if (std::equal(places.begin(), places.end(), places_.begin(), places_.end(), [](const Place& a, const Place& b) { return a.isOf(b); })) return;
  std::vector<timeline::TimelineView::Marker> made = view_.markers();  // while the file was being read, or recorded, and what could not be kept
  for (const Place& place : places_)
    for (const Note& note : place.notes.notes)
      std::erase_if(made, [&](const auto& marker) { return marker.time == place.clock(note.time) && marker.text.toStdString() == note.text; });
  std::swap(places, places_);
  bool any = false;
  for (Place& place : places_) {
    const auto same = std::find_if(places.begin(), places.end(), [&](const Place& each) { return each.trace_file == place.trace_file; });
    if (same == places.end()) {
      load(place);
    } else {
      const ClockLine clock = std::exchange(place, std::move(*same)).clock;
      place.clock = clock;
      same->trace_file.clear();
    }
    any = any || place.may_write || !place.notes.notes.empty();
  }
  if (!any) return;
  std::vector<std::vector<Note>> kept;
  for (const Place& place : places_) kept.push_back(place.notes.notes);
  show(kept, made);
  if (!made.empty()) save();
}

void NotesKeeper::load(Place& place) {
  const QString name = QFileInfo(fileOf(place.trace_file)).fileName();
  if (read(place, place.notes) == Reading::kRefused) {
    place.may_write = false;
    emit said(tr("%1 can't be read as notes: markers of this trace are not kept.").arg(name));
    return;
  }
  if (place.notes.left_out == 0) return;
  place.may_write = false;  // what is left out would be gone
  emit said(
      tr("%1 has more than %2 notes, or some of more than %3 bytes: not all are shown, and changes are not kept.").arg(name).arg(kMostNotes).arg(kLongestNote));
}

NotesKeeper::Reading NotesKeeper::read(const Place& place, Notes& notes) {
  const std::filesystem::path path = path_of_notes(place.trace_file);
  std::error_code unreadable;
  const std::filesystem::file_status status = std::filesystem::status(path, unreadable);
  if (status.type() == std::filesystem::file_type::not_found) return Reading::kNoFile;
  if (!std::filesystem::is_regular_file(status) || std::filesystem::file_size(path, unreadable) > kLargestNotesFile || unreadable) return Reading::kRefused;
  std::ifstream file(path, std::ios::binary);
  if (!file) return Reading::kRefused;
  std::string text(kLargestNotesFile, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  notes = parse_notes(text);
  return Reading::kDone;
}

void NotesKeeper::show(const std::vector<std::vector<Note>>& notes, const std::vector<timeline::TimelineView::Marker>& made) {
  std::vector<timeline::TimelineView::Marker> markers;
  for (std::size_t i = 0; i < places_.size(); ++i)
    for (const Note& note : notes[i]) markers.push_back({places_[i].clock(note.time), QString::fromStdString(note.text)});
  for (const timeline::TimelineView::Marker& marker : made)
    if (std::none_of(markers.begin(), markers.end(), [&](const auto& each) { return each.time == marker.time && each.text == marker.text; }))
      markers.push_back(marker);
  std::stable_sort(markers.begin(), markers.end(), [](const auto& a, const auto& b) { return a.time < b.time; });
  view_.setMarkers(std::move(markers));
}

std::vector<std::vector<Note>> NotesKeeper::notesOfPlaces() const {
  struct Shown {
    std::size_t place;
    const Note* note;
    Nanoseconds time;
  };
  std::vector<Shown> shown;
  for (std::size_t i = 0; i < places_.size(); ++i)
    for (const Note& note : places_[i].notes.notes) shown.push_back({i, &note, places_[i].clock(note.time)});
  std::vector<std::vector<Note>> mine(places_.size());
  std::vector<Note> left;
  for (const timeline::TimelineView::Marker& marker : view_.markers()) left.push_back({marker.time, marker.text.toStdString()});
  // First what is as it was, then what has another text, or another time.
  const auto match = [&](const auto& key_of, const auto& changed) {
    using Key = decltype(key_of(Nanoseconds{}, std::string()));
    std::multimap<Key, std::size_t> by_key;
    for (std::size_t i = 0; i < shown.size(); ++i) by_key.emplace(key_of(shown[i].time, shown[i].note->text), i);
    std::vector<bool> is_found(shown.size());
    std::erase_if(left, [&](const Note& marker) {
      const auto found = by_key.find(key_of(marker.time, marker.text));
      if (found == by_key.end()) return false;
      is_found[found->second] = true;
      mine[shown[found->second].place].push_back(changed(shown[found->second], marker));
      by_key.erase(found);
      return true;
    });
    std::vector<Shown> rest;
    for (std::size_t i = 0; i < shown.size(); ++i)
      if (!is_found[i]) rest.push_back(shown[i]);
    shown = std::move(rest);
  };
  match([](Nanoseconds time, const std::string& text) { return std::pair(time, text); }, [](const Shown& was, const Note&) { return *was.note; });
  match([](Nanoseconds time, const std::string&) { return time; }, [](const Shown& was, const Note& now) { return Note{was.note->time, now.text}; });
  match([](Nanoseconds, const std::string& text) { return text; },
        [this](const Shown& was, const Note& now) {
          return Note{places_[was.place].clock.back(now.time), now.text};
        });
  for (const Note& note : left) {
    const auto was_of = [&](const Place& place) {
      return std::any_of(place.gone.begin(), place.gone.end(), [&](const Note& gone) { return place.clock(gone.time) == note.time && gone.text == note.text; });
    };
    const auto of = std::find_if(places_.begin(), places_.end(), was_of);
    const std::size_t place = of == places_.end() ? 0 : static_cast<std::size_t>(of - places_.begin());
    mine[place].push_back({places_[place].clock.back(note.time), note.text});
  }
  for (std::vector<Note>& notes : mine) std::stable_sort(notes.begin(), notes.end(), [](const Note& a, const Note& b) { return a.time < b.time; });
  return mine;
}

// What would be cut when the file is read again is not written.
void NotesKeeper::cutLongTexts() {
  std::vector<timeline::TimelineView::Marker> markers = view_.markers();
  bool is_cut = false;
  for (timeline::TimelineView::Marker& marker : markers) is_cut |= std::exchange(marker.text, kept_of(marker.text)) != marker.text;
  if (!is_cut) return;
  view_.setMarkers(std::move(markers));
  emit notKept(tr("A note has at most %1 bytes of text: the rest of it was cut.").arg(kLongestNote));
}

void NotesKeeper::save() {
  if (places_.empty() || std::none_of(places_.begin(), places_.end(), [](const Place& place) { return place.may_write; })) return;
  emit saving();
  cutLongTexts();
  std::vector<std::vector<Note>> notes = notesOfPlaces();
  bool are_others_there = false;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (!places_[i].may_write || notes[i] == places_[i].notes.notes || !keep(places_[i], notes[i])) continue;
    are_others_there |= std::exchange(notes[i], places_[i].notes.notes) != places_[i].notes.notes;
  }
  if (are_others_there) show(notes, {});  // with what could not be kept
}

bool NotesKeeper::keep(Place& place, const std::vector<Note>& mine) {
  if (mine.size() > kMostNotes) {
    emit notKept(tr("A trace has at most %1 notes: remove some, so that the others are kept.").arg(kMostNotes));
    return false;
  }
  Notes there;
  const Reading reading = read(place, there);
  if (reading == Reading::kRefused || there.left_out > 0) {
    emit notKept(tr("%1 was changed by somebody else, and can't be read as notes now: markers of this trace are not kept.")
                     .arg(QFileInfo(fileOf(place.trace_file)).fileName()));
    return false;
  }
  Notes notes = reading == Reading::kDone ? merge_notes(place.notes, mine, there) : Notes{mine, place.notes.other_lines};
  if (const Result<void> written = write(path_of_notes(place.trace_file), notes, file_path(place.trace_file)); !written) {
    emit notKept(tr("The markers can't be kept: %1").arg(QString::fromStdString(written.error().text)));
    return false;
  }
  for (const Note& note : place.notes.notes)
    if (std::find(mine.begin(), mine.end(), note) == mine.end()) place.gone.push_back(note);
  place.notes = std::move(notes);
  return true;
}

}  // namespace lanescope::ui
