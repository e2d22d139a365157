// Messages, and the languages in which they are shown.
#include <cstdlib>
#include <map>
#include <string>

#include "model/text/language.h"
#include "model/text/message.h"
#include "support/catch.h"
#include "translations.h"

using namespace lanescope;

namespace {

// Translates every text by reversing its words, so that placeholders come in another order.
std::string say_backwards(std::string_view english) {
  std::string said;
  for (std::string_view rest = english; !rest.empty();) {
    const std::size_t blank = rest.find(' ');
    said = std::string(rest.substr(0, blank)) + (said.empty() ? "" : " ") + said;
    rest = blank == std::string_view::npos ? std::string_view() : rest.substr(blank + 1);
  }
  return said;
}
constexpr Language kBackwards{"xx", "Backwards", say_backwards};

// Sets the variables of locales for a test, and restores them afterwards.
class Environment {
 public:
  explicit Environment(const std::map<std::string, std::string>& values) {
    for (const char* name : {"LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"}) {
      if (const char* const value = std::getenv(name)) before_[name] = value;
      unsetenv(name);
    }
    for (const auto& [name, value] : values) setenv(name.c_str(), value.c_str(), 1);
  }
  ~Environment() {
    for (const char* name : {"LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"}) unsetenv(name);
    for (const auto& [name, value] : before_) setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  std::map<std::string, std::string> before_;
};

}  // namespace

TEST_CASE("a message fills its places, in the order of each language") {
  const Message message("{who} idle for {time}", {{"who", Message("the GPU")}, {"time", std::string("3 ms")}});
  CHECK(message.english() == "the GPU idle for 3 ms");
  CHECK(message.in(kBackwards) == "3 ms for idle GPU the");
}

TEST_CASE("names keep what looks like a place, and are never translated") {
  const Message message("in {range}", {{"range", std::string("step {time} {")}, {"time", std::string("wrong")}});
  CHECK(message.english() == "in step {time} {");
  CHECK(message.in(kBackwards) == "step {time} { in");
  CHECK(Message::verbatim("the name").in(kBackwards) == "the name");
  CHECK(Message("a {b", {}).english() == "a {b");
  CHECK(Message("a {b}", {}).english() == "a {b}");
}

TEST_CASE("sentences and lists are joined as each language joins them") {
  CHECK(followed_by("One.", "Two.").english() == "One. Two.");
  CHECK(followed_by({}, "Two.").english() == "Two.");
  CHECK(followed_by("One.", {}).english() == "One.");
  CHECK(listed(listed("a", "b"), "c").english() == "a, b, c");
  CHECK(listed("a", "b").in(chinese()) == "a、b");
  CHECK(followed_by(Message::verbatim("一。"), Message::verbatim("二。")).in(chinese()) == "一。二。");
}

TEST_CASE("a locale has a language, or none") {
  for (const char* code : {"en", "en_GB.UTF-8", "C", "C.UTF-8", "POSIX", ""}) CHECK(find_language(code) == &english());
  for (const char* code : {"zh", "zh_CN", "zh_CN.UTF-8", "zh-Hans", "zh_SG", "zh-Hans-CN"}) CHECK(find_language(code) == &chinese());
  for (const char* code : {"zh_TW", "zh-Hant", "zh_HK.UTF-8", "de_DE.UTF-8", "x", "zhx", "e"}) CHECK(find_language(code) == nullptr);
}

TEST_CASE("the environment is read as gettext reads it") {
  using Values = std::map<std::string, std::string>;
  const auto language = [](const Values& values) {
    const Environment environment(values);
    return language_of_environment().code;
  };
  CHECK(language({}) == "en");
  CHECK(language({{"LANG", "zh_CN.UTF-8"}}) == "zh_CN");
  CHECK(language({{"LANG", "zh_CN.UTF-8"}, {"LC_MESSAGES", "en_US.UTF-8"}}) == "en");
  CHECK(language({{"LANG", "en_US.UTF-8"}, {"LC_ALL", "zh_CN.UTF-8"}}) == "zh_CN");
  CHECK(language({{"LANG", "en_US.UTF-8"}, {"LANGUAGE", "de:zh_CN:en"}}) == "zh_CN");
  CHECK(language({{"LANG", "zh_CN.UTF-8"}, {"LANGUAGE", "en"}}) == "en");
  CHECK(language({{"LANG", "C"}, {"LANGUAGE", "zh_CN"}}) == "en");
  CHECK(language({{"LANG", "de_DE.UTF-8"}}) == "en");
  CHECK(language({{"LANG", "zh_TW.UTF-8"}}) == "en");
}

TEST_CASE("translations are read from gettext's form") {
  const auto texts = read_translations(
      "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\n"
      "#: a.cpp\nmsgid \"one \\\"quoted\\\" \\\\ line\\n\"\nmsgstr \"eins\"\n\n"
      "msgid \"\"\n\"two \"\n\"lines\"\nmsgstr \"\"\n\"zwei \"\n\"Zeilen\"\n\n"
      "msgid \"open\"\nmsgstr \"\"\n\n"
      "#, fuzzy\nmsgid \"guessed\"\nmsgstr \"geraten\"\n\n"
      "msgid \"last\"\nmsgstr \"letzter\"");
  CHECK(texts.size() == 3);
  CHECK(texts.at("one \"quoted\" \\ line\n") == "eins");
  CHECK(texts.at("two lines") == "zwei Zeilen");
  CHECK(texts.at("last") == "letzter");
}

TEST_CASE("Chinese says what it has, and the rest in English") {
  CHECK(chinese().translate("Kernels") == "核函数");
  CHECK(chinese().translate("no text of ours") == "no text of ours");
  CHECK(read_translations(chinese_translations()).size() > 1000);
}

TEST_CASE("a process shows English until it is told otherwise") {
  CHECK(&shown_language() == &english());
  show_in(chinese());
  CHECK(&shown_language() == &chinese());
  show_in(english());
}
