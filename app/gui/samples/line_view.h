// The text of a source file; beside each line, how often it was seen: the line itself, and including its callees. Lines that were seen more often have warmer
// colours.
//
// Files are read off the GUI thread. If a file is not on this machine, the lines that were seen are shown without text.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <QLabel>
#include <QStringList>
#include <QWidget>

#include "base/jobs/latest_job.h"
#include "kernels/code_table.h"
#include "kernels/source_files.h"
#include "samples/sample_profile.h"

namespace lanescope::ui {

class LineView : public QWidget {
  Q_OBJECT

 public:
  explicit LineView(QWidget* parent = nullptr);

  // Stays with the shown file if the profile has lines of it; else shows the file of the first line. Null: shows nothing.
  void setProfile(std::shared_ptr<const Trace> trace, std::shared_ptr<const SampleProfile> profile);
  void setSourceFolders(const QStringList& folders);  // folders with sources that are not at their recorded paths
  // Shows the file of a line of the profile, with that line in the middle.
  void showLine(const samples::LineWeight& line);

  [[nodiscard]] CodeTable& code() { return *code_; }
  [[nodiscard]] QString title() const { return title_->text(); }
  [[nodiscard]] bool isComputing() const { return job_.isRunning(); }

 signals:
  void lineActivated(const QString& recorded_path, std::uint32_t line);

 private:
  void read();
  void present();
  void goToLine();

  QLabel* title_;
  CodeTable* code_;
  std::shared_ptr<const Trace> trace_;
  std::shared_ptr<const SampleProfile> profile_;
  QStringList folders_;
  std::string file_;        // the recorded path; empty: none
  std::uint32_t line_ = 0;  // scrolled to
  std::string read_file_;   // the file of text_
  std::optional<SourceText> text_;
  std::vector<std::uint32_t> numbers_;  // line number of each row
  LatestJob job_;
};

}  // namespace lanescope::ui
