// Fills combo boxes whose entries change while a trace grows.
#pragma once

#include <utility>
#include <vector>

#include <QComboBox>
#include <QString>
#include <QVariant>

namespace lanescope::ui {

using OfferedEntries = std::vector<std::pair<QString, QVariant>>;  // the text, and the value that it stands for

// Gives the list these entries. Entries that are unchanged at their place are not touched, so that a user who is choosing is not disturbed.
void offer_entries(QComboBox& list, const OfferedEntries& entries);

}  // namespace lanescope::ui
