#include "base/input/offered_entries.h"

#include <algorithm>

namespace lanescope::ui {

void offer_entries(QComboBox& list, const OfferedEntries& entries) {
  const int offered = std::min(list.count(), static_cast<int>(entries.size()));
  int same = 0;
  while (same < offered && list.itemText(same) == entries[static_cast<std::size_t>(same)].first &&
         list.itemData(same) == entries[static_cast<std::size_t>(same)].second)
    ++same;
  while (list.count() > same) list.removeItem(list.count() - 1);
  for (std::size_t i = static_cast<std::size_t>(same); i < entries.size(); ++i) list.addItem(entries[i].first, entries[i].second);
}

}  // namespace lanescope::ui
