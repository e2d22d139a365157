// Writes one Parquet file: one table of flat columns, row by row. Internal to model/export.
//
// Format: https://github.com/apache/parquet-format (footer version 2, data pages of version 1, zstd). Each column of a row group is one page: booleans are
// plain, texts use a dictionary, and integers use a dictionary or differences, whichever takes less space. The footer contains the minimum and maximum of
// numbers, so that readers can skip row groups.
//
// Memory: 8 bytes for each value of one row group, and the texts of its dictionaries.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../tables/table_target.h"
#include "../tables/value_dictionary.h"
#include "model/file/result.h"

namespace lanescope::exporters {

class TableFile : public TableRows {
 public:
  // Appends to an open file.
  TableFile(int descriptor, TableDescription table);

  // Write errors are stored for finish().
  void append(std::span<const Cell> row) override;
  [[nodiscard]] std::uint64_t rows() const noexcept override { return rows_; }

  // Writes the remaining rows and the footer.
  Result<void> finish();

 private:
  struct Column {
    ColumnSchema schema;
    std::vector<std::int64_t> values;       // of the row group, without nulls
    std::vector<std::uint32_t> is_present;  // nullable columns: 0 for a null, else 1; one for each row
  };
  struct ChunkPlace {
    std::int64_t dictionary_offset = -1;  // -1: no dictionary
    std::int64_t data_offset = 0;
    std::int64_t uncompressed_bytes = 0;
    std::int64_t compressed_bytes = 0;
    std::int64_t values = 0;  // including nulls
    std::int64_t nulls = 0;
    int encoding = 0;
    std::string least, greatest;  // plain bytes; empty if there are none
  };
  struct RowGroup {
    std::vector<ChunkPlace> chunks;
    std::int64_t rows = 0;
  };
  enum class PageKind : std::uint8_t { kData = 0, kDictionary = 2 };
  struct Page {
    std::string bytes;  // header and compressed body
    std::int64_t uncompressed_bytes = 0;
  };
  // The values of one chunk, in one encoding.
  struct EncodedChunk {
    int encoding = 0;
    std::optional<Page> dictionary;
    Page data;
    [[nodiscard]] std::size_t size() const noexcept { return data.bytes.size() + (dictionary ? dictionary->bytes.size() : 0); }
  };

  void flush_rows();
  ChunkPlace write_chunk(std::size_t index);
  // Takes all values of the column. `levels` marks the nulls.
  [[nodiscard]] EncodedChunk encoded(std::size_t index, std::string_view levels);
  [[nodiscard]] EncodedChunk in_dictionary(std::size_t index, std::string_view levels, const ValueDictionary& dictionary);
  [[nodiscard]] Page page(PageKind kind, std::size_t values, int encoding, std::string_view body);
  void write(const Page& page, ChunkPlace& place);
  void write(std::string_view bytes);
  [[nodiscard]] std::string footer() const;

  int descriptor_;
  TableDescription table_;
  std::vector<Column> columns_;
  std::vector<RowGroup> groups_;
  std::size_t group_rows_ = 0;
  std::uint64_t rows_ = 0;
  std::int64_t offset_ = 0;
  std::string compressed_;
  int error_ = 0;  // errno of the first write that failed
};

}  // namespace lanescope::exporters
