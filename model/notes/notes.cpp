#include "model/notes/notes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>
#include <tuple>

#include "model/trace/text/utf8.h"

namespace lanescope {
namespace {

constexpr std::string_view kHeading = "# Notes on ";
constexpr std::string_view kExplanation = "# A line each: seconds since the recording began, and the text.";
constexpr std::string_view kRecording = "# Of the recording that began ";  // seconds since 1970
constexpr std::string_view kSince = " s after the begin of 1970 (UTC)";
constexpr std::int64_t kMostSeconds = std::int64_t{1} << 31;  // no recording lasts 68 years
constexpr int kDecimals = 9;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// "-1.5": removes the time from the line; nothing if the line does not begin with a time.
std::optional<Nanoseconds> take_time(std::string_view& line) {
  std::string_view rest = line;
  const bool is_negative = rest.starts_with('-');
  if (is_negative) rest.remove_prefix(1);
  std::int64_t seconds = 0, fraction = 0;
  const auto whole = std::from_chars(rest.data(), rest.data() + rest.size(), seconds);
  if (whole.ec != std::errc{} || seconds < 0 || seconds > kMostSeconds) return std::nullopt;
  rest.remove_prefix(static_cast<std::size_t>(whole.ptr - rest.data()));
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    int digits = 0;
    for (; !rest.empty() && rest.front() >= '0' && rest.front() <= '9'; rest.remove_prefix(1), ++digits)
      if (digits < kDecimals) fraction = 10 * fraction + (rest.front() - '0');
    if (digits == 0) return std::nullopt;
    for (; digits < kDecimals; ++digits) fraction *= 10;
  }
  if (!rest.empty() && !is_space(rest.front())) return std::nullopt;
  line = trimmed(rest);
  const Nanoseconds time = seconds * 1'000'000'000 + fraction;
  return is_negative ? -time : time;
}

std::string time_text(Nanoseconds time) {
  const std::uint64_t magnitude = time < 0 ? 0 - static_cast<std::uint64_t>(time) : static_cast<std::uint64_t>(time);
  std::string fraction = std::to_string(magnitude % 1'000'000'000);
  return (time < 0 ? "-" : "") + std::to_string(magnitude / 1'000'000'000) + "." + std::string(kDecimals - fraction.size(), '0') + fraction;
}

// Increments `cut` if the text is longer than kLongestNote. Bytes that are not UTF-8 take more room in what replaces them, so the length is known only then.
std::string unescaped(std::string_view text, std::size_t& cut) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escapes = text[i] == '\\' && i + 1 < text.size();
    if (escapes && text[i + 1] == 'n')
      result.push_back('\n');
    else if (escapes && text[i + 1] == 't')
      result.push_back('\t');
    else if (escapes && text[i + 1] == '\\')
      result.push_back('\\');
    else {
      result.push_back(text[i]);
      continue;
    }
    ++i;
  }
  result = printable(result, LineBreaks::kKept);
  if (result.size() <= kLongestNote) return result;
  ++cut;
  return std::string(trimmed(first_bytes(result, kLongestNote)));
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\n')
      result += "\\n";
    else if (c == '\t')
      result += "\\t";
    else if (c == '\\')
      result += "\\\\";
    else if (c != '\r')
      result.push_back(c);
  }
  return result;
}

}  // namespace

std::string stored_text(std::string_view text) {
  std::size_t cut = 0;
  return unescaped(trimmed(escaped(text)), cut);
}

Notes parse_notes(std::string_view text) {
  Notes notes;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view whole = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    std::string_view line = trimmed(whole);
    if (line.empty() || line.starts_with(kHeading) || line == kExplanation) continue;
    if (line.starts_with(kRecording) && line.ends_with(kSince)) {
      std::string_view began = line.substr(kRecording.size());
      if (const std::optional<Nanoseconds> epoch = take_time(began)) {
        notes.utc_epoch = *epoch;
        continue;
      }
    }
    const std::optional<Nanoseconds> time = take_time(line);
    if (!time)
      notes.other_lines.emplace_back(trimmed(whole));
    else if (notes.notes.size() == kMostNotes)
      ++notes.left_out;
    else
      notes.notes.push_back({*time, unescaped(line, notes.left_out)});
  }
  std::stable_sort(notes.notes.begin(), notes.notes.end(), [](const Note& a, const Note& b) { return a.time < b.time; });
  return notes;
}

std::string format_notes(const Notes& notes, std::string_view trace) {
  std::string text = std::string(kHeading).append(printable(trace, LineBreaks::kEscaped)).append("\n").append(kExplanation).append("\n");
  if (notes.utc_epoch != 0) text.append(kRecording).append(time_text(notes.utc_epoch)).append(kSince).append("\n");
  for (const Note& note : notes.notes) text.append(time_text(note.time)).append("  ").append(escaped(note.text)).append("\n");
  for (const std::string& line : notes.other_lines) text.append(line).append("\n");
  return text;
}

Notes merge_notes(const Notes& base, const std::vector<Note>& mine, const Notes& theirs) {
  const auto before = [](const Note& a, const Note& b) { return std::tie(a.time, a.text) < std::tie(b.time, b.text); };
  const auto sorted = [&before](std::vector<Note> notes) {
    std::sort(notes.begin(), notes.end(), before);
    return notes;
  };
  const auto less = [&before](const std::vector<Note>& of, const std::vector<Note>& without) {
    std::vector<Note> rest;
    std::set_difference(of.begin(), of.end(), without.begin(), without.end(), std::back_inserter(rest), before);
    return rest;
  };
  const std::vector<Note> was = sorted(base.notes), is = sorted(mine), there = sorted(theirs.notes);
  const std::vector<Note> kept = less(there, less(was, is));  // without notes that were removed here
  const std::vector<Note> added = less(less(is, was), kept);  // and are not there already
  Notes merged = theirs;
  merged.notes.clear();
  std::merge(kept.begin(), kept.end(), added.begin(), added.end(), std::back_inserter(merged.notes), before);
  return merged;
}

}  // namespace lanescope
