// Asks for files to open.
#pragma once

#include <QFileDialog>
#include <QStringList>

namespace lanescope::ui {

// Empty if the user chose none. Where the dialog is Qt's own, its columns are as wide as their content, and the names have the rest.
[[nodiscard]] QStringList choose_files(QWidget* parent, const QString& title, const QString& folder, const QString& filters, QFileDialog::FileMode mode);

}  // namespace lanescope::ui
