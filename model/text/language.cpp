#include "model/text/language.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <unordered_map>

#include "translations.h"

namespace lanescope {
namespace {

std::string as_it_is(std::string_view english) { return std::string(english); }

std::string in_chinese(std::string_view english) {
  static const std::unordered_map<std::string, std::string> texts = read_translations(chinese_translations());
  const auto found = texts.find(std::string(english));
  return found == texts.end() ? std::string(english) : found->second;
}

constexpr Language kEnglish{"en", "English", as_it_is};
constexpr Language kChinese{"zh_CN", "简体中文", in_chinese};
constexpr std::array<const Language*, 2> kLanguages{&kEnglish, &kChinese};

std::atomic<const Language*> shown = &kEnglish;

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

bool is_plain(std::string_view locale) { return locale.empty() || locale == "C" || locale == "POSIX" || locale.starts_with("C."); }

}  // namespace

const Language& english() noexcept { return kEnglish; }
const Language& chinese() noexcept { return kChinese; }
std::span<const Language* const> languages() noexcept { return kLanguages; }

const Language* find_language(std::string_view locale) noexcept {
  locale = locale.substr(0, locale.find_first_of(".@"));
  if (is_plain(locale)) return &kEnglish;
  const std::string_view language = locale.substr(0, locale.find_first_of("_-"));
  if (language == "en") return &kEnglish;
  if (language != "zh") return nullptr;
  for (const std::string_view traditional : {"Hant", "TW", "HK", "MO"})
    if (locale.find(traditional) != std::string_view::npos) return nullptr;
  return &kChinese;
}

const Language& language_of_environment() {
  std::string_view locale;
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"})
    if (locale.empty()) locale = variable(name);
  if (is_plain(locale)) return kEnglish;
  for (std::string_view wanted = variable("LANGUAGE"); !wanted.empty();) {
    const std::size_t colon = wanted.find(':');
    if (const std::string_view one = wanted.substr(0, colon); !one.empty())
      if (const Language* const language = find_language(one)) return *language;
    wanted = colon == std::string_view::npos ? std::string_view() : wanted.substr(colon + 1);
  }
  const Language* const language = find_language(locale);
  return language == nullptr ? kEnglish : *language;
}

void show_in(const Language& language) noexcept { shown = &language; }
const Language& shown_language() noexcept { return *shown; }

}  // namespace lanescope
