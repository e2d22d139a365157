#include "window/window_actions.h"

#include <QActionGroup>
#include <QMenuBar>
#include <QToolButton>

#include "base/text/texts.h"
#include "timeline/widget/shown_text.h"
#include "window/look/glyphs.h"
#include "window/timeline/event_search.h"

namespace lanescope::ui {
namespace {

// An action whose key works anywhere in the window.
QAction* add(QMenu* menu, const char* text, const QKeySequence& key = {}) {
  QAction* action = menu->addAction(tr(text));
  action->setObjectName(QString::fromUtf8(text).remove(u'&').remove(u'…'));  // its keys are stored under this name
  if (!key.isEmpty()) action->setShortcut(key);
  return action;
}

void add_file_menu(QMainWindow& window, WindowActions& actions) {
  QMenu* menu = window.menuBar()->addMenu(tr("&File"));
  actions.new_window = add(menu, "&New window", QKeySequence::New);
  actions.open = add(menu, "&Open…", QKeySequence::Open);
  actions.open_recent = menu->addMenu(tr("Open &recent"));
  actions.compare = add(menu, "Open &beside and compare…", QKeySequence(Qt::CTRL | Qt::Key_D));
  actions.open_fleet = add(menu, "Open &fleet…");
  actions.reload = add(menu, "Reloa&d", QKeySequence(Qt::Key_F5));
  menu->addSeparator();
  actions.launch = add(menu, "&Launch and record…", QKeySequence(Qt::CTRL | Qt::Key_L));
  actions.attach = add(menu, "&Attach to a process…", QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_L));
  menu->addSeparator();
  actions.save_as = add(menu, "&Save as…", QKeySequence::Save);
  actions.export_csv = add(menu, "&Export events as CSV…", QKeySequence(Qt::CTRL | Qt::Key_E));
  actions.save_picture = add(menu, "Save the &picture of the timeline…");
  menu->addSeparator();
  actions.close_window = add(menu, "&Close the window", QKeySequence::Close);
  actions.quit = add(menu, "&Quit", QKeySequence::Quit);
}

void add_edit_menu(QMainWindow& window, WindowActions& actions) {
  QMenu* menu = window.menuBar()->addMenu(tr("&Edit"));
  actions.undo = add(menu, "&Undo", QKeySequence(Qt::CTRL | Qt::Key_Z));
  actions.redo = add(menu, "Re&do", QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Z));
  menu->addSeparator();
  actions.copy_details = add(menu, "&Copy details of the event", QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C));
  actions.copy_picture = add(menu, "Copy the p&icture of the timeline", QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_P));
  menu->addSeparator();
  actions.find = add(menu, "&Find event", QKeySequence::Find);
  actions.find_next = add(menu, "Find &next", QKeySequence(Qt::Key_F3));
  actions.find_previous = add(menu, "Find &previous", QKeySequence(Qt::SHIFT | Qt::Key_F3));
  menu->addSeparator();
  actions.filter_rows = add(menu, "Filter &rows", QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_R));
  actions.filter_events = add(menu, "Filter &events", QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_F));
  menu->addSeparator();
  actions.clear_selection = add_with_timeline_key(menu, tr("Clear &selection"), QStringLiteral("Esc"));
}

void add_view_menu(QMainWindow& window, WindowActions& actions) {
  QMenu* menu = window.menuBar()->addMenu(tr("&View"));
  actions.back = add(menu, "&Back", QKeySequence(Qt::ALT | Qt::Key_Left));
  actions.forward = add(menu, "&Forward", QKeySequence(Qt::ALT | Qt::Key_Right));
  menu->addSeparator();
  actions.zoom_in = add(menu, "Zoom &in", QKeySequence::ZoomIn);
  actions.zoom_out = add(menu, "Zoom &out", QKeySequence::ZoomOut);
  // In the whole window, so that an event that was chosen in a list can be zoomed to from there. A field with the focus keeps the key.
  actions.zoom_to_selection = add(menu, "Zoom to &selection", QKeySequence(Qt::SHIFT | Qt::Key_Z));
  actions.fit = add_with_timeline_key(menu, tr("Fit &everything"), QStringLiteral("Home"));
  actions.show_loop = add_with_timeline_key(menu, tr("S&how the loop"), QStringLiteral("Shift+Home"));
  actions.go_to_time = add(menu, "&Go to a time…", QKeySequence(Qt::CTRL | Qt::Key_G));
  menu->addSeparator();
  actions.mark = add(menu, "&Mark with a name…", QKeySequence(Qt::CTRL | Qt::Key_M));
  menu->addSeparator();
  actions.follow_live = add(menu, "Follow the &recording");
  actions.follow_live->setCheckable(true);
  menu->addSeparator();
  actions.other_side = add(menu, "To the pane&l, and back to the timeline", QKeySequence(Qt::Key_F6));
  actions.panels = menu->addMenu(tr("&Panels"));
  actions.reset_layout = add(menu, "Reset la&yout");
  actions.language = menu->addMenu(tr("Lang&uage"));
  QMenu* wheel = menu->addMenu(tr("Mouse &wheel"));
  auto* uses = new QActionGroup(&window);
  actions.wheel_zooms = uses->addAction(add(wheel, "&Zooms"));
  actions.wheel_scrolls = uses->addAction(add(wheel, "&Scrolls the rows; with Ctrl it zooms"));
  for (QAction* use : uses->actions()) use->setCheckable(true);
  actions.editor = add(menu, "E&ditor…");
  actions.memory = add(menu, "Memory for eve&nts…");
  QMenu* themes = menu->addMenu(tr("&Theme"));
  auto* group = new QActionGroup(&window);
  actions.theme_system = group->addAction(add(themes, "&As the desktop"));
  actions.theme_light = group->addAction(add(themes, "&Light"));
  actions.theme_dark = group->addAction(add(themes, "&Dark"));
  for (QAction* theme : group->actions()) theme->setCheckable(true);
}

void add_timeline_menus(QMainWindow& window, WindowActions& actions) {
  actions.navigate = window.menuBar()->addMenu(tr("&Navigate"));
  actions.rows = window.menuBar()->addMenu(tr("R&ows"));
}

void add_work_menus(QMainWindow& window, WindowActions& actions) {
  QMenu* record = window.menuBar()->addMenu(tr("&Record"));
  record->addActions({actions.launch, actions.attach});
  actions.record_elsewhere = add(record, "On another &machine…", QKeySequence(Qt::CTRL | Qt::ALT | Qt::Key_L));
  record->addSeparator();
  actions.stop = add(record, "&Stop", QKeySequence(Qt::CTRL | Qt::Key_Period));
  record->addSeparator();
  actions.output = add(record, "What the &program prints");
  QMenu* analyze = window.menuBar()->addMenu(tr("&Analyze"));
  actions.longest_gaps = add(analyze, "Longest &gaps on the GPU", QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_G));
  actions.bubbles = add(analyze, "&Bubbles: idle time and its causes", QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_B));
  actions.findings = add(analyze, "&Findings: what costs time", QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_A));
  actions.rules = analyze->addMenu(tr("&Rules"));
  actions.rules->setToolTipsVisible(true);
  analyze->addSeparator();
  actions.statistics = add(analyze, "&Statistics", QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_S));
  actions.reports = analyze->addMenu(tr("R&eports"));
  actions.reports->setToolTipsVisible(true);
  actions.query = add(analyze, "&Query in SQL", QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Q));
  actions.notes = add(analyze, "&Notes on the trace", QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_M));
  analyze->addSeparator();
  actions.diagnostics = add(analyze, "&Diagnostics", QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_D));
  QMenu* help = window.menuBar()->addMenu(tr("&Help"));
  actions.keys = add(help, "&Keyboard and mouse");
  actions.keys->setShortcuts({QKeySequence(Qt::Key_Question), QKeySequence(Qt::Key_F1)});
  actions.change_keys = add(help, "&Change keys…");
  actions.about = add(help, "&About Lanescope");
}

void add_toolbar(QMainWindow& window, EventSearch& search, WindowActions& actions) {
  actions.toolbar = window.addToolBar(tr("Toolbar"));
  actions.toolbar->setObjectName(QStringLiteral("toolbar"));
  actions.toolbar->setMovable(false);
  actions.toolbar->setIconSize({16, 16});
  actions.toolbar->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  actions.launch->setIconText(tr("Launch…"));
  actions.stop->setIconText(tr("Stop"));
  actions.attach->setIconText(tr("Attach…"));
  actions.toolbar->addActions({actions.launch, actions.attach, actions.stop});
  actions.toolbar->addSeparator();
  for (QAction* action : {actions.back, actions.forward, actions.fit, actions.show_loop}) {
    actions.toolbar->addAction(action);
    if (auto* button = qobject_cast<QToolButton*>(actions.toolbar->widgetForAction(action))) button->setToolButtonStyle(Qt::ToolButtonIconOnly);
  }
  actions.toolbar->addSeparator();
  actions.row_filter = new QLineEdit(&window);
  actions.row_filter->setPlaceholderText(tr("Filter rows"));
  actions.row_filter->setAccessibleName(tr("Filter rows"));
  actions.row_filter->setClearButtonEnabled(true);
  actions.row_filter->setMaximumWidth(actions.row_filter->fontMetrics().averageCharWidth() * 26);
  actions.toolbar->addWidget(actions.row_filter);
  actions.toolbar->addSeparator();
  search.setMaximumWidth(search.fontMetrics().averageCharWidth() * 52);
  actions.toolbar->addWidget(&search);
}

}  // namespace

QAction* add_with_timeline_key(QMenu* menu, const QString& text, const QString& key) {
  QAction* action = menu->addAction(key.isEmpty() ? text : text + u'\t' + key);
  action->setIconText(without_mnemonic(text));
  if (!key.isEmpty()) action->setToolTip(QStringLiteral("%1 (%2)").arg(action->iconText(), key));
  return action;
}

WindowActions add_actions(QMainWindow& window, EventSearch& search) {
  WindowActions actions{};
  add_file_menu(window, actions);
  add_edit_menu(window, actions);
  add_view_menu(window, actions);
  add_timeline_menus(window, actions);
  add_work_menus(window, actions);
  add_toolbar(window, search, actions);
  paint_icons(actions, window.palette());
  return actions;
}

void paint_icons(WindowActions& actions, const QPalette& palette) {
  actions.launch->setIcon(glyph_icon(Glyph::kRecord, palette));
  actions.attach->setIcon(glyph_icon(Glyph::kAttach, palette));
  actions.stop->setIcon(glyph_icon(Glyph::kStop, palette));
  actions.back->setIcon(glyph_icon(Glyph::kBack, palette));
  actions.forward->setIcon(glyph_icon(Glyph::kForward, palette));
  actions.fit->setIcon(glyph_icon(Glyph::kFit, palette));
  actions.show_loop->setIcon(glyph_icon(Glyph::kLoop, palette));
}

std::vector<std::pair<QString, QString>> shortcuts(const QMainWindow& window) {
  std::vector<std::pair<QString, QString>> entries;
  for (const QAction* menu : window.menuBar()->actions()) {
    if (!menu->menu()) continue;
    for (const QAction* action : menu->menu()->actions()) {
      if (action->shortcut().isEmpty()) continue;
      const std::pair<QString, QString> entry(action->shortcut().toString(QKeySequence::NativeText), without_mnemonic(action->text()).remove(u'…'));
      if (std::find(entries.begin(), entries.end(), entry) == entries.end()) entries.push_back(entry);
    }
  }
  return entries;
}

}  // namespace lanescope::ui
