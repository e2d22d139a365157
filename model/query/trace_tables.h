// The tables of a trace as virtual tables of SQLite. Internal to model/query.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "event_rows.h"

namespace lanescope::query {

inline constexpr std::string_view kCountersTable = "counters";

// One table: of events, or of counters if `events` is null.
struct TableModule {
  RowSource* source = nullptr;
  const EventTable* events = nullptr;
  std::string_view name;
  std::string declaration;  // CREATE TABLE, with the unit of each column after its type
};

// Words after a column's type: the meaning of a number.
inline constexpr std::string_view kTimeWord = "NS";
inline constexpr std::string_view kIdentifierWord = "ID";

// Registers all tables with a connection. The modules must outlive the connection. Returns SQLite's result code.
int add_tables(sqlite3* database, const std::vector<std::unique_ptr<TableModule>>& modules);
[[nodiscard]] std::vector<std::unique_ptr<TableModule>> table_modules(RowSource& source);

// The columns of a table, in order.
[[nodiscard]] std::vector<std::string_view> columns_of(const EventTable* events);

}  // namespace lanescope::query
