// Stores the markers of the timeline as notes beside the trace's file (model/notes), so that they are there when the file is opened again, here or elsewhere.
// The trace itself is never written to. What somebody else, or another window, wrote into the notes file meanwhile stays in it. Notes on an earlier recording
// with the same file name are renamed when this one gets its first note.
//
// If several files are one trace, the notes of each are shown at their times on the common axis, and are stored beside their own file, in its own times. New
// notes are stored beside the folder if one was opened, else beside the file whose times the axis has.
//
// Threads: the GUI thread only. Files of notes are small.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <QMap>
#include <QObject>
#include <QString>
#include <QStringList>

#include "model/notes/notes.h"
#include "model/trace/trace.h"
#include "timeline/widget/timeline_view.h"

namespace lanescope::ui {

class NotesKeeper : public QObject {
  Q_OBJECT

 public:
  explicit NotesKeeper(timeline::TimelineView& view, QObject* parent = nullptr);

  // To be called when the timeline shows the trace of this file, which may still be recorded, or of several files: the parts of the trace then say which. Adds
  // its notes to the markers that are there.
  void open(const QString& trace_file, const Trace& trace);
  // To be called when it shows the two traces of `pair` on the time axis of the first. If the second trace is shifted, its notes move with it.
  void openPair(const QString& first, const QString& second, const Trace& pair);
  [[nodiscard]] bool isOpen() const { return !places_.empty(); }
  [[nodiscard]] bool hasSeveral() const { return places_.size() > 1; }
  // To be called when it shows something that has no file: markers are then kept only in memory.
  void close();
  // Tries again to write what could not be written, and returns the files that still lack notes; empty if all are stored.
  [[nodiscard]] QStringList unwritten();
  // The file of the notes of a trace.
  [[nodiscard]] static QString fileOf(const QString& trace_file) { return trace_file + QStringLiteral(".notes"); }

 signals:
  void filesChanged(const QMap<QString, QString>& names);  // names of the files that have notes of their own, by their paths; for a pair with A and B in front
  void said(const QString& sentence);                      // notes cannot be read or written, or only in part
  void saving();                                           // earlier problems are obsolete

 private:
  enum class Reading { kDone, kNoFile, kRefused, kOfAnother };
  // A file that has notes of its own.
  struct Place {
    QString trace_file;
    QString name;
    ClockLine clock;             // from times of the file to times that are shown
    std::int64_t utc_epoch = 0;  // of the recording; 0 if not known
    Notes notes = {};            // content of the file when it was last read or written here
    bool gives_way = false;      // the file belonged to another recording when this trace was opened: it is renamed before the first note is written
    [[nodiscard]] bool isOf(const Place& other) const { return trace_file == other.trace_file && clock == other.clock; }
  };
  // Reads the present notes of the file.
  [[nodiscard]] static Reading read(const Place& place, Notes& notes);
  void load(Place& place);
  void open(std::vector<Place> places);
  void save();
  // Why the file, as it was read, cannot take notes on the place; empty: it can.
  [[nodiscard]] static QString whyNot(const Place& place, Reading reading, const Notes& there);
  // Why these notes, whose file has this text, would not be read again; empty: they would.
  [[nodiscard]] static QString tooMuch(const Notes& notes, const std::string& text);
  // Renames the file of another recording, or says why that failed.
  [[nodiscard]] bool setAside(Place& place, const Notes& there);
  // Writes changes of the notes of a place into its file; place.notes is then the content of the file. If that fails, says why and changes nothing.
  [[nodiscard]] bool keep(Place& place, const std::vector<Note>& mine);
  // The notes that correspond to the markers of a place, with the texts that the file can have (stored_text).
  [[nodiscard]] std::vector<Note> notesOf(const Place& place) const;
  // Replaces the markers of a place.
  void show(const Place& place, const std::vector<Note>& notes);
  void cutLongTexts();

  timeline::TimelineView& view_;
  std::vector<Place> places_;  // empty: nothing is stored
};

}  // namespace lanescope::ui
