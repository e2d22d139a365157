#include "model/trace/domains/nvtx_payload.h"

#include <charconv>

namespace lanescope {
namespace {

// Reads one flat object.
class Reader {
 public:
  explicit Reader(std::string_view json) : rest_(json) {}

  bool take(char character) {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
    if (rest_.empty() || rest_.front() != character) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::optional<std::string> text() {
    if (!take('"')) return std::nullopt;
    std::string result;
    while (!rest_.empty()) {
      const char character = rest_.front();
      rest_.remove_prefix(1);
      if (character == '"') return result;
      if (character != '\\') {
        result += character;
      } else if (!unescape(result)) {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

  // A number, null, true or false, as it is in the text.
  std::string plain() {
    const std::size_t end = std::min(rest_.find_first_of(",} "), rest_.size());
    std::string result(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return result;
  }

  [[nodiscard]] bool at_text() const { return !rest_.empty() && rest_.front() == '"'; }

 private:
  bool unescape(std::string& result) {
    if (rest_.empty()) return false;
    const char character = rest_.front();
    rest_.remove_prefix(1);
    if (character != 'u') {
      result += character == 'n' ? '\n' : character == 't' ? '\t' : character == 'r' ? '\r' : character;
      return true;
    }
    unsigned code = 0;
    if (rest_.size() < 4 || std::from_chars(rest_.data(), rest_.data() + 4, code, 16).ptr != rest_.data() + 4) return false;
    rest_.remove_prefix(4);
    result += code < 0x80 ? static_cast<char>(code) : '?';  // our own JSON escapes only control characters
    return true;
  }

  std::string_view rest_;
};

}  // namespace

std::vector<PayloadField> payload_fields(std::string_view json) {
  std::vector<PayloadField> fields;
  Reader reader(json);
  if (!reader.take('{')) return fields;
  do {
    const std::optional<std::string> name = reader.text();
    if (!name || !reader.take(':')) break;
    const std::optional<std::string> value = reader.at_text() ? reader.text() : reader.plain();
    if (!value) break;
    fields.push_back({*name, *value});
  } while (reader.take(','));
  return fields;
}

bool has_unknown_fields(std::string_view json) {
  const std::vector<PayloadField> fields = payload_fields(json);
  return fields.size() == 3 && fields[0].name == "schema" && fields[1].name == "size" && fields[2].name == "bytes";
}

std::optional<std::int64_t> payload_integer(std::string_view json, std::string_view name) {
  for (const PayloadField& field : payload_fields(json)) {
    if (field.name != name) continue;
    std::int64_t value = 0;
    const char* end = field.value.data() + field.value.size();
    if (std::from_chars(field.value.data(), end, value).ptr == end && !field.value.empty()) return value;
  }
  return std::nullopt;
}

}  // namespace lanescope
