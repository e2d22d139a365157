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

// What stands around a table: its title and what it was asked as.
struct TableHeading {
  std::string title;    // "CUDA GPU Kernel Summary"
  std::string request;  // "cuda_gpu_kern_sum:base"
  std::string advice;   // printed in front of the table for people; may be empty
};

class TableOutput {
 public:
  // Adds -f, -o, -q, --timeunit, --force-overwrite and --help-formats to the command.
  void add_options(CLI::App& app);
  // Checks what was given, and that files can be made where they are to be. The first of the inputs names the default of output files; none of them is
  // ever written over. Requires: one at least.
  Result<void> prepare(std::span<const std::filesystem::path> inputs);

  // What would go to the terminal goes to this stream, as it is, which must outlive *this. Whether all came there, its owner looks.
  void print_to(std::ostream& console) { console_ = &console; }

  // What the tables are made of. One that was made of events of it that can't be read any more is not written, and write() fails.
  void set_source(std::shared_ptr<const Trace> trace) { sources_.push_back(std::move(trace)); }
  // Fails where that is so.
  [[nodiscard]] Result<void> check_sources() const;

  // How many tables a command may write. In JSON on the terminal, one is an array; several are one object, which has each by its name (the
  // request), so that it is one document either way.
  enum class Tables { kOne, kSeveral };
  // Fails where what -o and -f say does not fit: more outputs than one for one table, or JSON beside another format in one document. Requires:
  // prepared.
  Result<void> expect(Tables tables);
  // Whether the n-th table is written to the terminal, in a format for people. Requires: prepared.
  [[nodiscard]] bool is_for_people(std::size_t n) const;
  // Writes the n-th table to where the n-th -o says, in the n-th -f (the last ones hold for all that follow).
  Result<void> write(std::size_t n, const TableHeading& heading, const stats::Table& table);
  // The n-th table has no rows and is not written. A file of its name, of another run, may not pass for it: it is removed with --force-overwrite, and
  // else it is an error, as it would be if the table were written.
  Result<void> leave_out(std::size_t n, const std::string& request);
  // Whether the n-th table is written to the terminal in JSON. Requires: prepared.
  [[nodiscard]] bool is_json_on_console(std::size_t n) const;
  // No table follows.
  void finish();
  // One sentence about a table that could not be made.
  static void skip(const std::string& sentence);

 private:
  struct Target {
    enum class Kind { kConsole, kCommand, kFile } kind = Kind::kConsole;
    std::string text;  // the command, or the base of the file's name
  };
  // By which a table goes in files and objects: a further one of "gpu_bubbles" by "gpu_bubbles:1".
  [[nodiscard]] std::string own_name(const std::string& request);
  [[nodiscard]] stats::Format format_of_table(std::size_t n) const;
  // Gives a shell's command the text as its input, and waits for it.
  static Result<void> feed(const std::string& command, const TextProducer& produce);
  // Of the n-th table. Of one, a name that ends as its format does is the file's, and a table that goes with it lies beside that; else, and of several, a
  // name begins with the base.
  [[nodiscard]] std::string file_name(std::size_t n, const std::string& request) const;
  // Fails where the file may not be written, or removed.
  [[nodiscard]] Result<void> check_is_free(const std::string& name) const;
  [[nodiscard]] Result<void> write_file(std::size_t n, const std::string& request, const TextProducer& produce) const;
  // Of the n-th table, with its heading where people read it. Requires: the table outlives it.
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
  std::map<std::string, std::size_t> names_;  // of the tables so far, and how often each came
  std::size_t in_object_ = 0;                 // tables of the JSON object that are written
  std::vector<stats::Format> formats_;        // empty: by target
  std::vector<Target> targets_;
  stats::TimeUnit time_unit_ = stats::TimeUnit::kNanoseconds;
};

}  // namespace lanescope::cli
