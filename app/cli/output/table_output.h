// Where and how `stats` and `analyze` write their tables.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "model/file/result.h"
#include "model/stats/format.h"
#include "model/trace/trace.h"
#include "output_file.h"

namespace lanescope::cli {

// What surrounds a table: its title and the request for it.
struct TableHeading {
  std::string title;    // "CUDA GPU Kernel Summary"
  std::string request;  // "cuda_gpu_kern_sum:base"
  std::string advice;   // printed in front of the table for people; may be empty
};

class TableOutput {
 public:
  // Adds -f, -o, -q, --timeunit, --force-overwrite and --help-formats to the command.
  void add_options(CLI::App& app);
  // Checks the options, and that output files can be made. The first of the inputs determines the default name of output files; none of the inputs is ever
  // overwritten. Requires: at least one input.
  Result<void> prepare(std::span<const std::filesystem::path> inputs);

  // Text for the terminal goes to this stream instead, as it is. The stream must outlive *this. Its owner checks whether everything was written.
  void print_to(std::ostream& console) { console_ = &console; }

  // Adds a trace from which tables are made. If events of it can no longer be read, a table made from it is not written, and write() fails.
  void set_source(std::shared_ptr<const Trace> trace) { sources_.push_back(std::move(trace)); }
  // Further tables are made from this trace instead of those that were added.
  void replace_sources(std::shared_ptr<const Trace> trace) { sources_ = {std::move(trace)}; }
  // Fails if events of a source can no longer be read.
  [[nodiscard]] Result<void> check_sources() const;

  // How many tables a command may write. In JSON on the terminal, one table is an array; several are one object with each table under its name (the request),
  // so that the output is one document either way.
  enum class Tables { kOne, kSeveral };
  // Fails if the values of -o and -f do not fit: several outputs for one table, or JSON and another format in one document. Requires: prepared.
  Result<void> expect(Tables tables);
  // True if the n-th table is written to the terminal, in a format for people. Requires: prepared.
  [[nodiscard]] bool is_for_people(std::size_t n) const;
  // Writes the n-th table to the place given by the n-th -o, in the format of the n-th -f (the last ones apply to all further tables).
  Result<void> write(std::size_t n, const TableHeading& heading, const stats::Table& table);
  // Notes that the n-th table has no rows and is not written. A file of its name, from another run, must not be taken for it: the file is removed with
  // --force-overwrite; otherwise it is an error, as it would be if the table were written.
  Result<void> leave_out(std::size_t n, const std::string& request);
  // True if the n-th table is written to the terminal in JSON. Requires: prepared.
  [[nodiscard]] bool is_json_on_console(std::size_t n) const;
  // Called after the last table.
  void finish();
  // Prints one sentence about a table that could not be made.
  static void skip(const std::string& sentence);

 private:
  struct Target {
    enum class Kind { kConsole, kCommand, kFile } kind = Kind::kConsole;
    std::string text;  // the command, or the base of the file's name
  };
  // The name of a table in files and objects: a second "gpu_bubbles" is "gpu_bubbles:1".
  [[nodiscard]] std::string own_name(const std::string& request);
  [[nodiscard]] stats::Format format_of_table(std::size_t n) const;
  // Passes the text to a shell command as its input, and waits for the command.
  static Result<void> feed(const std::string& command, const TextProducer& produce);
  // The name of the n-th table's file. If there is one table, and the given name ends with the extension of its format, that is the file's name, and the file
  // of a table that goes with it is beside it. Otherwise a name starts with the base.
  [[nodiscard]] std::string file_name(std::size_t n, const std::string& request) const;
  // Fails if the file may not be written or removed.
  [[nodiscard]] Result<void> check_is_free(const std::string& name) const;
  [[nodiscard]] Result<void> write_file(std::size_t n, const std::string& request, const TextProducer& produce) const;
  // The text of the n-th table, with its heading in formats for people. Requires: the table outlives the result.
  [[nodiscard]] TextProducer text_of(std::size_t n, const TableHeading& heading, const stats::Table& table) const;

  std::vector<std::filesystem::path> inputs_;
  std::vector<std::shared_ptr<const Trace>> sources_;
  std::vector<std::string> format_names_;
  std::vector<std::string> output_names_;  // lists, as typed
  std::string time_unit_name_ = "nsec";
  std::ostream* console_ = nullptr;  // null: standard output
  bool quiet_ = false;
  bool force_overwrite_ = false;
  Tables expected_ = Tables::kOne;
  std::map<std::string, std::size_t> names_;  // of the tables so far, and how often each occurred
  std::size_t in_object_ = 0;                 // number of tables of the JSON object that are written
  std::vector<stats::Format> formats_;        // empty: by target
  std::vector<Target> targets_;
  stats::TimeUnit time_unit_ = stats::TimeUnit::kNanoseconds;
};

}  // namespace lanescope::cli
