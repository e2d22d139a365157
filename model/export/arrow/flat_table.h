// A table of FlatBuffers (https://flatbuffers.dev/internals), the format of Arrow's messages. It is built as a value and then encoded in one step. Internal to
// model/export.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace lanescope::exporters {

// Fields are named by their position in the schema. Fields that are not set have the schema's default.
class FlatTable {
 public:
  FlatTable& byte(int place, std::uint8_t value) { return add(place, Number{value, 1}); }
  FlatTable& integer16(int place, std::int16_t value) { return add(place, Number{value, 2}); }
  FlatTable& integer32(int place, std::int32_t value) { return add(place, Number{value, 4}); }
  FlatTable& integer64(int place, std::int64_t value) { return add(place, Number{value, 8}); }
  FlatTable& text(int place, std::string value) { return add(place, std::move(value)); }
  FlatTable& table(int place, FlatTable value) { return add(place, std::vector{std::move(value)}, Form::kOne); }
  FlatTable& tables(int place, std::vector<FlatTable> values) { return add(place, std::move(values), Form::kVector); }
  // A vector of numbers, or of structures of `words_each` numbers.
  FlatTable& integers64(int place, std::vector<std::int64_t> words, std::size_t words_each = 1) { return add(place, Words{std::move(words), words_each}); }

  // A complete buffer with this table as root; its size is a multiple of 8 bytes. O(size).
  [[nodiscard]] std::string bytes() const;

 private:
  struct Number {
    std::int64_t value;
    std::size_t size;  // bytes
  };
  struct Words {
    std::vector<std::int64_t> values;
    std::size_t each;
  };
  enum class Form : std::uint8_t { kOne, kVector };  // of tables
  struct Field {
    int place;
    std::variant<Number, std::string, std::vector<FlatTable>, Words> value;
    Form form;
    [[nodiscard]] std::size_t inline_size() const noexcept;
  };
  template <typename Value>
  FlatTable& add(int place, Value value, Form form = Form::kOne) {
    fields_.push_back({place, std::move(value), form});
    return *this;
  }
  [[nodiscard]] std::size_t append_to(std::string& buffer) const;
  static void append_value(const Field& field, std::size_t at, std::string& buffer);

  std::vector<Field> fields_;
};

}  // namespace lanescope::exporters
