// What a list offers, where that grows with a trace.
#pragma once

#include <utility>
#include <vector>

#include <QComboBox>
#include <QString>
#include <QVariant>

namespace lanescope::ui {

using OfferedEntries = std::vector<std::pair<QString, QVariant>>;  // what is read, and what it stands for

// The list has these entries. Those that it has in the same place already stay, so that who chooses from it just now is not disturbed.
void offer_entries(QComboBox& list, const OfferedEntries& entries);

}  // namespace lanescope::ui
