// Languages for texts, and the language that this process shows.
//
// English is the language of the sources: each text is its own key, and a text without a translation is shown in English. Texts for programs (JSON, CSV,
// files) are always English.
//
// Threads: show_in() is called once, before other threads begin; all other functions may be called from any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace lanescope {

struct Language {
  std::string_view code;  // "en", "zh_CN"
  std::string_view name;  // as its readers write it
  // The translation of an English text or template (see Message), or the text itself if there is none. O(length).
  std::string (*translate)(std::string_view english) = nullptr;
};

[[nodiscard]] const Language& english() noexcept;
[[nodiscard]] const Language& chinese() noexcept;  // simplified

[[nodiscard]] std::span<const Language* const> languages() noexcept;  // English first

// The language for a locale's name or a code: "zh_CN.UTF-8", "zh-Hans", "zh", "en_GB", "C". Null for other languages, and for Chinese in traditional
// characters (zh_TW, zh-Hant).
[[nodiscard]] const Language* find_language(std::string_view locale) noexcept;

// The language that the environment asks for, by gettext's rules: LANGUAGE (a list), unless the locale is C; else LC_ALL, LC_MESSAGES or LANG. English if none
// of them is one of our languages.
[[nodiscard]] const Language& language_of_environment();

// Sets the language in which this process shows texts. The default is English.
void show_in(const Language& language) noexcept;
[[nodiscard]] const Language& shown_language() noexcept;

}  // namespace lanescope
