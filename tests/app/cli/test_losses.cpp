// What commands report about incomplete recordings: cut off, damaged, without room, of several files.
#include <sys/stat.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "command.h"
#include "model/file/frame.h"
#include "model/file/missing.h"
#include "model/file/trace_file.h"
#include "model/trace/compact/compaction.h"
#include "model/trace/completeness.h"
#include "model/trace/load.h"
#include "model/trace/segments/demanded_segments.h"
#include "model/trace/text/grouped_digits.h"
#include "output/told.h"
#include "ran_command.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using test::Ran;
using test::run_command;
namespace fs = std::filesystem;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

std::string cut(const fs::path& from, const fs::path& to, std::uintmax_t bytes) {
  fs::copy_file(from, to);
  fs::resize_file(to, bytes);
  return to.string();
}

// Flips a byte in the middle of the largest frame of this type.
void damage(const fs::path& path, std::uint16_t type) {
  std::optional<IndexedFrame> largest;
  for (const IndexedFrame& frame : TraceFileReader::open(path)->index())
    if (frame.type == type && (!largest || frame.stored_size > largest->stored_size)) largest = frame;
  REQUIRE(largest);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto middle = static_cast<std::streamoff>(largest->offset + sizeof(FrameHeader) + largest->stored_size / 2);
  file.seekg(middle);
  const char flipped = static_cast<char>(~file.get());
  file.seekp(middle);
  file.put(flipped);
}

// The number in "3 frames are damaged and skipped"; 0 if the text has none.
std::uint64_t told_damage(const std::string& text) {
  std::smatch found;
  return std::regex_search(text, found, std::regex("(\\d+) frames? (is|are) damaged and skipped")) ? std::stoull(found[1]) : 0;
}

constexpr std::uint16_t kEventsFrame = 6, kSegmentFrame = 18;  // docs/file-format.md

}  // namespace

TEST_CASE("every command that answers from a recording that was cut off says so, once, beside its answer") {
  const test::TemporaryFolder folder;
  const fs::path whole = test::data_file("ranks_late0.trace");
  const std::string cut_file = cut(whole, folder.path() / "cut.trace", 300'000), out = (folder.path() / "out").string();
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"stats", "-r", "cuda_api_sum", "-q", "-o", out, cut_file},
                                             {"stats", "-r", "cuda_gpu_kern_sum", "-q", "-f", "json", "-o", out + "1", cut_file},
                                             {"analyze", cut_file},
                                             {"query", "-q", "-o", out + "2", cut_file, "SELECT count(*) FROM kernels"},
                                             {"diff", "-q", "-o", out + "3", cut_file, whole.string()},
                                             {"export", "-t", "csv", "-o", out + ".csv", cut_file},
                                             {"report", "-o", out + ".html", cut_file}}) {
    const Ran ran = run_command(words);
    INFO(words.front() << ": " << ran.messages);
    CHECK(ran.code == cli::kSuccess);
    CHECK(count(ran.messages, cut_file + ": The recording was cut off") == 1);
    CHECK(count(ran.output, "cut off") == 0);
  }
  CHECK(run_command({"stats", "-r", "cuda_api_sum", "-q", "-o", out + "4", whole.string()}).messages.empty());
}

TEST_CASE("every command that reads a trace of another tool says, once, what of it was left out") {
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "run.json").string(), out = (folder.path() / "out").string();
  std::ofstream(file) << R"({"traceEvents":[
    {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":10,"dur":5,"args":{"correlation":1}},
    {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":20,"dur":10,"args":{"correlation":1,"device":0,"stream":7}},
    {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":40,"dur":NaN,"args":{"correlation":2,"device":0,"stream":7}},
    {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1e300,"dur":10,"args":{"correlation":3,"device":0,"stream":7}}]})";
  const std::string said = "2 events with times that are not numbers, or out of range, were left out.";
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"stats", "-r", "cuda_gpu_kern_sum", "-q", "-o", out, file},
                                             {"analyze", file},
                                             {"query", "-q", "-o", out + "2", file, "SELECT count(*) FROM kernels"},
                                             {"export", "-t", "csv", "-o", out + ".csv", file},
                                             {"import", "-o", out + ".trace", file},
                                             {"stats", "-r", "cuda_gpu_kern_sum", "-q", "-o", out + "3", out + ".trace"},
                                             {"report", "-o", out + ".html", file}}) {
    const Ran ran = run_command(words);
    INFO(words.front() << ": " << ran.messages);
    CHECK(ran.code == cli::kSuccess);
    CHECK(count(ran.messages, said) == 1);
    CHECK(count(ran.output, said) == 0);
  }
  const Ran both = run_command({"diff", "-q", "-o", out + "4", "--fail-above", "5", file, file});  // both sides lack the same, and the rest is compared
  INFO(both.messages);
  CHECK(both.code == cli::kSuccess);
  CHECK(count(both.messages, said) == 2);
}

TEST_CASE("an export says by count what its format has no place for") {
  const test::TemporaryFolder folder;
  const std::string out = (folder.path() / "out").string(), metrics = test::data_file("gpu_metrics.trace").string();
  // The number is determined by a query.
  REQUIRE(run_command({"query", "-q", "-f", "csv", "-o", out, metrics, "SELECT count(*), count(DISTINCT name) FROM counters"}).code == cli::kSuccess);
  std::ifstream file(out + "_query.csv");
  const std::string counted{std::istreambuf_iterator<char>(file), {}};
  std::smatch found;
  REQUIRE(std::regex_search(counted, found, std::regex("\n(\\d+),(\\d+)")));
  const std::string values = grouped_digits(std::stoull(found[1])) + " values of " + found[2].str() + " counters";
  for (const char* type : {"csv", "json", "text"}) {
    const Ran ran = run_command({"export", "-t", type, "-o", out + "." + type, metrics});
    INFO(ran.messages);
    CHECK(count(ran.messages, metrics + ": " + type + " has no place for " + values) == 1);
    CHECK(count(run_command({"export", "-q", "-f", "-t", type, "-o", out + "." + type, metrics}).messages, "no place") == 0);
  }
  CHECK(count(run_command({"export", "-t", "sqlite", "-o", out + ".sqlite", metrics}).messages, "no place") == 0);  // SQLite has places for them
  const std::string kernels = test::data_file("kernel_counters.trace").string();
  CHECK(count(run_command({"export", "-t", "sqlite", "-o", out + "2.sqlite", kernels}).messages, "sqlite has no place for hardware counters of ") == 1);
  CHECK(count(run_command({"export", "-t", "trace", "-o", out + ".trace", kernels}).messages, "no place") == 0);
}

TEST_CASE("exports with a place for it say what the recording lacked") {
  const test::TemporaryFolder folder;
  const std::string cut_file = cut(test::data_file("ranks_late0.trace"), folder.path() / "cut.trace", 300'000);
  const fs::path chrome = folder.path() / "cut.json", sqlite = folder.path() / "cut.sqlite";
  REQUIRE(run_command({"export", "-t", "chrome", "-o", chrome.string(), cut_file}).code == cli::kSuccess);
  REQUIRE(run_command({"export", "-t", "sqlite", "-o", sqlite.string(), cut_file}).code == cli::kSuccess);
  for (const fs::path& made : {chrome, sqlite}) {
    std::ifstream file(made, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    CHECK(count(bytes, "The recording was cut off") == 1);
  }
  CHECK(nlohmann::json::parse(std::ifstream(chrome)).contains("traceEvents"));
}

TEST_CASE("a limit of diff is not held by a recording that is not whole") {
  const test::TemporaryFolder folder;
  const fs::path whole = test::data_file("ranks_late0.trace");
  const std::string cut_file = cut(whole, folder.path() / "cut.trace", 300'000), out = (folder.path() / "out").string();
  CHECK(run_command({"diff", "-q", "--force-overwrite", "-o", out, "--fail-above", "5", whole.string(), whole.string()}).code == cli::kSuccess);
  const Ran ran = run_command({"diff", "-q", "--force-overwrite", "-o", out, "--fail-above", "5", whole.string(), cut_file});
  CHECK(ran.code == cli::kFailure);
  CHECK(count(ran.messages, "can't be held to a limit") == 1);
}

TEST_CASE("a file with a damaged frame is told alike as a log, compacted, read whole and in parts") {
  const test::TemporaryFolder folder;
  const fs::path log = folder.path() / "log.trace", compact = folder.path() / "compact.trace";
  fs::copy_file(test::data_file("ranks_compute.trace"), log);
  REQUIRE(compact_trace_file(log, compact, Overwrite::kRefuse));
  damage(log, kEventsFrame);
  damage(compact, kSegmentFrame);
  for (const fs::path& file : {log, compact}) {
    const Ran info = run_command({"info", file.string()}), analyze = run_command({"analyze", file.string()});
    INFO(info.output << info.messages << analyze.messages);
    CHECK(count(info.output, "1 frame is damaged and skipped") == 1);
    CHECK(count(info.output, "complete: nothing dropped") == 0);
    CHECK(count(analyze.messages, file.string() + ": 1 frame is damaged and skipped") == 1);
  }
}

TEST_CASE("values of counters are read for answers from them alone, where events stay in the file") {
  const test::TemporaryFolder folder;
  const fs::path whole = folder.path() / "whole.trace", damaged = folder.path() / "damaged.trace";
  REQUIRE(compact_trace_file(test::data_file("gpu_metrics.trace"), whole, Overwrite::kRefuse));
  fs::copy_file(whole, damaged);
  damage(damaged, kEventsFrame);  // of the new file: only events frames are those of counters
  SegmentCache& cache = SegmentCache::of_process();
  const std::uint64_t before = cache.budget();
  cache.set_budget(1 << 10);
  const std::string table = (folder.path() / "table").string();
  const auto answer = [&](std::vector<std::string> words, const fs::path& file) {
    const bool has_question = words.front() == "query";  // which stands behind the file
    words.insert(words.end() - (has_question ? 1 : 0), file.string());
    words.insert(words.end(), {"-f", "json", "--force-overwrite", "-o", table});
    Ran ran = run_command(words);
    for (const auto& entry : fs::directory_iterator(folder.path()))
      if (entry.path().filename().string().starts_with("table")) {
        std::stringstream text;
        text << std::ifstream(entry.path()).rdbuf();
        ran.output += text.str();
        fs::remove(entry.path());
      }
    return ran;
  };
  for (const std::vector<std::string>& words : {std::vector<std::string>{"analyze"}, {"stats", "-r", "cuda_gpu_kern_sum"}}) {
    const Ran of_damaged = answer(words, damaged), of_whole = answer(words, whole);
    INFO(words.front() << of_damaged.messages);
    CHECK(of_damaged.output.size() > 500);
    CHECK(of_damaged.output == of_whole.output);
    CHECK(told_damage(of_damaged.messages) == 0);
  }
  const Ran of_counters = answer({"stats", "-r", "gpu_metric_sum"}, damaged);
  CHECK(of_counters.output.size() > 500);
  CHECK(told_damage(of_counters.messages) == 1);
  // All that can be read is answered, as from a log of it, and the damage is told once, whatever was answered before.
  const std::vector<std::string> both{"stats", "-r", "cuda_gpu_kern_sum", "-r", "gpu_metric_sum"};
  const Ran of_both = answer(both, damaged), of_whole = answer(both, whole);
  CHECK(cli::Told::of_command().left().empty());
  const auto ask = [&](const fs::path& file) {
    return answer({"query", "--rows", "100", "SELECT name, count(value), sum(value) FROM counters GROUP BY name ORDER BY name"}, file);
  };
  const Ran asked = ask(damaged);
  const fs::path saved_with_little = folder.path() / "little.trace";
  const Ran little = run_command({"export", "-q", "-t", "trace", "--form", "log", "-o", saved_with_little.string(), damaged.string()});
  cache.set_budget(before);
  const fs::path saved = folder.path() / "saved.trace";
  REQUIRE(run_command({"export", "-q", "-t", "trace", "--form", "log", "-o", saved.string(), damaged.string()}).code == cli::kSuccess);
  INFO(of_both.messages);
  CHECK(of_both.code == cli::kSuccess);
  CHECK(of_both.output == answer(both, saved).output);
  CHECK(of_both.output != of_whole.output);
  CHECK(count(of_both.messages, "damaged and skipped") == 1);
  CHECK(count(of_both.messages, "can be read") == 0);
  INFO(asked.messages << little.messages);
  CHECK(asked.code == cli::kSuccess);
  CHECK(count(asked.messages, "damaged and skipped") == 1);
  CHECK(asked.output.size() > 100);
  CHECK(asked.output == ask(saved).output);
  CHECK(asked.output != ask(whole).output);
  CHECK(little.code == cli::kSuccess);
  CHECK(count(little.messages, "damaged and skipped") == 1);
  CHECK(answer(both, saved_with_little).output == of_both.output);
}

TEST_CASE("how many frames are damaged, every command says alike: each alone, two side by side, and the index") {
  const test::TemporaryFolder folder;
  const fs::path log = test::data_file("numba_streams_bug.trace"), compact = folder.path() / "compact.trace", damaged = folder.path() / "damaged.trace";
  REQUIRE(compact_trace_file(log, compact, Overwrite::kRefuse));
  for (const fs::path& whole : {log, compact}) {
    std::vector<std::uint64_t> frames;  // their offsets; the index is the last frame
    for (const IndexedFrame& frame : TraceFileReader::open(whole)->index()) frames.push_back(frame.offset);
    frames.push_back(TraceFileReader::open(whole)->index().back().offset + sizeof(FrameHeader) + TraceFileReader::open(whole)->index().back().stored_size);
    for (std::size_t first = 0; first < frames.size(); ++first)
      for (const std::size_t count : {1u, 2u}) {
        // Without the index, two adjacent damaged frames look like one.
        if (count == 2 && (first + 2 >= frames.size() || first % 4 != 0)) continue;
        fs::copy_file(whole, damaged, fs::copy_options::overwrite_existing);
        std::fstream file(damaged, std::ios::in | std::ios::out | std::ios::binary);
        for (std::size_t i = first; i < first + count; ++i) {
          const auto checksum = static_cast<std::streamoff>(frames[i] + offsetof(FrameHeader, checksum));
          file.seekg(checksum);
          const char flipped = static_cast<char>(~file.get());
          file.seekp(checksum);
          file.put(flipped);
        }
        file.close();
        INFO(whole << ", frame " << first << " and " << count - 1 << " more");
        CHECK(told_damage(run_command({"info", damaged.string()}).output) == count);
        CHECK(told_damage(run_command({"analyze", damaged.string()}).messages) == count);
        for (const char* form : {"log", "compact"}) {
          const fs::path saved = folder.path() / "saved.trace";
          CHECK(told_damage(run_command({"export", "-f", "-t", "trace", "--form", form, "-o", saved.string(), damaged.string()}).messages) == count);
          CHECK(told_damage(run_command({"info", saved.string()}).output) == count);
        }
        const Ran stats = run_command({"stats", "-q", "-r", "cuda_api_sum", "-o", (folder.path() / "table").string(), "--force-overwrite", damaged.string()});
        const std::uint64_t told = told_damage(stats.messages);
        CHECK((told == count || told == 0));  // events that stay in the file are read only if a report needs them
        if (whole == log) CHECK(told == count);
      }
  }
}

TEST_CASE("the end of a command tells what could not be read and was not told, whatever commands before it told") {
  const test::TemporaryFolder folder;
  const fs::path compact = folder.path() / "compact.trace";
  REQUIRE(compact_trace_file(test::data_file("ranks_compute.trace"), compact, Overwrite::kRefuse));
  damage(compact, kSegmentFrame);
  const std::string problem = "x.trace: 2 frames can't be read.";
  const auto reads_badly = [&] { SegmentCache::of_process().report(problem); };
  cli::Told& told = cli::Told::of_command();

  CHECK(run_command({"info", compact.string()}).code == cli::kSuccess);  // it reports the damage in its own words
  reads_badly();
  CHECK(told.left().empty());

  told.begin();
  reads_badly();
  CHECK(told.left() == std::vector<std::string>{problem});
  CHECK(told.left().empty());

  told.begin();
  reads_badly();
  told.add("The table can't be written. " + problem);
  told.add("Nor can the page.");
  CHECK(told.left().empty());
}

TEST_CASE("what was made of events that can't be read takes no place, in any format") {
  const test::TemporaryFolder folder;
  const fs::path compact = folder.path() / "compact.trace", log = folder.path() / "log.trace";
  REQUIRE(compact_trace_file(test::data_file("ranks_compute.trace"), compact, Overwrite::kRefuse));
  damage(compact, kSegmentFrame);
  for (const char* type : {"sqlite", "chrome", "json", "csv", "text", "arrow"}) {
    const fs::path output = folder.path() / type;
    std::ofstream(output) << "an older one";
    const Ran ran = run_command({"export", "-f", "-t", type, "-o", output.string(), compact.string()});
    INFO(type << ": " << ran.messages);
    CHECK(ran.code == cli::kFailure);
    CHECK(count(ran.messages, "Generated") == 0);
    CHECK(fs::file_size(output) == 12);
  }
  for (const char* type : {"parquet", "parquetdir"}) {
    const fs::path output = folder.path() / type;
    CHECK(run_command({"export", "-t", type, "-o", output.string(), compact.string()}).code == cli::kFailure);
    CHECK_FALSE(fs::exists(output));
  }
  CHECK(run_command({"query", "-q", "-o", (folder.path() / "q").string(), compact.string(), "SELECT * FROM samples"}).code == cli::kFailure);
  CHECK_FALSE(fs::exists(folder.path() / "q_query.csv"));
}

TEST_CASE("what can be saved of a damaged file lacks what can't be read, and says so") {
  const test::TemporaryFolder folder;
  const fs::path compact = folder.path() / "compact.trace";
  REQUIRE(compact_trace_file(test::data_file("ranks_compute.trace"), compact, Overwrite::kRefuse));
  const std::uint64_t events = (*load_trace(compact))->event_count();
  damage(compact, kSegmentFrame);
  const std::uint64_t readable = (*load_trace(compact))->event_count();  // the damaged frame is skipped
  REQUIRE(readable < events);
  for (const std::vector<std::string>& options : {std::vector<std::string>{"--form", "log"}, {"--times", "0/1000s"}, {}}) {
    const fs::path saved = folder.path() / "saved.trace";
    std::vector<std::string> words{"export", "-f", "-t", "trace", "-o", saved.string(), compact.string()};
    words.insert(words.end(), options.begin(), options.end());
    static_cast<void>(run_command(words));
    const auto trace = load_trace(saved);
    REQUIRE(trace);
    INFO((options.empty() ? "" : options.front()) << ": " << (*trace)->provenance().condition);
    CHECK((*trace)->event_count() == readable);
    CHECK_FALSE((*trace)->provenance().condition.empty());
  }
}

TEST_CASE("what a recording lacks is the same by its frames, as profile says it, and by its trace") {
  std::size_t lacking = 0;
  for (const auto& entry : fs::directory_iterator(test::data_file("cause_lock.trace").parent_path())) {
    if (entry.path().extension() != ".trace") continue;
    INFO(entry.path());
    const auto reader = TraceFileReader::open(entry.path());
    const auto trace = load_trace(entry.path());
    REQUIRE((reader && trace));
    CHECK(missing_text(missing_in(*reader)) == missing_text(**trace));
    lacking += missing_text(**trace).empty() ? 0 : 1;
  }
  CHECK(lacking == 2);  // Python stacks, and samples of a GPU's metrics
}

TEST_CASE("samples that are missing are said beside every answer") {
  const std::string file = test::data_file("torch_loader_samples.trace").string();
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"analyze", file}, {"stats", "-q", "-r", "nvtx_sum", file}, {"query", file, "select 1"}}) {
    INFO(words.front());
    CHECK(count(run_command(words).messages, "Not all that was recorded is here: 536 Python stacks dropped.") == 1);
  }
  CHECK(count(run_command({"info", file}).output, "incomplete: 536 Python stacks dropped") == 1);
  // Each part of a recording tells the number of all of it.
  const test::TemporaryFolder folder;
  std::vector<std::string> parts{"stats", "-q", "-r", "nvtx_sum"};
  for (const std::string time : {"/10s", "10s/"}) {
    parts.push_back((folder.path() / ("part" + std::to_string(parts.size()) + ".trace")).string());
    REQUIRE(run_command({"export", "-q", "-t", "trace", "--filter-time", time, "-o", parts.back(), file}).code == cli::kSuccess);
  }
  CHECK(count(run_command(parts).messages, "Not all that was recorded is here: 536 Python stacks dropped.") == 1);
}
