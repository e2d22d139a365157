#include "command.h"
#include "support/catch.h"
#include "text.h"

using namespace lanescope;
using namespace lanescope::cli;

namespace {

// An app with an option of each kind.
struct Sample {
  CLI::App app{"", "lanescope sample"};
  std::string output;
  bool force = false;
  bool show = true;

  Sample() {
    app.add_option("-o,--output", output);
    app.add_flag("-f,--force-overwrite", force);
    app.add_flag("-w,--show-output", show);
  }
  Arguments program(const Arguments& arguments) {
    auto split = split_program(app, arguments);
    REQUIRE(split);
    REQUIRE_FALSE(parse(app, split->options));
    return split->program;
  }
};

}  // namespace

TEST_CASE("a program begins at the first argument that is no option, and keeps all its own") {
  CHECK(Sample().program({"-f", "app", "-o", "x", "--", "-f"}) == Arguments{"app", "-o", "x", "--", "-f"});
  CHECK(Sample().program({"-o", "name", "app"}) == Arguments{"app"});
  CHECK(Sample().program({"-oname", "--show-output=false", "app", "a b"}) == Arguments{"app", "a b"});
  CHECK(Sample().program({"--", "-odd-program"}) == Arguments{"-odd-program"});
  CHECK(Sample().program({"-o", "name"}).empty());
}

TEST_CASE("a boolean option stands bare, with =, or before true and false") {
  for (const Arguments& on : {Arguments{"-f", "app"},
                              {"-f", "true", "app"},
                              {"--force-overwrite=true", "app"},
                              {"--force-overwrite", "true", "app"},
                              {"-ftrue", "app"},
                              {"--force-overwrite=True", "app"},
                              {"-f", "True", "app"}}) {
    Sample sample;
    CHECK(sample.program(on) == Arguments{"app"});
    CHECK(sample.force);
  }
  for (const Arguments& off : {Arguments{"-w", "false", "app"}, {"--show-output=false", "app"}, {"-wFalse", "app"}, {"--show-output", "FALSE", "app"}}) {
    Sample sample;
    CHECK(sample.program(off) == Arguments{"app"});
    CHECK_FALSE(sample.show);
  }
}

TEST_CASE("short options take = as well, which is no part of their value") {
  Sample sample;
  CHECK(sample.program({"-o=name", "-f=true", "-w=false", "app"}) == Arguments{"app"});
  CHECK(sample.output == "name");
  CHECK(sample.force);
  CHECK_FALSE(sample.show);
  Sample several;
  CHECK(several.program({"-fw", "-o", "=x", "app"}) == Arguments{"app"});
  CHECK(several.force);
  CHECK(several.output == "=x");
}

TEST_CASE("short options stand in one word, the last with its value") {
  for (const Arguments& together :
       {Arguments{"-fo", "name", "app"}, {"-foname", "app"}, {"-fo=name", "app"}, {"-fwo", "name", "app"}, {"-fwfalse", "-oname", "app"}}) {
    Sample sample;
    CHECK(sample.program(together) == Arguments{"app"});
    CHECK(sample.force);
    CHECK(sample.output == "name");
    CHECK(sample.show == (together.front() != "-fwfalse"));
  }
  Sample sample;
  const auto unknown = split_program(sample.app, {"-fz", "app"});
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().kind == ErrorKind::kUsage);
}

TEST_CASE("what is given twice is said to be, and an option that is not known is told before what its value would be") {
  Sample sample;
  const auto twice = read_options(sample.app, {"-o", "a", "-o", "b"}, "");
  REQUIRE_FALSE(twice);
  CHECK(twice.error().text == "--output is given more than once. Give it once.");
  Sample other;
  int number = 0;
  other.app.add_option("NUMBER", number);
  const auto unknown = read_options(other.app, {"--statistics", "true", "4711"}, "");
  REQUIRE_FALSE(unknown);
  CHECK_THAT(unknown.error().text, contains_text("Unknown option --statistics"));
}

TEST_CASE("an unknown option is answered with the nearest one") {
  Sample sample;
  const auto misspelled = split_program(sample.app, {"--ouptut=x", "app"});
  REQUIRE_FALSE(misspelled);
  CHECK(misspelled.error().text == "Unknown option --ouptut. Did you mean --output?");
  CHECK(misspelled.error().kind == ErrorKind::kUsage);
  const auto strange = split_program(sample.app, {"--quixotic-zeal=all", "app"});
  REQUIRE_FALSE(strange);
  CHECK(strange.error().text == "Unknown option --quixotic-zeal. See: lanescope sample --help");
}

TEST_CASE("an option that only Nsight Systems has is named as such, with what to do instead") {
  Sample sample;
  const auto foreign = split_program(sample.app, {"--report-dir=x", "app"});
  REQUIRE_FALSE(foreign);
  CHECK_THAT(foreign.error().text, contains_text("--report-dir"));
  CHECK_THAT(foreign.error().text, contains_text("--help-reports"));
  CHECK(foreign.error().kind == ErrorKind::kUsage);
}

TEST_CASE("the nearest word has few letters wrong, missing, added or swapped") {
  const std::vector<std::string> words{"profile", "info", "stats"};
  CHECK(nearest("porfile", words) == "profile");
  CHECK(nearest("profil", words) == "profile");
  CHECK(nearest("stat", words) == "stats");
  CHECK(nearest("record", words).empty());
  const std::vector<std::string> joined{"--cuda-graph-trace", "--cuda-memory-usage", "cuda_gpu_kern_sum", "cuda_gpu_kern_gb_sum"};
  CHECK(nearest("--cuda-memory", joined) == "--cuda-memory-usage");
  CHECK(nearest("gpukernsum", joined) == "cuda_gpu_kern_sum");
  const std::vector<std::string> options{"--output", "--storage-metrics", "--gpu-metrics-devices", "--gpu-metrics-set", "--info-output", "--strict", "--trace"};
  CHECK(nearest("--gpu", options) == "--gpu-metrics-devices");  // the first of several
  CHECK(nearest("--storage", options) == "--storage-metrics");
  CHECK(nearest("--devices", options) == "--gpu-metrics-devices");
  CHECK(nearest("--foo", options).empty());  // though "info-output" has these letters
  CHECK(nearest("--metrics", options) == "--storage-metrics");
  CHECK(nearest("-c", joined).empty());  // one letter matches nothing
}

TEST_CASE("every command is found by its name and no other") {
  for (const Command& command : commands()) CHECK_FALSE(command.summary.empty());
  CHECK(run({"no-such-command"}) == kUsage);
  CHECK(run({"--version"}) == kSuccess);
  CHECK(run({}) == kUsage);
}

TEST_CASE("numbers read as a person writes them") {
  CHECK(counted(1, "event") == "1 event");
  CHECK(counted(2, "event") == "2 events");
  CHECK(duration_text(417) == "417 ns");
  CHECK(duration_text(12'300'000) == "12.300 ms");
  CHECK(duration_text(2'345'600'000) == "2.346 s");
  CHECK(bytes_text(512) == "512 B");
  CHECK(bytes_text(150'109'000'000) == "139.8 GiB");
  CHECK(utc_text(0) == "1970-01-01 00:00:00 UTC");
  CHECK(hexadecimal(std::string("\x01\xff", 2)) == "01ff");
  CHECK(command_text(std::vector<std::string>{"sh", "-c", "echo 'a b'", ""}) == "sh -c 'echo '\\''a b'\\''' ''");
}
