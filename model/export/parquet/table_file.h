// Writes one Parquet file: one table of flat columns, row by row. Internal to model/export.
//
// Format: https://github.com/apache/parquet-format (footer version 2, data pages of version 1, zstd). Each column of a row group is one page:
// booleans plain, texts in a dictionary, numbers in a dictionary where few differ and as differences where not. Numbers have their least and
// greatest value in the footer, so that readers skip row groups.
//
// Memory: 8 bytes a value of one row group, and the texts of its dictionaries.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/file/result.h"

namespace lanescope::exporters {

enum class ColumnType : std::uint8_t { kInt64, kUint64, kDouble, kBool, kText };
enum class Nullable : std::uint8_t { kNo, kYes };

struct ColumnSchema {
  std::string name;
  ColumnType type = ColumnType::kInt64;
  Nullable nullable = Nullable::kNo;
};

// A value as 64 bits: of doubles their bits, of texts a number that text_of() knows. None: null.
using Cell = std::optional<std::int64_t>;

class TableFile {
 public:
  // Appends to an open file. `text_of` gives the text of a cell of a column, and is asked once a row group for each that differs, so
  // `rows_a_group` bounds the memory of texts. Requires: 0 < rows_a_group < 2^31.
  using TextOf = std::function<std::string(std::size_t column, std::int64_t cell)>;
  TableFile(int descriptor, std::vector<ColumnSchema> columns, std::size_t rows_a_group, TextOf text_of);

  // Requires: as many cells as columns; nulls in nullable columns only. A failure to write is kept for finish().
  void append(std::span<const Cell> row);

  // Writes what is left, and the footer with these keys and values. `ascending`: a column by which rows are sorted.
  Result<void> finish(std::span<const std::pair<std::string, std::string>> metadata, std::optional<std::size_t> ascending);

  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }

 private:
  struct Column {
    ColumnSchema schema;
    std::vector<std::int64_t> values;       // of the row group, without nulls
    std::vector<std::uint32_t> is_present;  // nullable columns: 0 for a null, else 1; one a row
  };
  struct ChunkPlace {
    std::int64_t dictionary_offset = -1;  // -1: it has none
    std::int64_t data_offset = 0;
    std::int64_t uncompressed_bytes = 0;
    std::int64_t compressed_bytes = 0;
    std::int64_t values = 0;  // nulls too
    std::int64_t nulls = 0;
    int encoding = 0;
    std::string least, greatest;  // plain bytes; empty where there are none
  };
  struct RowGroup {
    std::vector<ChunkPlace> chunks;
    std::int64_t rows = 0;
  };
  enum class PageKind : std::uint8_t { kData = 0, kDictionary = 2 };

  void flush_rows();
  ChunkPlace write_chunk(std::size_t index);
  void write_page(PageKind kind, std::size_t values, int encoding, std::string_view body, ChunkPlace& place);
  void write(std::string_view bytes);
  [[nodiscard]] std::string footer(std::span<const std::pair<std::string, std::string>> metadata, std::optional<std::size_t> ascending) const;

  int descriptor_;
  std::vector<Column> columns_;
  std::size_t rows_a_group_;
  TextOf text_of_;
  std::vector<RowGroup> groups_;
  std::size_t group_rows_ = 0;
  std::uint64_t rows_ = 0;
  std::int64_t offset_ = 0;
  std::string compressed_;
  int error_ = 0;  // errno of the first write that failed
};

}  // namespace lanescope::exporters
