#include "events/value_chips.h"

#include <QToolButton>

#include "base/text/texts.h"
#include "timeline/core/words/describe.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

constexpr int kLongestChip = 28;  // characters

void keep_exactly(EventFilter& filter, PivotColumn column, std::optional<EventKind> kind, std::string_view text) {
  filter.text.clear();
  std::erase_if(filter.values, [](const ColumnValue& value) { return value.column == PivotColumn::kName || value.column == PivotColumn::kFamily; });
  if (kind == EventKind::kCudaApi) text = api_display_name(text);
  filter.values.push_back({column, std::string(text)});
  filter.kind = kind;
}

}  // namespace

void keep_name(EventFilter& filter, std::optional<EventKind> kind, std::string_view name) { keep_exactly(filter, PivotColumn::kName, kind, name); }
void keep_family(EventFilter& filter, std::optional<EventKind> kind, std::string_view family) { keep_exactly(filter, PivotColumn::kFamily, kind, family); }

QString value_text(const ColumnValue& value) {
  if (value.text.empty()) return tr("none");
  switch (value.column) {
    case PivotColumn::kKind:
      return shown_text(std::string_view(value.text));
    case PivotColumn::kName:
    case PivotColumn::kFamily:
      if (value.text.starts_with("void ")) return isolated(QString::fromStdString(timeline::compact_kernel_name(value.text)));
      return isolated(QString::fromStdString(value.text));
    default:
      return isolated(QString::fromStdString(value.text));
  }
}

ValueChips::ValueChips(SelectionState& state, QWidget* parent) : QWidget(parent), state_(state), line_(new QHBoxLayout(this)) {
  line_->setContentsMargins(0, 0, 0, 0);
  line_->setSpacing(4);
  connect(&state, &SelectionState::filterChanged, this, &ValueChips::show);
  connect(&state, &SelectionState::traceChanged, this, &ValueChips::show);  // another trace clears the filter
  show();
}

void ValueChips::show() {
  std::vector<ColumnValue> values = state_.filter().values;
  std::erase_if(values, [](const ColumnValue& value) { return value.column == PivotColumn::kRun; });  // the combo box beside shows it
  setVisible(!values.empty());
  if (values == shown_) return;
  shown_ = values;
  while (QLayoutItem* item = line_->takeAt(0)) {
    item->widget()->deleteLater();  // it may be the button that was clicked
    item->widget()->hide();
    delete item;
  }
  for (const ColumnValue& value : values) {
    auto* chip = new QToolButton(this);
    const QString whole = tr("%1: %2").arg(shown_text(pivot_column_title(value.column)), value_text(value));
    chip->setText((whole.size() > kLongestChip ? whole.left(kLongestChip) + QChar(0x2026) : whole) + QStringLiteral("  ✕"));
    chip->setToolTip(tr("Only events of which this is true are listed. Click to list the others, too.<br>%1").arg(whole.toHtmlEscaped()));
    chip->setAccessibleName(whole);
    chip->setAutoRaise(true);
    connect(chip, &QToolButton::clicked, this, [this, value] {
      EventFilter filter = state_.filter();
      std::erase(filter.values, value);
      state_.setFilter(filter);
    });
    line_->addWidget(chip);
  }
}

}  // namespace lanescope::ui
