// A folder of Parquet files, one a table. Internal to model/export.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "model/file/result.h"
#include "model/file/trace_file.h"
#include "table_file.h"

namespace lanescope::exporters {

using Metadata = std::vector<std::pair<std::string, std::string>>;

// Each file takes its place when it is whole. Where an export fails, what it made goes.
class TableFolder {
 public:
  TableFolder(std::filesystem::path folder, Overwrite overwrite) : folder_(std::move(folder)), overwrite_(overwrite) {}

  // Makes the folder where there is none; with Overwrite::kRefuse, one that holds anything is refused.
  Result<void> make();

  struct Table {
    std::string_view name;
    std::vector<ColumnSchema> columns;
    std::size_t rows_a_group = std::size_t{1} << 18;
    TableFile::TextOf text_of;
    Metadata metadata;
    std::optional<std::size_t> sorted_by;  // a column
  };
  // fill(file) appends the rows.
  Result<void> write(Table table, const std::function<Result<void>(TableFile& file)>& fill);

  // A table of an earlier export that this trace does not have.
  void remove(std::string_view name);

  // Takes back what was made; returns the error.
  Error give_up(Error error);

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return folder_; }

 private:
  [[nodiscard]] std::filesystem::path file_of(std::string_view name) const { return folder_ / (std::string(name) + ".parquet"); }

  std::filesystem::path folder_;
  Overwrite overwrite_;
  std::vector<std::filesystem::path> made_;
  bool made_folder_ = false;
};

}  // namespace lanescope::exporters
