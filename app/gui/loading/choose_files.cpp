#include "loading/choose_files.h"

#include <QHeaderView>
#include <QTreeView>

namespace lanescope::ui {
namespace {

constexpr QSize kInitialSize(760, 460);  // px, so that a name with 30 letters fits beside size, kind and date

void fit_columns(QTreeView& files) {
  QHeaderView* header = files.header();
  for (int column = 1; column < header->count(); ++column) header->setSectionResizeMode(column, QHeaderView::ResizeToContents);
  header->setSectionResizeMode(0, QHeaderView::Stretch);
}

}  // namespace

QStringList choose_files(QWidget* parent, const QString& title, const QString& folder, const QString& filters, QFileDialog::FileMode mode) {
  QFileDialog dialog(parent, title, folder, filters);
  dialog.setFileMode(mode);
  if (auto* files = dialog.findChild<QTreeView*>(QStringLiteral("treeView"))) {  // of Qt's own dialog; that of a desktop has none
    fit_columns(*files);
    dialog.resize(dialog.size().expandedTo(kInitialSize));
  }
  return dialog.exec() == QDialog::Accepted ? dialog.selectedFiles() : QStringList();
}

}  // namespace lanescope::ui
