#include "export/save_dialog.h"

#include <QDialogButtonBox>
#include <QFormLayout>
#include <QPushButton>

#include "model/trace/segments/demanded_segments.h"
#include "timeline/core/words/format.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

enum class Time { kAll, kSelected, kVisible };
enum class Rows { kAll, kShown };

QString with_range(const QString& name, TimeRange range) {
  return SaveDialog::tr("%1: %2 from %3")
      .arg(name, QString::fromStdString(timeline::format_duration(range.length())), QString::fromStdString(timeline::format_time(range.begin)));
}

}  // namespace

SaveDialog::SaveDialog(std::shared_ptr<const Trace> trace, SavableParts parts, QWidget* parent)
    : QDialog(parent), trace_(std::move(trace)), parts_(std::move(parts)), time_(new QComboBox(this)), rows_(new QComboBox(this)), count_(new QLabel(this)) {
  setWindowTitle(tr("Save as"));
  auto* form = new QFormLayout(this);
  form->addRow(tr("&Time:"), time_);
  form->addRow(tr("&Rows:"), rows_);
  form->addRow(QString(), count_);
  time_->addItem(tr("All of it"), static_cast<int>(Time::kAll));
  if (parts_.selected) time_->addItem(with_range(tr("Selected range"), *parts_.selected), static_cast<int>(Time::kSelected));
  time_->addItem(with_range(tr("Visible range"), parts_.visible), static_cast<int>(Time::kVisible));
  if (parts_.selected) time_->setCurrentIndex(1);
  rows_->addItem(tr("All rows"), static_cast<int>(Rows::kAll));
  rows_->addItem(tr("Without rows that are hidden or filtered out"), static_cast<int>(Rows::kShown));
  rows_->setToolTip(tr("A closed row is saved with all that is below it. A row of one name is saved with the other work of its streams."));
  for (QComboBox* choice : {time_, rows_}) connect(choice, &QComboBox::currentIndexChanged, this, &SaveDialog::showCount);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
  QPushButton* save = buttons->addButton(tr("&Choose the file…"), QDialogButtonBox::AcceptRole);
  save->setDefault(true);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  form->addRow(buttons);
  showCount();
}

ExportSelection SaveDialog::selection() const {
  ExportSelection selection;
  const auto time = static_cast<Time>(time_->currentData().toInt());
  if (time == Time::kSelected) selection.window = parts_.selected;
  if (time == Time::kVisible) selection.window = parts_.visible;
  if (static_cast<Rows>(rows_->currentData().toInt()) == Rows::kShown) selection.rows = parts_.shown_rows;
  return selection;
}

// Of a trace whose events are in its file, they are not looked up for this.
void SaveDialog::showCount() {
  if (!holds_events(*trace_)) return;
  const ExportSelection selection = this->selection();
  std::uint64_t count = 0;
  for (LaneId lane = 0; lane < trace_->lanes().size(); ++lane) {
    const auto [first, last] = selection.events(*trace_, lane);
    count += last - first;
  }
  count_->setText(shown_text(timeline::format_counted(count, "event")));
}

}  // namespace lanescope::ui
