// The menus and the toolbar of the main window. Actions that timelines handle themselves only show their key.
#pragma once

#include <QAction>
#include <QLineEdit>
#include <QMainWindow>
#include <QMenu>
#include <QToolBar>

namespace lanescope::ui {

class EventSearch;

struct WindowActions {
  QAction* new_window;
  QAction* open;
  QMenu* open_recent;
  QAction* compare;
  QAction* open_fleet;
  QAction* launch;
  QAction* attach;
  QAction* record_elsewhere;
  QAction* reload;
  QAction* save_as;
  QAction* export_csv;
  QAction* save_picture;
  QAction* close_window;
  QAction* quit;
  QAction* undo;
  QAction* redo;
  QAction* copy_details;
  QAction* copy_picture;
  QAction* find;
  QAction* find_next;
  QAction* find_previous;
  QAction* filter_rows;
  QAction* filter_events;
  QAction* clear_selection;
  QAction* back;
  QAction* forward;
  QAction* zoom_in;
  QAction* zoom_out;
  QAction* zoom_to_selection;
  QAction* fit;
  QAction* show_loop;
  QAction* go_to_time;
  QAction* mark;
  QMenu* navigate;  // filled by the window with commands of timelines
  QMenu* rows;      // the same
  QAction* follow_live;
  QAction* other_side;
  QMenu* panels;
  QAction* reset_layout;
  QMenu* language;
  QAction* wheel_zooms;
  QAction* wheel_scrolls;
  QAction* editor;
  QAction* memory;
  QAction* theme_system;
  QAction* theme_light;
  QAction* theme_dark;
  QAction* stop;
  QAction* output;
  QAction* longest_gaps;
  QAction* bubbles;
  QAction* findings;
  QMenu* rules;    // filled by the window
  QMenu* reports;  // filled by the window
  QAction* statistics;
  QAction* query;
  QAction* notes;
  QAction* diagnostics;
  QAction* keys;
  QAction* change_keys;
  QAction* about;
  QToolBar* toolbar;
  QLineEdit* row_filter;
};

// Adds a menu entry that shows a key of the timeline but leaves the key to the timeline; '&' marks the mnemonic.
QAction* add_with_timeline_key(QMenu* menu, const QString& text, const QString& key);

// Fills the window's menu bar and adds a toolbar with the row filter and the search box. The window owns everything.
[[nodiscard]] WindowActions add_actions(QMainWindow& window, EventSearch& search);

// Draws the icons in the colours of the palette.
void paint_icons(WindowActions& actions, const QPalette& palette);

// All actions with a shortcut, for KeysDialog.
[[nodiscard]] std::vector<std::pair<QString, QString>> shortcuts(const QMainWindow& window);

}  // namespace lanescope::ui
