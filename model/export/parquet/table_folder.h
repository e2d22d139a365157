// A folder of Parquet files, one for each table. Internal to model/export.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "../tables/table_target.h"
#include "model/file/new_file.h"
#include "model/file/result.h"

namespace lanescope::exporters {

// The files take their places when all are complete. If an export fails, the folder is unchanged.
class TableFolder : public TableTarget {
 public:
  TableFolder(std::filesystem::path folder, Overwrite overwrite) : folder_(std::move(folder)), overwrite_(overwrite) {}

  // Creates the folder if necessary. With Overwrite::kRefuse, a folder that is not empty is refused.
  Result<void> make();

  Result<void> write(TableDescription table, const std::function<Result<void>(TableRows& rows)>& fill) override;
  void leave_out(std::string_view name) override { left_out_.emplace_back(name); }

  // Call it after everything was written: the tables take their places, and left-out tables of an earlier export are removed.
  Result<void> finish();

  // Removes what was created; returns the error.
  Error give_up(Error error);

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return folder_; }

 private:
  [[nodiscard]] std::filesystem::path file_of(std::string_view name) const { return folder_ / (std::string(name) + ".parquet"); }

  std::filesystem::path folder_;
  Overwrite overwrite_;
  std::vector<NewFile> made_;
  std::vector<std::string> left_out_;
  bool made_folder_ = false;
};

}  // namespace lanescope::exporters
