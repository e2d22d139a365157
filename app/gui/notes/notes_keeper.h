// Keeps the markers of the timeline beside the trace's file, as notes (model/notes): they are there again when the file is opened, here or
// elsewhere. The trace itself is never written to. What somebody else, or another window, wrote into the file meanwhile stays in it.
//
// Threads: the GUI thread only. Files of notes are small.
#pragma once

#include <QObject>
#include <QString>

#include "model/notes/notes.h"
#include "timeline/widget/timeline_view.h"

namespace lanescope::ui {

class NotesKeeper : public QObject {
  Q_OBJECT

 public:
  explicit NotesKeeper(timeline::TimelineView& view, QObject* parent = nullptr);

  // The timeline shows the trace of this file: its notes join the markers that are there.
  void open(const QString& trace_file);
  // It shows something that has no file (yet): markers are kept in sight alone.
  void close();
  // Where the notes of a trace are.
  [[nodiscard]] static QString fileOf(const QString& trace_file) { return trace_file + QStringLiteral(".notes"); }

 signals:
  void said(const QString& sentence);  // of notes that can't be read or written

 private:
  enum class Reading { kDone, kNoFile, kRefused };
  // The notes that the file has now.
  [[nodiscard]] Reading read(Notes& notes) const;
  void save();
  void cutLongTexts();
  // Whether all markers can be kept; says so where not.
  [[nodiscard]] bool areFewEnough();

  timeline::TimelineView& view_;
  QString trace_file_;           // empty: none
  Notes notes_;                  // as they were in the file when it was last read or written here
  bool may_write_ = false;       // not over a file that could not be read
};

}  // namespace lanescope::ui
