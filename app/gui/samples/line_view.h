// The text of a source file, with how often each of its lines was seen beside it: in itself, and with all that it called. The warmer a line, the more.
//
// Files are read off the GUI thread. Of a file that is not here, the lines that were seen stand without their texts.
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

  // Goes on with the file that is shown where lines of it were seen, else with that of the first line. Null: shows nothing.
  void setProfile(std::shared_ptr<const Trace> trace, std::shared_ptr<const SampleProfile> profile);
  void setSourceFolders(const QStringList& folders);  // where sources are that are not where the program ran
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
  std::string file_;        // as it was recorded; empty: none
  std::uint32_t line_ = 0;  // that is to be in sight
  std::string read_file_;   // that text_ is of
  std::optional<SourceText> text_;
  std::vector<std::uint32_t> numbers_;  // of the line of each row
  LatestJob job_;
};

}  // namespace lanescope::ui
