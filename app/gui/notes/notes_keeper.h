// Keeps the markers of the timeline beside the trace's file, as notes (model/notes): they are there again when the file is opened, here or
// elsewhere. The trace itself is never written to. What somebody else, or another window, wrote into the file meanwhile stays in it. Notes on a recording
// that had the name before get another name once there are some on this one.
//
// Where several files are one trace, the notes of each are shown at their times on the common axis, and stay beside their own file, in its own
// times. What is new there is kept beside the folder, where one was opened; else beside the file whose times the axis has.
//
// Threads: the GUI thread only. Files of notes are small.
#pragma once

#include <cstdint>
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

  // The timeline shows the trace of this file, which may be recorded still, or of several: the trace's parts then say which. Its notes join the markers that
  // are there.
  void open(const QString& trace_file, const Trace& trace);
  // It shows the two traces of which `pair` is made, on the time axis of the first. Where the second comes to lie elsewhere on it, its notes go with it.
  void openPair(const QString& first, const QString& second, const Trace& pair);
  [[nodiscard]] bool isOpen() const { return !places_.empty(); }
  [[nodiscard]] bool hasSeveral() const { return places_.size() > 1; }
  // It shows something that has no file: markers are kept in sight alone.
  void close();
  // Tries again what could not be written, and returns the files that still lack what is shown; empty where all is kept.
  [[nodiscard]] QStringList unwritten();
  // Where the notes of a trace are.
  [[nodiscard]] static QString fileOf(const QString& trace_file) { return trace_file + QStringLiteral(".notes"); }

 signals:
  void filesChanged(
      const QMap<QString, QString>& names);  // what files that have notes of their own are called, by their paths; of a pair with A and B in front
  void said(const QString& sentence);        // of notes that can't be read or written, or not as they are
  void saving();                             // what was said before is no longer so

 private:
  enum class Reading { kDone, kNoFile, kRefused, kOfAnother };
  // A file that has notes of its own.
  struct Place {
    QString trace_file;
    QString name;
    ClockLine clock;             // from its times to those that are shown
    std::int64_t utc_epoch = 0;  // of the recording; 0 where not known
    Notes notes = {};            // as they were in the file when it was last read or written here
    bool gives_way = false;      // the file was of another recording when this trace was opened: it goes aside for the first note
    [[nodiscard]] bool isOf(const Place& other) const { return trace_file == other.trace_file && clock == other.clock; }
  };
  // The notes that the file has now.
  [[nodiscard]] static Reading read(const Place& place, Notes& notes);
  void load(Place& place);
  void open(std::vector<Place> places);
  void save();
  // Why the file, as it was read, can't take notes on the place; empty: it can.
  [[nodiscard]] static QString whyNot(const Place& place, Reading reading, const Notes& there);
  // Gives the file of another recording a name of its own, or says why not.
  [[nodiscard]] bool setAside(Place& place, const Notes& there);
  // Brings what changed in the notes of a place into its file; place.notes is then what that has. Else it says why not, and changes nothing.
  [[nodiscard]] bool keep(Place& place, const std::vector<Note>& mine);
  // The notes that the markers of a place are.
  [[nodiscard]] std::vector<Note> notesOf(const Place& place) const;
  // In place of the markers of a place.
  void show(const Place& place, const std::vector<Note>& notes);
  void cutLongTexts();

  timeline::TimelineView& view_;
  std::vector<Place> places_;  // none: nothing is kept
};

}  // namespace lanescope::ui
