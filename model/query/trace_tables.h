// The tables of a trace as virtual tables of SQLite. Internal to model/query.
#pragma once

#include <sqlite3.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "event_rows.h"

namespace lanescope::query {

// Iterates over the rows of one table.
class RowCursor {
 public:
  virtual ~RowCursor() = default;
  virtual bool next() = 0;  // false if there is no further row
  // The rest requires that the last next() returned true.
  virtual void give_own(sqlite3_context* context, int column) = 0;
  [[nodiscard]] virtual exporters::RowOrigin origin() const = 0;
  [[nodiscard]] virtual sqlite3_int64 number() const = 0;
};

// One table. Its last columns are those of exporters::provenance_columns().
struct TableModule {
  RowSource* source = nullptr;
  std::string_view name;
  std::vector<std::string_view> columns;
  std::string declaration;        // CREATE TABLE, with the unit of each column after its type
  enum class Seek { kNo, kYes };  // kNo: it must be read from its beginning
  enum class Order { kNone, kStart };
  Seek seek = Seek::kYes;
  Order order = Order::kStart;
  std::function<double(const Trace& trace)> most_rows;
  std::function<std::unique_ptr<RowCursor>(const RowChoice& choice)> open;
};

// The columns of a table whose own columns are these.
template <typename Row>
[[nodiscard]] std::vector<std::string_view> columns_of(std::span<const exporters::ColumnSource<Row>> own) {
  std::vector<std::string_view> columns;
  for (const auto& column : own) columns.push_back(column.name);
  for (const exporters::ProvenanceColumn& column : exporters::provenance_columns()) columns.push_back(column.name);
  return columns;
}

// Words after a column's type: the meaning of a number.
inline constexpr std::string_view kTimeWord = "NS";
inline constexpr std::string_view kIdentifierWord = "ID";

// Registers all tables with a connection. The modules must outlive the connection. Returns SQLite's result code.
int add_tables(sqlite3* database, const std::vector<std::unique_ptr<TableModule>>& modules);
[[nodiscard]] std::vector<std::unique_ptr<TableModule>> table_modules(RowSource& source);

}  // namespace lanescope::query
