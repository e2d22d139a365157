#include "tracepoint.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "collector/cpu/kernel_events.h"

namespace lanescope::cpu {
namespace {

constexpr std::size_t kMostText = 4096;  // bytes of a value

// The folder of tracefs. Nothing if it is not mounted.
std::optional<std::filesystem::path> tracefs() {
  std::ifstream mounts("/proc/self/mounts");
  std::string what, where, type, rest;
  while (mounts >> what >> where >> type && std::getline(mounts, rest))
    if (type == "tracefs") return where;
  std::error_code failed;
  const std::filesystem::path below_debugfs = "/sys/kernel/debug/tracing";  // it is mounted there on first access
  if (std::filesystem::exists(below_debugfs / "events", failed)) return below_debugfs;
  return std::nullopt;
}

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

// The text after "KEY:" up to the next semicolon.
std::string_view part(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + key.size());
  return trimmed(line.substr(0, line.find(';')));
}

std::uint32_t number_of(std::string_view text) {
  std::uint32_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

bool is_of_characters(std::string_view declaration) {
  declaration = trimmed(declaration);
  return declaration == "char" || declaration.ends_with(" char");
}

// "pid_t pid", "char comm[16]", "__data_loc char[] name". Nothing for arrays of numbers and for types that are not numbers.
std::optional<TracepointField> field_of(std::string_view line) {
  std::string_view declaration = part(line, "field:");
  TracepointField field;
  field.offset = number_of(part(line, "offset:"));
  field.size = number_of(part(line, "size:"));
  field.is_signed = part(line, "signed:") == "1";
  const bool is_array = declaration.ends_with(']');
  if (is_array) declaration = trimmed(declaration.substr(0, declaration.rfind('[')));
  const bool is_elsewhere = declaration.starts_with("__data_loc ");
  const std::size_t space = declaration.rfind(' ');
  if (space == std::string_view::npos) return std::nullopt;
  field.name = declaration.substr(space + 1);
  std::string_view type = declaration.substr(0, space);
  if (is_elsewhere) {
    if (!type.ends_with("char[]") || field.size != 4) return std::nullopt;
    field.kind = TracepointField::Kind::kTextElsewhere;
    return field;
  }
  if (is_array) {
    if (!is_of_characters(type)) return std::nullopt;
    field.kind = TracepointField::Kind::kText;
    return field;
  }
  const bool is_number = field.size == 1 || field.size == 2 || field.size == 4 || field.size == 8;
  return is_number && !type.starts_with("__rel_loc") ? std::optional(field) : std::nullopt;
}

std::string_view text_at(std::span<const std::byte> data, std::size_t offset, std::size_t size) {
  if (offset >= data.size()) return {};
  const std::string_view all(reinterpret_cast<const char*>(data.data()) + offset, std::min({size, data.size() - offset, kMostText}));
  return all.substr(0, all.find('\0'));
}

void append_quoted(std::string& json, std::string_view text) {
  json += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (byte < 0x20) {
      constexpr char kDigits[] = "0123456789abcdef";
      json += "\\u00";
      json += kDigits[byte >> 4];
      json += kDigits[byte & 15];
    } else {
      json += c;
    }
  }
  json += '"';
}

Error not_mounted() { return {"Events of the kernel are known by tracefs, which is not mounted. Change it: sudo mount -t tracefs nodev /sys/kernel/tracing"}; }

Error closed_to_us(const std::filesystem::path& root) {
  return {"Events of the kernel are known by " + root.string() +
          ", which is closed to this user. Change it: sudo mount -o remount,mode=755,gid=" + std::to_string(getegid()) + " " + root.string()};
}

}  // namespace

const TracepointField* Tracepoint::field(std::string_view wanted) const noexcept {
  for (const TracepointField& field : fields)
    if (field.name == wanted) return &field;
  return nullptr;
}

Result<Tracepoint> find_tracepoint(std::string_view group, std::string_view name) {
  const std::optional<std::filesystem::path> root = tracefs();
  if (!root) return not_mounted();
  const std::filesystem::path folder = *root / "events" / group / name;
  Tracepoint found{std::string(group), std::string(name), 0, {}};
  std::ifstream(folder / "id") >> found.number;
  const bool is_there = access(folder.c_str(), F_OK) == 0;
  if (found.number == 0 && (is_there || errno != ENOENT)) return closed_to_us(*root);
  if (found.number == 0)
    return Error{"This kernel has no event " + found.group + "/" + found.name + ". Its events are listed in " + (*root / "available_events").string(),
                 ErrorKind::kUsage};
  found.fields = tracepoint_fields(content_of(folder / "format"));
  return found;
}

Result<std::vector<std::string>> tracepoint_names() {
  const std::optional<std::filesystem::path> root = tracefs();
  if (!root) return not_mounted();
  std::ifstream list(*root / "available_events");  // "sched:sched_switch", one a line
  std::vector<std::string> names;
  for (std::string name; std::getline(list, name);) {
    if (const std::size_t middle = name.find(':'); middle != std::string::npos) name[middle] = '/';
    names.push_back(std::move(name));
  }
  if (names.empty()) return closed_to_us(*root);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<TracepointField> tracepoint_fields(std::string_view format) {
  std::vector<TracepointField> fields;
  while (!format.empty()) {
    const std::string_view line = format.substr(0, format.find('\n'));
    format.remove_prefix(std::min(line.size() + 1, format.size()));
    if (!trimmed(line).starts_with("field:")) continue;
    std::optional<TracepointField> field = field_of(line);
    if (field && !field->name.starts_with("common_")) fields.push_back(std::move(*field));
  }
  return fields;
}

std::int64_t integer_of(const TracepointField& field, std::span<const std::byte> data) noexcept {
  const std::size_t size = std::min<std::size_t>(field.size, sizeof(std::uint64_t));
  if (field.offset > data.size() || size > data.size() - field.offset) return 0;
  std::uint64_t bits = 0;
  std::memcpy(&bits, data.data() + field.offset, size);
  const auto unused = static_cast<int>(64 - 8 * size);
  if (unused == 64) return 0;
  if (!field.is_signed) return static_cast<std::int64_t>(bits);
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

std::string values_as_json(const Tracepoint& tracepoint, std::span<const std::byte> data) {
  std::string json = "{";
  for (const TracepointField& field : tracepoint.fields) {
    if (json.size() > 1) json += ',';
    append_quoted(json, field.name);
    json += ':';
    switch (field.kind) {
      case TracepointField::Kind::kInteger: {
        const std::int64_t value = integer_of(field, data);
        json += field.is_signed ? std::to_string(value) : std::to_string(static_cast<std::uint64_t>(value));
        break;
      }
      case TracepointField::Kind::kText:
        append_quoted(json, text_at(data, field.offset, field.size));
        break;
      case TracepointField::Kind::kTextElsewhere: {
        const auto place = static_cast<std::uint32_t>(integer_of(field, data));
        append_quoted(json, text_at(data, place & 0xffff, place >> 16));
        break;
      }
    }
  }
  return json + "}";
}

}  // namespace lanescope::cpu
