#include "window/docks/panel_memory.h"

#include <QHeaderView>
#include <QSplitter>

#include "tables/result_table.h"
#include "tables/table_look.h"

namespace lanescope::ui {
namespace {

// The parts of this type that have a name.
template <typename Part>
QList<Part*> named(const QWidget& window) {
  QList<Part*> parts = window.findChildren<Part*>();
  parts.removeIf([](const Part* part) { return part->objectName().isEmpty(); });
  return parts;
}

// A header is stored with the number of its columns. In a version with another number, the same place may be another column, so nothing is restored there.
QVariant arrangement_of(const QHeaderView& header) { return QVariantList{header.count(), header.saveState()}; }

void arrange(QHeaderView& header, const QVariantList& arrangement) {
  if (arrangement.size() == 2 && arrangement[0].toInt() == header.count()) static_cast<void>(restore_header(header, arrangement[1].toByteArray()));
}

}  // namespace

void restore_panels(const QWidget& window, const Settings& settings) {
  for (QSplitter* splitter : named<QSplitter>(window)) splitter->restoreState(settings.panelPart(splitter->objectName()).toByteArray());
  for (QHeaderView* header : named<QHeaderView>(window)) arrange(*header, settings.panelPart(header->objectName()).toList());
  for (ResultTable* table : named<ResultTable>(window)) table->setChosenWidths(settings.panelPart(table->objectName()).toMap());
}

void keep_panels(const QWidget& window, Settings& settings) {
  for (const QSplitter* splitter : named<QSplitter>(window)) settings.setPanelPart(splitter->objectName(), splitter->saveState());
  for (const QHeaderView* header : named<QHeaderView>(window)) settings.setPanelPart(header->objectName(), arrangement_of(*header));
  for (const ResultTable* table : named<ResultTable>(window)) settings.setPanelPart(table->objectName(), table->chosenWidths());
}

}  // namespace lanescope::ui
