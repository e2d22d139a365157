#include "samples/line_view.h"

#include <algorithm>
#include <map>
#include <utility>

#include <QShortcut>
#include <QVBoxLayout>

#include "base/room/elided_label.h"
#include "tables/table_place.h"
#include "timeline/core/words/format.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

constexpr int kCountCharacters = 10;          // for a share
constexpr std::uint32_t kMostLines = 50'000;  // of a file; longer files are shown around the chosen line

}  // namespace

LineView::LineView(QWidget* parent) : QWidget(parent), title_(new ElidedLabel(this)), code_(new CodeTable(tr("Source with counts"), this)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(title_);
  column->addWidget(code_, 1);
  title_->setContentsMargins(8, 3, 8, 3);
  title_->setTextFormat(Qt::PlainText);
  title_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  code_->setToolTip(tr("Double-click a line to open it in the editor. N goes to the line with the next most samples."));
  connect(code_, &QAbstractItemView::activated, this,
          [this](const QModelIndex& index) { emit lineActivated(QString::fromStdString(file_), numbers_[static_cast<std::size_t>(index.row())]); });
  auto* key = new QShortcut(QKeySequence(Qt::Key_N), this);
  key->setContext(Qt::WidgetWithChildrenShortcut);
  connect(key, &QShortcut::activated, this, [this] { code_->chooseRow(code_->nextHotRow()); });
  present();
}

void LineView::setProfile(std::shared_ptr<const Trace> trace, std::shared_ptr<const SampleProfile> profile) {
  trace_ = std::move(trace);
  profile_ = std::move(profile);
  if (!profile_ || profile_->lines.empty()) {
    job_.cancel();
    file_.clear();
    return present();
  }
  const auto known =
      std::find_if(profile_->lines.begin(), profile_->lines.end(), [this](const samples::LineWeight& line) { return trace_->name(line.file) == file_; });
  if (known == profile_->lines.end()) return showLine(profile_->lines.front());
  if (!job_.isRunning()) present();
}

void LineView::setSourceFolders(const QStringList& folders) {
  if (folders_ == folders) return;
  folders_ = folders;
  read_file_.clear();
  if (!file_.empty()) read();
}

void LineView::showLine(const samples::LineWeight& line) {
  file_ = trace_->name(line.file);
  line_ = line.line;
  read();
}

void LineView::read() {
  if (read_file_ == file_) {
    job_.cancel();
    present();
    return goToLine();
  }
  job_.start([this, file = file_, folders = folders_](const LatestJob::Context& job) {
    job.deliver([this, file, text = read_source(file, folders)] {
      read_file_ = file;
      text_ = text;
      present();
      goToLine();
    });
  });
}

void LineView::goToLine() {
  const auto chosen = std::lower_bound(numbers_.begin(), numbers_.end(), line_);
  if (chosen != numbers_.end() && *chosen == line_) code_->chooseRow(static_cast<int>(chosen - numbers_.begin()));
}

void LineView::present() {
  std::map<std::uint32_t, const samples::LineWeight*> seen;
  if (profile_ && !file_.empty())
    for (const samples::LineWeight& line : profile_->lines)
      if (trace_->name(line.file) == file_) seen[line.line] = &line;
  const auto length = static_cast<std::uint32_t>(text_ && !seen.empty() ? text_->lines.size() : 0);
  const std::vector<std::uint32_t> before = std::exchange(numbers_, {});
  const std::uint32_t first = length <= kMostLines || line_ <= kMostLines / 2 ? 1 : line_ - kMostLines / 2;
  for (std::uint32_t number = first; number <= length && number - first < kMostLines; ++number) numbers_.push_back(number);
  for (const auto& [number, line] : seen)
    if (number > length || number == 0) numbers_.push_back(number);  // the file is not on this machine, or is another version
  std::sort(numbers_.begin(), numbers_.end());

  std::vector<CodeRow> rows;
  for (const std::uint32_t number : numbers_) {
    CodeRow row;
    row.place = QString::number(number);
    if (number >= 1 && number <= length) row.text = QString(text_->lines[number - 1]).replace(u'\t', QStringLiteral("    "));
    if (const auto line = seen.find(number); line != seen.end()) {
      const samples::Weight& all = profile_->top_down.total();
      const auto share_of = [&](const samples::Weight& weight) {
        const double share = samples::amount(weight, profile_->by) / std::max(1.0, static_cast<double>(samples::amount(all, profile_->by)));
        return CodeNumber{share > 0 ? QString::fromStdString(timeline::format_share(share)) : QString(), share};
      };
      row.numbers = {share_of(line->second->self), share_of(line->second->total)};
      row.tip = tr("%1 at this line, %2 with what it called")
                    .arg(shown_text(weight_text(line->second->self, profile_->source)), shown_text(weight_text(line->second->total, profile_->source)));
    }
    rows.push_back(std::move(row));
  }
  const TablePlace place(*code_);
  code_->code().setRows(std::move(rows), seen.empty() ? QStringList() : QStringList{tr("Self"), tr("Total")});
  for (int column = CodeTableModel::kColumns; column < code_->code().columnCount(); ++column)
    code_->setColumnWidth(column, kCountCharacters * code_->fontMetrics().averageCharWidth());
  if (numbers_ == before) place.restore(*code_, place.lines());  // the same lines with new counts
  const QString name = QString::fromStdString(file_);
  title_->setText(file_.empty() ? QString() : text_ ? text_->path : tr("%1 is not here: choose its folder in the panel Source").arg(name));
  title_->setToolTip(title_->text());
}

}  // namespace lanescope::ui
