#include <cstdio>
#include <filesystem>
#include <fstream>

#include "collector/remote/recording_name.h"
#include "collector/remote/target.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace lanescope;
using namespace lanescope::remote;

namespace {

// A word in single quotes, as the test itself writes it for a shell.
std::string in_single_quotes(std::string_view word) {
  std::string text = "'";
  for (const char letter : word) text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

// The words that a command prints, each terminated by a zero byte.
std::vector<std::string> words_printed(const std::string& command) {
  FILE* shell = popen(command.c_str(), "r");
  REQUIRE(shell != nullptr);
  std::vector<std::string> words(1);
  for (int letter = 0; (letter = std::fgetc(shell)) != EOF;) {
    if (letter == 0)
      words.emplace_back();
    else
      words.back() += static_cast<char>(letter);
  }
  REQUIRE(pclose(shell) == 0);
  words.pop_back();
  return words;
}

// The words that a real shell makes of a text.
std::vector<std::string> words_of_shell(const std::string& text) { return words_printed("sh -c " + in_single_quotes("printf '%s\\0' " + text)); }

std::vector<std::string> command_of(const std::string& target) {
  const auto parsed = parse_target(target);
  REQUIRE(parsed);
  return command_on(*parsed, {"a b", "serve"});
}

}  // namespace

TEST_CASE("targets become the commands that lead to them") {
  using Words = std::vector<std::string>;
  CHECK(command_of("docker:train") == Words{"docker", "exec", "-i", "train", "a b", "serve"});
  CHECK(command_of("podman:train") == Words{"podman", "exec", "-i", "train", "a b", "serve"});
  CHECK(command_of("k8s:ns/pod-0/main") == Words{"kubectl", "exec", "-i", "-n", "ns", "pod-0", "-c", "main", "--", "a b", "serve"});
  CHECK(command_of("slurm:123/node4") ==
        Words{"srun", "--jobid=123", "--nodelist=node4", "--overlap", "--ntasks=1", "--quiet", "--unbuffered", "a b", "serve"});
  CHECK(command_of("command:nsenter -t 1 'a c' --") == Words{"nsenter", "-t", "1", "a c", "--", "a b", "serve"});
  CHECK(command_of("command:ssh login srun -n1") == Words{"ssh", "login", "srun", "-n1", "'a b'", "serve"});
  CHECK(command_of("command:bash -c") == Words{"bash", "-c", "'a b' serve"});
  const Words ssh = command_of("ssh:me@gpu7");
  CHECK(ssh.front() == "ssh");
  CHECK(Words(ssh.end() - 4, ssh.end()) == Words{"--", "me@gpu7", "'a b'", "serve"});
}

TEST_CASE("ssh can be kept from asking, other commands are left as they are") {
  using Words = std::vector<std::string>;
  auto ssh = parse_target("ssh:gpu7");
  REQUIRE(ssh);
  forbid_questions(*ssh);
  CHECK(Words(ssh->prefix.begin(), ssh->prefix.begin() + 3) == Words{"ssh", "-o", "BatchMode=yes"});
  CHECK(ssh->prefix.back() == "gpu7");
  auto docker = parse_target("docker:train");
  REQUIRE(docker);
  forbid_questions(*docker);
  CHECK(docker->prefix == Words{"docker", "exec", "-i", "train"});
}

// Real shells are asked what they make of a command. This ssh treats words as a real one does: joined with spaces, they are the text of a command for a shell,
// whose home is different on each machine.
TEST_CASE("words that go through shells arrive as they were") {
  const test::TemporaryFolder folder;
  const std::string ssh = (folder.path() / "ssh").string();
  std::ofstream(ssh) << "#!/bin/sh\nHOME=/$1\nshift\nexec sh -c \"$*\"\n";
  std::filesystem::permissions(ssh, std::filesystem::perms::owner_all);
  // A prefix, and the home that a following ~/ stands for.
  const auto [prefix, home] = GENERATE(table<std::string, std::string>({
      {"env", "~"},
      {"env HOME=/in sh -c", "/in"},
      {"env HOME=/in bash -ec", "/in"},
      {"env HOME=/in /bin/bash --norc -o pipefail -c", "/in"},
      {"ssh gpu7", "/gpu7"},
      {"ssh gpu7 env HOME=/in", "/gpu7"},
      {"ssh gpu7 env HOME=/in sh -c", "/in"},
      {"ssh login ssh gpu7", "/gpu7"},
      {"ssh login ssh gpu7 env HOME=/in bash -c", "/in"},
  }));
  const auto target = parse_target("command:" + prefix);
  REQUIRE(target);
  const std::vector<std::string> words{"a b", "it's", "\"q\"", "$HOME $(id) `id`", "line\nfeed", "\\", "", "*", "-n", "a;b"};
  std::vector<std::string> sent{"printf", "%s\\0", "~/x y"}, expected{home + "/x y"};
  sent.insert(sent.end(), words.begin(), words.end());
  expected.insert(expected.end(), words.begin(), words.end());
  std::string command = "PATH=" + folder.path().string() + ":$PATH; ";
  for (const std::string& word : command_on(*target, sent)) command += in_single_quotes(word) + ' ';
  INFO(prefix);
  CHECK(words_printed(command) == expected);
}

TEST_CASE("a -c that is no shell's takes no text") {
  const std::string prefix = GENERATE(as<std::string>{}, "kubectl exec -i pod -c", "sh script -x", "bash --rc", "-c", "bash -", "bash -2c");
  CHECK(parse_target("command:" + prefix)->words == Words::kOneByOne);
}

TEST_CASE("what is no target is refused in a sentence") {
  const std::string text = GENERATE(as<std::string>{}, "", "gpu7", "ssh:", "ssh:-oProxyCommand=touch x", "docker:", "docker:--privileged", "k8s:pod",
                                    "k8s:ns/pod", "k8s:ns//c", "k8s:ns/-p/c", "slurm:12", "slurm:12/-x", "telnet:x", "command:", "command:  ", "command:a 'b");
  const auto target = parse_target(text);
  REQUIRE_FALSE(target);
  CHECK(target.error().kind == ErrorKind::kUsage);
  CHECK_THAT(target.error().text, contains_text("--on \"" + text + "\""));
}

TEST_CASE("a shell makes of a quoted word what it was") {
  const std::string word = GENERATE(as<std::string>{}, "", "plain", "a b", "it's", "\"quoted\"", "$HOME $(id) `id`", "line\nfeed", "\\back\\", "*?[a]",
                                    "a;b&c|d>e<f", "-n", "#x", "~", "!x", "{a,b}", "\t", "ü\x01", "''");
  CHECK(words_of_shell(quoted_for_shell(word)) == std::vector<std::string>{word});
}

TEST_CASE("a home is left to the shell, what follows it is not") {
  CHECK(quoted_for_shell("~/bin/lanescope") == "~/bin/lanescope");
  CHECK(quoted_for_shell("~/my bin/$x") == "~/'my bin/$x'");
}

TEST_CASE("words are split as a shell splits them") {
  const std::string text = GENERATE(as<std::string>{}, "a b  c", " a\tb", "'a b' c", "\"a b\"c", "a\\ b", "\"a\\\"b\\c\"", "'a\\b'", "a'b'\"c\"d", "''",
                                    "a '' b", "\"'\"", "'\"'", "a \\\n b", "a\\\nb", "\"a\\\nb\"", "'a\\\nb'", "\"a\nb\"", "a#b", "\"\\a\\$x\\`\"");
  for (const Comments comments : {Comments::kNone, Comments::kSkipped}) {
    const auto words = split_words(text, comments);
    REQUIRE(words);
    CHECK(*words == words_of_shell(text));
  }
}

TEST_CASE("a comment goes from the begin of a word to the end of its line") {
  using Words = std::vector<std::string>;
  CHECK(*split_words("a #b 'c\n d#e '#f' #", Comments::kSkipped) == Words{"a", "d#e", "#f"});
  CHECK(*split_words("a #b", Comments::kNone) == Words{"a", "#b"});
}

TEST_CASE("files of several machines are named after them, and no two alike") {
  using Words = std::vector<std::string>;
  CHECK(*outputs_of_machines("run%n.trace", {"ssh:gpu7", "ssh:me@gpu8"}) == Words{"run%n-gpu7.trace", "run%n-me_gpu8.trace"});
  CHECK(*outputs_of_machines("", {"k8s:ns/pod/c"}) == Words{"report%n-ns_pod_c"});
  CHECK(*outputs_of_machines("a/b", {"ssh:../../etc %p%q{X}"}) == Words{"a/b-.._.._etc__p_q_X_"});
  CHECK(*outputs_of_machines("x", {"ssh:" + std::string(50, 'a') + "\u00e9" + std::string(59, 'b')}) == Words{"x-" + std::string(59, 'b')});
  const auto twice = outputs_of_machines("x", {"ssh:a", "ssh:b", "ssh:a"});
  REQUIRE_FALSE(twice);
  CHECK(twice.error().text == "ssh:a is named twice. Name each machine once.");
  CHECK(twice.error().kind == ErrorKind::kUsage);
  CHECK(*outputs_of_machines("x", {"ssh:a", "docker:a", "ssh:a-2", "podman:a"}) == Words{"x-a", "x-a-2", "x-a-2-2", "x-a-3"});
  // Of long targets the ends are taken, which may be alike.
  const std::string end = " docker exec -i " + std::string(50, 'c');
  const auto far = *names_of_machines({"command:ssh gpu7" + end, "command:ssh gpu8" + end});
  CHECK(far[0] + "-2" == far[1]);
}

TEST_CASE("names of recordings can't lead elsewhere") {
  CHECK(is_recording_name(new_recording_name()));
  CHECK(new_recording_name() != new_recording_name());
  const std::string name = GENERATE(as<std::string>{}, "", ".", "..", "a/b", "../a", "-a", "a b", "a\n", "$(a)", std::string(65, 'a'));
  CHECK_FALSE(is_recording_name(name));
}
