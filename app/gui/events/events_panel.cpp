#include "events/events_panel.h"

#include <algorithm>

#include <QAction>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QScopedValueRollback>
#include <QScrollBar>
#include <QVBoxLayout>

#include "base/jobs/patience.h"
#include "events/value_chips.h"
#include "model/trace/combining/parts.h"
#include "tables/quiet_focus.h"
#include "tables/table_look.h"
#include "timeline/core/navigation.h"
#include "timeline/core/words/format.h"
#include "timeline/widget/shown_text.h"

namespace lanescope::ui {
namespace {

// Widths in digits and order of the initially visible columns; the others are hidden.
struct InitialColumn {
  EventColumn column;
  int characters;
};
constexpr InitialColumn kInitialColumns[] = {
    {EventColumn::kName, 34},      {EventColumn::kStart, 16}, {EventColumn::kDuration, 14}, {EventColumn::kGapBefore, 14},  {EventColumn::kQueueTime, 12},
    {EventColumn::kNvtxRange, 20}, {EventColumn::kKind, 14},  {EventColumn::kStream, 11},   {EventColumn::kThread, 18},     {EventColumn::kBytes, 11},
    {EventColumn::kGrid, 15},      {EventColumn::kBlock, 13}, {EventColumn::kMemory, 18},   {EventColumn::kThroughput, 12}, {EventColumn::kCorrelation, 13},
};

constexpr int kWidestNumber = 999'999;
constexpr int kRunCharacters = 7;  // of its title with the sort indicator
constexpr int kFileCharacters = 14;
constexpr int kCellMargin = 4;  // px in front of the text of a cell, approximately

Message families_text(std::uint64_t count) {
  return Message(count == 1 ? "{number} family" : "{number} families", {{"number", timeline::format_count(count)}});
}

}  // namespace

EventsPanel::EventsPanel(SelectionState& state, ShownEvents& shown, QWidget* parent)
    : QWidget(parent),
      state_(state),
      shown_(shown),
      model_(new EventTableModel(this)),
      filter_(new EventFilterBar(state, this)),
      pages_(new QStackedWidget(this)),
      table_(new QuietFocus<QTableView>(this)),
      nothing_(new QLabel(this)),
      count_(new QLabel(this)),
      fold_(new QToolButton(this)),
      ordering_(new QLabel(this)),
      loop_(new QToolButton(this)) {
  layOut();
  arrangeHeader();
  addActions();
  connectList();
  connectTable();
  showCount();
}

void EventsPanel::layOut() {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  filter_->append({loop_, fold_, count_});
  column->addWidget(filter_);
  column->addWidget(ordering_);
  column->addWidget(pages_, 1);
  ordering_->setContentsMargins(8, 2, 8, 2);
  ordering_->setWordWrap(true);
  ordering_->hide();
  loop_->setToolButtonStyle(Qt::ToolButtonTextOnly);
  loop_->setPopupMode(QToolButton::MenuButtonPopup);
  loop_->setText(tr("Loop: #%1").arg(kWidestNumber));
  loop_->setMinimumWidth(loop_->sizeHint().width());  // so that no number moves what is beside it
  loop_->setText(tr("Loop"));
  loop_->setEnabled(false);
  count_->setMinimumWidth(count_->fontMetrics().horizontalAdvance(shown_text(timeline::format_counted(kWidestNumber, "event"))));  // likewise
  pages_->addWidget(table_);
  pages_->addWidget(nothing_);
  nothing_->setAlignment(Qt::AlignCenter);
  nothing_->setWordWrap(true);
  nothing_->setForegroundRole(QPalette::PlaceholderText);
  fold_->setText(tr("Families"));
  fold_->setToolTip(tr("Fold names that differ in their counters only into one line with its sums: step 7 and step 8 are step *"));
  fold_->setCheckable(true);
  table_->setAccessibleName(tr("Events"));
  table_->setModel(model_);
  apply_table_look(*table_);
  table_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  table_->setIconSize({9, 9});
  table_->setContextMenuPolicy(Qt::CustomContextMenu);
  table_->setMouseTracking(true);
  table_->viewport()->installEventFilter(this);
  table_->installEventFilter(this);
}

void EventsPanel::arrangeHeader() {
  QHeaderView* header = table_->horizontalHeader();
  const int character = table_->fontMetrics().horizontalAdvance(u'0');
  header->setSortIndicatorShown(true);  // the indicator adds to the width of titles
  for (int i = 0; i < model_->columnCount(); ++i) header->setSectionHidden(i, i != EventTableModel::kNumberColumn);
  header->resizeSection(EventTableModel::kNumberColumn, character * 9);
  for (const auto& [shown_column, characters] : kInitialColumns) {
    header->setSectionHidden(EventTableModel::columnOf(shown_column), false);
    const int section = EventTableModel::columnOf(shown_column);
    header->resizeSection(section, std::max(character * characters, header->sectionSizeHint(section)));  // for the title with the sort indicator
  }
  for (int i = 0; i < static_cast<int>(std::size(kInitialColumns)); ++i)
    header->moveSection(header->visualIndex(EventTableModel::columnOf(kInitialColumns[i].column)), i + 1);
  placeRunColumn();
  header->setSectionsMovable(true);
  header->setContextMenuPolicy(Qt::CustomContextMenu);
  header->setSortIndicator(EventTableModel::columnOf(EventColumn::kStart), Qt::AscendingOrder);
  table_->setSortingEnabled(true);
  connect(header, &QHeaderView::sortIndicatorChanged, this, [this] {
    order_before_.reset();
    look_ = Look::kFurther;
  });
  connect(header, &QHeaderView::sectionClicked, this, [this] { begins_at_top_ = BeginsAtTop::kYes; });  // when it has been sorted by the click
  connect(header, &QHeaderView::customContextMenuRequested, this, &EventsPanel::showHeaderMenu);
}

void EventsPanel::addActions() {
  auto* copy = new QAction(tr("Copy as TSV"), this);
  copy->setShortcut(QKeySequence::Copy);
  copy->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  connect(copy, &QAction::triggered, this, &EventsPanel::copySelection);
  table_->addAction(copy);

  auto* zoom = new QAction(this);  // same as a double-click
  zoom->setShortcuts({QKeySequence(Qt::Key_Return), QKeySequence(Qt::Key_Enter)});
  zoom->setShortcutContext(Qt::WidgetShortcut);
  connect(zoom, &QAction::triggered, this, [this] { activate(table_->currentIndex()); });
  table_->addAction(zoom);
}

// What is listed, in which order, and what is said about that.
void EventsPanel::connectList() {
  connect(filter_, &EventFilterBar::left, this, [this] {
    pages_->setCurrentWidget(table_);  // a message instead of it would be about the filter that was cleared
    table_->setFocus(Qt::ShortcutFocusReason);
  });
  connect(fold_, &QToolButton::toggled, this, [this](bool checked) { setFolding(checked ? Folding::kFamilies : Folding::kNone); });
  connect(nothing_, &QLabel::linkActivated, this, [this](const QString& link) { link == QStringLiteral("same") ? shown_.listAllTheSame() : shown_.listAll(); });
  connect(ordering_, &QLabel::linkActivated, this, [this](const QString& link) {
    order_failure_.clear();
    link == QStringLiteral("stop") ? model_->stopSorting() : model_->sortAgain();
    showOrdering();
  });
  leadToLoop();
  connect(&state_, &SelectionState::traceChanged, this, &EventsPanel::showRunColumn);
  connect(&state_, &SelectionState::traceChanged, this, [this](TraceChange change) {
    if (change != TraceChange::kOther) return;
    returnToOrder();
    look_ = Look::kFirst;
    loop_begin_.reset();
  });
  for (const auto changed : {&SelectionState::filterChanged, &SelectionState::shownRowChanged, &SelectionState::timeBindingChanged})
    connect(&state_, changed, this, [this] { look_ = Look::kFurther; });
  connect(&state_, &SelectionState::boundRangeChanged, this, [this] {
    if (state_.boundRange()) look_ = Look::kFurther;
  });
  shown_.waitFor(model_->sorting());
  model_->setOpenAt([this](EventRef listed) { return state_.openAt(inTrace(listed)); });
  connect(&state_, &SelectionState::openEventsChanged, this, [this] {
    if (model_->events() && model_->events()->values.has_open()) table_->viewport()->update();
  });
  connect(&shown_, &ShownEvents::choiceChanged, this, &EventsPanel::followChoice);
  patience_.setObjectName(QStringLiteral("events-patience"));
  patience_.setSingleShot(true);
  patience_.setInterval(kPatience);
  connect(&patience_, &QTimer::timeout, this, [this] {
    if (!isOfChoice()) count_->setText(tr("finding events…"));
  });
  connect(&shown_, &ShownEvents::changed, this, [this](TraceChange change) {
    if (change == TraceChange::kOther) begins_at_top_ = BeginsAtTop::kYes;
    order_failure_.clear();
    ordered_ = 0;
    followChoice();
    model_->setEvents(shown_.list());
    if (!shown_.list()) showCount();
    showOrdering();
  });
  connect(model_, &EventTableModel::progressed, this, [this](double share) {
    ordered_ = share;
    order_failure_.clear();
    showOrdering();
  });
  connect(model_, &EventTableModel::failed, this, [this](const QString& sentence) {
    order_failure_ = sentence;
    showOrdering();
  });
  model_->setSought([this] { return eventsOfPlace(); });
  connect(model_, &QAbstractItemModel::modelAboutToBeReset, this, &EventsPanel::keepPlace);
  connect(model_, &EventTableModel::orderChanged, this, [this] {
    showCount();
    showOrdering();
    returnToPlace();
    if (!keepsFamily()) followSelection(ScrollTo::kNothing);
    if (begins_at_top_ == BeginsAtTop::kYes) table_->scrollToTop();
    if (model_->isWhole()) begins_at_top_ = BeginsAtTop::kNo;
    showLoop();
  });
}

// The current row is the selection of all views, and the row under the cursor is what they mark.
void EventsPanel::connectTable() {
  connect(&state_, &SelectionState::selectedEventChanged, this, [this] { followSelection(ScrollTo::kSelected); });
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
    const EventRef event = model_->event(current.row());
    const EventFold* fold = model_->foldAt(current.row());
    if (current.isValid()) current_family_ = fold ? std::optional(std::pair(fold->kind, fold->family)) : std::nullopt;
    if (!current.isValid() || !event.valid()) return;
    look_ = Look::kFurther;
    const QScopedValueRollback choosing(is_choosing_, true);
    state_.setSelectedEvent(inTrace(event));
  });
  connect(table_->verticalScrollBar(), &QAbstractSlider::actionTriggered, this, [this] { look_ = Look::kFurther; });  // by the user
  connect(table_, &QTableView::doubleClicked, this, &EventsPanel::activate);
  connect(table_, &QTableView::clicked, this, [this](const QModelIndex& index) {
    const EventFold* fold = model_->foldAt(index.row());
    const int at = pressed_at_.x() - table_->visualRect(index).left();
    const bool is_on_sign =
        EventTableModel::eventColumn(index.column()) == EventColumn::kName && at >= 0 && at < 2 * table_->fontMetrics().averageCharWidth() + kCellMargin;
    if (is_on_sign && fold != nullptr && EventTableModel::canOpen(*fold)) activate(index);
  });
  connect(table_, &QTableView::entered, this, [this](const QModelIndex& index) { state_.setHoveredEvent(inTrace(model_->event(index.row()))); });
  connect(&state_, &SelectionState::hoveredEventChanged, this, [this](EventRef event) {
    model_->setHovered(inList(event));
    table_->viewport()->update();
  });
  connect(table_, &QTableView::customContextMenuRequested, this, &EventsPanel::showRowMenu);
}

void EventsPanel::setLoopBegin(std::optional<Nanoseconds> time) {
  loop_begin_ = time;
  showLoop();
}

// The row of the first event of the loop; nothing if there is no loop, it begins with the list, or the list is in another order.
std::optional<int> EventsPanel::rowOfLoop() const {
  const QHeaderView* header = table_->horizontalHeader();
  const bool is_by_start =
      header->sortIndicatorSection() == EventTableModel::columnOf(EventColumn::kStart) && header->sortIndicatorOrder() == Qt::AscendingOrder;
  if (!loop_begin_ || !is_by_start || model_->folding() != Folding::kNone || model_->isStored() || !model_->events() || !model_->isWhole()) return std::nullopt;
  const Trace& trace = model_->events()->values.trace();
  const std::vector<EventRef>& events = model_->events()->events;
  const auto first =
      std::partition_point(events.begin(), events.end(), [&](EventRef event) { return trace.lane(event.lane).start(event.index) < *loop_begin_; });
  if (first == events.begin() || first == events.end()) return std::nullopt;
  return static_cast<int>(first - events.begin());
}

void EventsPanel::scrollToLoop() {
  const std::optional<int> row = rowOfLoop();
  if (!row) return;
  table_->doItemsLayout();  // the scroll bar may still have the range of the list before
  table_->scrollTo(model_->index(*row, EventTableModel::kNumberColumn), QAbstractItemView::PositionAtTop);
}

void EventsPanel::leadToLoop() {
  auto* loop = new QAction(tr("First event of the loop"), loop_);
  auto* first = new QAction(tr("First of all events"), loop_);
  auto* menu = new QMenu(loop_);
  menu->addActions({loop, first});
  loop_->setMenu(menu);
  connect(loop_, &QToolButton::clicked, loop, &QAction::trigger);
  connect(loop, &QAction::triggered, this, [this] {
    look_ = Look::kFurther;
    scrollToLoop();
  });
  connect(first, &QAction::triggered, this, [this] {
    look_ = Look::kFurther;
    table_->scrollToTop();
  });
}

// The events of a recording begin with calls that set everything up. Its list is first seen where the loop begins, as the timeline is.
void EventsPanel::showLoop() {
  const std::optional<int> row = rowOfLoop();
  loop_->setEnabled(row.has_value());
  loop_->setText(row ? tr("Loop: #%1").arg(*row + 1) : tr("Loop"));
  loop_->setToolTip(
      row ? tr("The loop begins with this event; %1 before it").arg(shown_text(timeline::format_counted(static_cast<std::uint64_t>(*row), "event")))
          : tr("Leads to the first event of the loop, where the list is by start and events come before the loop"));
  if (!row) return;
  if (look_ == Look::kFirst && !state_.selectedEvent().valid()) scrollToLoop();
}

// If the table is sorted by gap, the view includes the gap in front of the event.
void EventsPanel::zoomTo(EventRef listed) {
  const EventValues& values = model_->events()->values;
  const std::optional<std::int64_t> gap = values.number(listed, EventColumn::kGapBefore);
  const bool by_gap = table_->horizontalHeader()->sortIndicatorSection() == EventTableModel::columnOf(EventColumn::kGapBefore);
  if (!by_gap || gap.value_or(0) == 0) return state_.activate(inTrace(listed));
  const Event shown = values.trace().event(listed);
  const Nanoseconds room = (*gap + shown.duration) / 6;
  state_.activate(inTrace(listed), TimeRange{shown.start - *gap - room, shown.end() + room});
}

// While a recording grows, the list belongs to an earlier state of the trace.
EventRef EventsPanel::inTrace(EventRef listed) const { return model_->events() ? state_.inTrace(listed, model_->events()->values.trace()) : EventRef{}; }

EventRef EventsPanel::inList(EventRef event) const {
  return model_->events() && state_.trace() ? timeline::find_again(*state_.trace(), event, model_->events()->values.trace()) : EventRef{};
}

void EventsPanel::sortBy(EventColumn column, SortDirection direction) {
  const int section = EventTableModel::columnOf(column);
  QHeaderView* header = table_->horizontalHeader();
  const Order before = order_before_.value_or(Order{header->sortIndicatorSection(), header->sortIndicatorOrder()});
  header->setSectionHidden(section, false);
  begins_at_top_ = BeginsAtTop::kYes;
  table_->sortByColumn(section, direction == SortDirection::kAscending ? Qt::AscendingOrder : Qt::DescendingOrder);
  order_before_ = before;
}

void EventsPanel::returnToOrder() {
  if (const auto before = order_before_) table_->sortByColumn(before->section, before->direction);
}

QByteArray EventsPanel::headerState() const {
  QHeaderView* header = table_->horizontalHeader();
  if (!order_before_) return header->saveState();
  const QSignalBlocker unseen(header);
  const Order now{header->sortIndicatorSection(), header->sortIndicatorOrder()};
  header->setSortIndicator(order_before_->section, order_before_->direction);
  const QByteArray state = header->saveState();
  header->setSortIndicator(now.section, now.direction);
  return state;
}

int EventsPanel::columnCount() const { return table_->horizontalHeader()->count(); }

void EventsPanel::restoreHeaderState(const QByteArray& state, int columns) {
  QHeaderView* header = table_->horizontalHeader();
  if (!restore_header(*header, state)) return;
  const int run = EventTableModel::columnOf(EventColumn::kRun);
  if (columns <= run) placeRunColumn();  // the state is from a version without this column, which is last now
  header->setSectionHidden(run, !shows_runs_);
  leaveRunColumn();
  model_->sort(header->sortIndicatorSection(), header->sortIndicatorOrder());
}

// Places the column in front of the names, because columns behind them may be out of sight.
void EventsPanel::placeRunColumn() {
  QHeaderView* header = table_->horizontalHeader();
  const int run = EventTableModel::columnOf(EventColumn::kRun);
  header->moveSection(header->visualIndex(run), 1);
  header->resizeSection(run, table_->fontMetrics().horizontalAdvance(u'0') * kRunCharacters);
}

// The column is useless for a single trace. If the user hides it while several are shown, it stays hidden until one is. Names of files need more room than "A".
void EventsPanel::showRunColumn() {
  const bool shows = state_.trace() && state_.trace()->parts().size() > 1;
  if (std::exchange(shows_runs_, shows) == shows) return;
  const int run = EventTableModel::columnOf(EventColumn::kRun);
  const int characters = shows && !compares_runs(*state_.trace()) ? kFileCharacters : kRunCharacters;
  table_->horizontalHeader()->setSectionHidden(run, !shows);
  if (shows) table_->horizontalHeader()->resizeSection(run, table_->fontMetrics().horizontalAdvance(u'0') * characters);
  leaveRunColumn();
}

void EventsPanel::leaveRunColumn() {
  if (!shows_runs_ && table_->horizontalHeader()->sortIndicatorSection() == EventTableModel::columnOf(EventColumn::kRun))
    table_->sortByColumn(EventTableModel::columnOf(EventColumn::kStart), Qt::AscendingOrder);
}

// The events of the lines of the place, in their order.
EventTableModel::Sought EventsPanel::eventsOfPlace() const {
  if (begins_at_top_ == BeginsAtTop::kYes || !model_->events()) return {};
  EventTableModel::Sought sought{model_->events(), {}};
  const TablePlace place(*table_);
  for (const int line : place.lines()) sought.events.push_back(model_->event(line));
  return sought;
}

void EventsPanel::keepPlace() {
  left_.reset();
  if (begins_at_top_ == BeginsAtTop::kNo && model_->events()) left_.emplace(*table_);
}

// In a list of a later state of the trace.
void EventsPanel::returnToPlace() {
  const std::optional<TablePlace> left = std::exchange(left_, std::nullopt);
  if (!left || begins_at_top_ == BeginsAtTop::kYes || !model_->events()) return;
  std::vector<int> rows = model_->soughtRows();
  rows.resize(left->lines().size(), TablePlace::kGone);
  const QScopedValueRollback choosing(is_choosing_, true);
  left->restore(*table_, rows);
}

bool EventsPanel::keepsFamily() {
  const std::optional<int> row = current_family_ ? model_->rowOf(*current_family_) : std::nullopt;
  if (!row) return false;
  table_->setAutoScroll(false);
  table_->selectionModel()->setCurrentIndex(model_->index(*row, std::max(0, table_->currentIndex().column())),
                                            QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  table_->setAutoScroll(true);
  return true;
}

void EventsPanel::followSelection(ScrollTo scroll) {
  if (is_choosing_) return;  // the table is about to select what was clicked, possibly in addition to the selection
  const EventRef event = inList(state_.selectedEvent());
  QItemSelectionModel* selection = table_->selectionModel();
  if (event.valid() && selection->currentIndex().isValid() && model_->event(selection->currentIndex().row()) == event) {
    if (!selection->isRowSelected(selection->currentIndex().row()))
      selection->select(selection->currentIndex(), QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
    return;
  }
  const std::optional<int> row = event.valid() ? model_->rowOf(event) : std::nullopt;
  if (!row) {
    selection->clear();
    return;
  }
  const QModelIndex index = model_->index(*row, std::max(0, table_->currentIndex().column()));
  table_->setAutoScroll(scroll == ScrollTo::kSelected);
  selection->setCurrentIndex(index, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  table_->setAutoScroll(true);
  if (scroll == ScrollTo::kSelected) table_->scrollTo(index, QAbstractItemView::EnsureVisible);
}

void EventsPanel::setFolding(Folding folding) {
  fold_->setChecked(folding == Folding::kFamilies);
  begins_at_top_ = BeginsAtTop::kYes;
  order_failure_.clear();
  ordered_ = 0;
  if (folding == Folding::kFamilies) {  // this column has the number of events of each
    const QString most = QString::fromStdString(timeline::format_count(model_->count())) + QStringLiteral("00");
    QHeaderView* header = table_->horizontalHeader();
    header->resizeSection(EventTableModel::kNumberColumn,
                          std::max(header->sectionSize(EventTableModel::kNumberColumn), table_->fontMetrics().horizontalAdvance(most)));
  }
  model_->setFolding(folding);
  showCount();
  showOrdering();
}

void EventsPanel::activate(const QModelIndex& index) {
  if (const EventFold* fold = model_->foldAt(index.row())) {
    if (!EventTableModel::canOpen(*fold)) return listFamily(fold->kind, std::string(fold->family));
    return setFoldState(index.row(), model_->stateOf(*fold) == FoldState::kOpen ? FoldState::kClosed : FoldState::kOpen);
  }
  if (const EventRef event = model_->event(index.row()); event.valid()) zoomTo(event);
}

void EventsPanel::filterTo(EventKind kind, const std::string& family) {
  EventFilter filter = state_.filter();
  keep_family(filter, kind, family);
  state_.setFilter(filter);
}

void EventsPanel::listFamily(EventKind kind, const std::string& family) {
  setFolding(Folding::kNone);
  filterTo(kind, family);
}

// Makes the line of the family current first: if the current line disappeared, the table would choose another event.
void EventsPanel::setFoldState(int row, FoldState state) {
  table_->selectionModel()->setCurrentIndex(model_->index(row, std::max(0, table_->currentIndex().column())),
                                            QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  model_->setState(row, state);
}

// As in a tree: Right opens; Left closes, or moves from an event to its family.
bool EventsPanel::foldByKey(int key) {
  const int row = table_->currentIndex().row();
  const EventFold* fold = model_->foldAt(row);
  if (fold == nullptr && key == Qt::Key_Left) {
    const std::optional<int> of = model_->foldRowOf(row);
    if (of) table_->setCurrentIndex(model_->index(*of, table_->currentIndex().column()));
    return of.has_value();
  }
  if (fold == nullptr || !EventTableModel::canOpen(*fold) || (key != Qt::Key_Left && key != Qt::Key_Right)) return false;
  setFoldState(row, key == Qt::Key_Right ? FoldState::kOpen : FoldState::kClosed);
  return true;
}

bool EventsPanel::eventFilter(QObject* watched, QEvent* event) {
  if (watched == table_->viewport() && event->type() == QEvent::MouseButtonPress) pressed_at_ = static_cast<QMouseEvent*>(event)->position().toPoint();
  if (watched == table_ && event->type() == QEvent::KeyPress && static_cast<QKeyEvent*>(event)->modifiers() == Qt::NoModifier &&
      foldByKey(static_cast<QKeyEvent*>(event)->key()))
    return true;
  if (watched == table_->viewport() && event->type() == QEvent::Leave) state_.setHoveredEvent({});
  return QWidget::eventFilter(watched, event);
}

void EventsPanel::showOrdering() {
  QString text;
  if (model_->isStored() && model_->folding() == Folding::kFamilies) {
    if (model_->isWhole())
      text = tr("There are too many events to unfold families here: Enter lists the events of one.");
    else if (model_->isSorting())
      text = tr("Adding up the families: %1 %. <a href='stop'>Stop</a>").arg(static_cast<int>(ordered_ * 100));
    else
      text = tr("The families are not added up. <a href='again'>Add them up</a>");
  } else if (model_->isStored() && !model_->isWhole()) {
    const QString room = QString::fromStdString(timeline::format_bytes(StoredOrder::disk_bytes(shown_.list() ? shown_.list()->count() : 0)));
    if (!order_failure_.isEmpty())
      text = tr("%1 <a href='again'>Try again</a>").arg(order_failure_.toHtmlEscaped());
    else if (model_->isSorting())
      text = tr("Putting the events in order, in a file of up to %1: %2 %. <a href='stop'>Stop</a>").arg(room).arg(static_cast<int>(ordered_ * 100));
    else
      text = tr("The events are not in order. <a href='again'>Order them</a>, in a file of up to %1").arg(room);
  }
  ordering_->setText(text);
  ordering_->setVisible(!text.isEmpty());
}

bool EventsPanel::isOfChoice() const {
  const std::shared_ptr<const Trace>& trace = state_.trace();
  return !trace || trace->provenance().outline_only || shown_.areTooMany() || (shown_.list() && shown_.list()->choice == shown_.choice());
}

// Other events are not counted for long as if they were those that are chosen now.
void EventsPanel::followChoice() {
  if (isOfChoice())
    patience_.stop();
  else if (!patience_.isActive())
    patience_.start();
}

void EventsPanel::showCount() {
  const std::uint64_t count = model_->count();
  const QString counted = shown_text(timeline::format_counted(count, "event"));
  if (shown_.areTooMany())
    count_->setText(tr("more than %1").arg(shown_text(timeline::format_counted(most_listed(*state_.trace()), "event"))));
  else if (model_->folds() && model_->isWhole())
    count_->setText(tr("%1 of %2").arg(shown_text(families_text(model_->folds()->size())), counted));
  else
    count_->setText(model_->isStored() && !model_->isWhole() ? tr("up to %1").arg(counted) : counted);
  nothing_->setText(count == 0 ? whyNothing() : QString());
  pages_->setCurrentWidget(nothing_->text().isEmpty() ? static_cast<QWidget*>(table_) : nothing_);
}

// Empty if events are listed or are being gathered.
QString EventsPanel::whyNothing() const {
  const std::shared_ptr<const Trace>& trace = state_.trace();
  if (!trace) return tr("Open a trace to list its events.");
  if (trace->provenance().outline_only) return tr("Only the outline of the trace is loaded so far.");
  if (shown_.areTooMany()) {
    const QString room = QString::fromStdString(timeline::format_bytes(StoredOrder::disk_bytes(trace->event_count())));
    return shown_.whyTooMany() + QStringLiteral("<br>") +
           (model_->folding() == Folding::kFamilies ? tr("<a href='same'>Add up the families of all</a>")
                                                    : tr("<a href='same'>List them all the same</a>, in a file of up to %1").arg(room));
  }
  if (!model_->events() || !model_->isWhole() || model_->rowCount() > 0) return {};
  return shown_.whyNone();
}

bool EventsPanel::showsFamilies() const { return model_->folding() == Folding::kFamilies; }

}  // namespace lanescope::ui
