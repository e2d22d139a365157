// The destination of tables: rows of flat columns, in any format. Internal to model/export.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/file/result.h"

namespace lanescope::exporters {

enum class ColumnType : std::uint8_t { kInt64, kUint64, kDouble, kBool, kText };
enum class Nullable : std::uint8_t { kNo, kYes };

struct ColumnSchema {
  std::string name;
  ColumnType type = ColumnType::kInt64;
  Nullable nullable = Nullable::kNo;
};

// A value as 64 bits: the bits of a double, or for a text a number that text_of() accepts. Without a value: null.
using Cell = std::optional<std::int64_t>;

using Metadata = std::vector<std::pair<std::string, std::string>>;

struct TableDescription {
  std::string_view name;
  std::vector<ColumnSchema> columns;
  std::size_t rows_a_group = std::size_t{1} << 18;  // written together, at most; > 0 and < 2^31. Bounds memory
  // The text of a cell; called once in a group for each distinct cell of a column.
  std::function<std::string(std::size_t column, std::int64_t cell)> text_of;
  Metadata metadata;
  std::optional<std::size_t> sorted_by;  // a column, ascending
};

class TableRows {
 public:
  virtual ~TableRows() = default;
  // Requires: as many cells as columns, and nulls in nullable columns only. A write error ends the table, not the call.
  virtual void append(std::span<const Cell> row) = 0;
  [[nodiscard]] virtual std::uint64_t rows() const noexcept = 0;  // so far
};

class TableTarget {
 public:
  virtual ~TableTarget() = default;
  // fill(rows) appends the rows.
  virtual Result<void> write(TableDescription table, const std::function<Result<void>(TableRows& rows)>& fill) = 0;
  // Reports a table that is not written.
  virtual void leave_out(std::string_view name) = 0;
};

}  // namespace lanescope::exporters
