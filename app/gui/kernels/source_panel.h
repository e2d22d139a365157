// The code of the selected kernel where it was sampled or counted: its source lines, and beside them its instructions; the warmer a line, the
// more often warps stood there, and the more was counted at it. A chosen line marks its instructions, and an instruction its line.
//
// Instructions are those that NVIDIA's disassembler says where the user has it, else opcodes alone. Nothing is computed while the panel is
// hidden.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QStringList>
#include <QToolButton>
#include <QWidget>

#include "base/jobs/latest_job.h"
#include "base/jobs/paced_update.h"
#include "base/state/selection_state.h"
#include "kernels/code_table.h"
#include "kernels/source_files.h"
#include "model/kernels/code/kernel_code.h"

namespace lanescope::ui {

class SourcePanel : public QWidget {
  Q_OBJECT

 public:
  explicit SourcePanel(SelectionState& state, QWidget* parent = nullptr);

  // Where sources are looked for that are not where the recording has them.
  [[nodiscard]] const QStringList& sourceFolders() const { return folders_; }
  void setSourceFolders(const QStringList& folders);

  // The next hottest line is chosen, the hottest one first.
  void showNextHotSpot();
  // Chooses the line "file.cu:12", with whatever is behind it, of the selected kernel as soon as its code is there.
  void showLine(const QString& place);

  [[nodiscard]] CodeTable& lines() { return *lines_; }
  [[nodiscard]] CodeTable& instructions() { return *instructions_; }
  [[nodiscard]] QString note() const { return note_->text(); }
  [[nodiscard]] bool isComputing() const { return job_.isRunning() || paced_.isPending(); }
  [[nodiscard]] bool isReading() const { return job_.isRunning(); }

 signals:
  void sourceFoldersChanged(const QStringList& folders);
  void sourceRequested(const QString& recorded_path, std::uint32_t line);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  // Of one kernel, with what could be read of its sources.
  struct Code {
    std::shared_ptr<const Trace> trace;
    std::string kernel;
    kernels::KernelCode code;
    std::vector<std::optional<SourceText>> sources;  // one a file
    bool has_disassembler = false;
    bool has_operands = false;  // which it gave
  };

  void layOut();
  // What code is asked of.
  struct Wanted {
    std::shared_ptr<const Trace> trace;
    std::string kernel;
    QStringList folders;
    bool operator==(const Wanted&) const = default;
  };

  void refresh();
  void refreshForSelection();
  void compute();
  void present(std::shared_ptr<const Code> code, const QString& failure);
  void showNote(const QString& failure);
  void showLines();
  void showInstructions();
  void markInstructions(int line_row);
  void markLine(int instruction_row);
  void search();
  [[nodiscard]] bool chooseWanted();  // whether the line that is wanted is there
  void chooseFolder();

  SelectionState& state_;
  QLineEdit* search_;
  QToolButton* next_;
  QToolButton* folder_;
  QLabel* note_;
  CodeTable* lines_;
  CodeTable* instructions_;
  QStringList folders_;
  Wanted asked_;  // last
  std::shared_ptr<const Code> code_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> places_;  // file and line of each row of lines_; kNoFile: of none
  QString wanted_;                                               // the line that is to be chosen; empty: none
  bool follows_ = false;                                         // one table chooses a row for the other
  PacedUpdate paced_;
  LatestJob job_;
};

}  // namespace lanescope::ui
