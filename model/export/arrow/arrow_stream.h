// Writes tables as streams of Arrow's interprocess format
// (https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc). Internal to model/export.
#pragma once

#include <functional>
#include <string_view>

#include "../tables/table_target.h"
#include "model/export/text_export.h"

namespace lanescope::exporters {

// Writes a stream for each table: its schema, record batches, and the end marker. Memory: 8 bytes for each value of one batch, and its texts.
class ArrowStreams : public TableTarget {
 public:
  explicit ArrowStreams(const TextConsumer& write) : write_(write) {}
  Result<void> write(TableDescription table, const std::function<Result<void>(TableRows& rows)>& fill) override;
  void leave_out(std::string_view) override {}

 private:
  const TextConsumer& write_;
};

}  // namespace lanescope::exporters
