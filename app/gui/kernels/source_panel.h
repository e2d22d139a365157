// The code of the selected kernel if it was sampled or counted: its source lines, and its instructions beside them. Lines at which warps were seen more often,
// or with higher counts, have warmer colours. Choosing a line marks its instructions; choosing an instruction marks its line.
//
// Instructions come from NVIDIA's disassembler if the user has it; otherwise only opcodes are shown. Nothing is computed while the panel is hidden.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QStringList>
#include <QToolButton>
#include <QWidget>

#include "base/jobs/latest_job.h"
#include "base/jobs/while_shown.h"
#include "base/state/selection_state.h"
#include "kernels/code_table.h"
#include "kernels/source_files.h"
#include "model/kernels/code/kernel_code.h"

namespace lanescope::ui {

class SourcePanel : public QWidget {
  Q_OBJECT

 public:
  explicit SourcePanel(SelectionState& state, QWidget* parent = nullptr);

  // Folders in which sources are searched that are not at their recorded paths.
  [[nodiscard]] const QStringList& sourceFolders() const { return folders_; }
  void setSourceFolders(const QStringList& folders);

  // Chooses the next hottest line, starting with the hottest one.
  void showNextHotSpot();
  // Chooses the line "file.cu:12" of the selected kernel as soon as its code is there; text behind the number is ignored.
  void showLine(const QString& place);

  [[nodiscard]] CodeTable& lines() { return *lines_; }
  [[nodiscard]] CodeTable& instructions() { return *instructions_; }
  [[nodiscard]] QString note() const { return note_->text(); }
  [[nodiscard]] bool isComputing() const { return job_.isRunning() || while_shown_.isPending(); }
  [[nodiscard]] bool isReading() const { return job_.isRunning(); }

 signals:
  void sourceFoldersChanged(const QStringList& folders);
  void sourceRequested(const QString& recorded_path, std::uint32_t line);

 private:
  // The code of one kernel, with its sources as far as they could be read.
  struct Code {
    std::shared_ptr<const Trace> trace;
    std::string kernel;
    kernels::KernelCode code;
    std::vector<std::optional<SourceText>> sources;  // one for each file
    bool has_disassembler = false;
    bool has_operands = false;  // from the disassembler
  };

  void layOut();
  // The input of a request for code.
  struct Wanted {
    std::shared_ptr<const Trace> trace;
    std::string kernel;
    QStringList folders;
    bool operator==(const Wanted&) const = default;
  };

  void followSelection();
  void compute();
  void present(std::shared_ptr<const Code> code, const QString& failure);
  void showNote(const QString& failure);
  void showLines();
  void showInstructions();
  void markInstructions(int line_row);
  void markLine(int instruction_row);
  void search();
  [[nodiscard]] bool chooseWanted();  // true if the wanted line exists
  void chooseFolder();

  SelectionState& state_;
  QLineEdit* search_;
  QToolButton* next_;
  QToolButton* folder_;
  QLabel* note_;
  CodeTable* lines_;
  CodeTable* instructions_;
  QStringList folders_;
  Wanted asked_;  // the last request
  std::shared_ptr<const Code> code_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> places_;  // file and line of each row of lines_; kNoFile: no file
  QString wanted_;                                               // the line to be chosen; empty: none
  bool follows_ = false;                                         // one table is choosing a row for the other
  LatestJob job_;
  WhileShown while_shown_{*this, [this] { compute(); }};
};

}  // namespace lanescope::ui
