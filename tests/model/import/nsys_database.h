// Writes exports of Nsight Systems by hand.
#pragma once

#include <sqlite3.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace lanescope::test {

// Runs these statements on a new database at this path.
inline void write_database(const std::filesystem::path& path, const std::string& statements) {
  sqlite3* database = nullptr;
  sqlite3_open(path.c_str(), &database);
  char* message = nullptr;
  sqlite3_exec(database, statements.c_str(), nullptr, nullptr, &message);
  const std::string failure = message ? message : "";
  sqlite3_free(message);
  sqlite3_close(database);
  if (!failure.empty()) throw std::runtime_error(failure);
}

// globalTid as Nsight Systems packs it: virtual machine 1, then the process, then the thread.
inline std::string global_id(std::int64_t pid, std::int64_t tid = 0) { return std::to_string((std::int64_t{1} << 48) | pid << 24 | tid); }

}  // namespace lanescope::test
