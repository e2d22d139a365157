// Languages in which texts are shown, and which of them this process shows.
//
// English is the language of the sources: every text is its own key, and what has no translation is shown in English. Texts for programs (JSON,
// CSV, files) are English always.
//
// Threads: show_in() once, before other threads begin; all else from any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace lanescope {

struct Language {
  std::string_view code;  // "en", "zh_CN"
  std::string_view name;  // as its readers write it
  // What stands for an English text or template (see Message); the text itself where there is no translation. O(length).
  std::string (*translate)(std::string_view english) = nullptr;
};

[[nodiscard]] const Language& english() noexcept;
[[nodiscard]] const Language& chinese() noexcept;  // simplified

[[nodiscard]] std::span<const Language* const> languages() noexcept;  // English first

// The language of a locale's name or a code: "zh_CN.UTF-8", "zh-Hans", "zh", "en_GB", "C". Null where there is none: other languages, and
// Chinese in traditional characters (zh_TW, zh-Hant).
[[nodiscard]] const Language* find_language(std::string_view locale) noexcept;

// What the environment asks for, as gettext reads it: LANGUAGE (a list), unless the locale is C; else LC_ALL, LC_MESSAGES or LANG. English where
// that is no language of ours.
[[nodiscard]] const Language& language_of_environment();

// In which this process shows texts: English until it is told otherwise.
void show_in(const Language& language) noexcept;
[[nodiscard]] const Language& shown_language() noexcept;

}  // namespace lanescope
