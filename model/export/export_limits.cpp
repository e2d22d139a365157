#include "model/export/export_limits.h"

#include "model/trace/text/grouped_digits.h"

namespace lanescope {

Result<void> TextLimit::check() const {
  if (!is_full_) return {};
  return Error{"Its events repeat long names so often that they come to more than the " + grouped_digits(most_) +
               " bytes of text that are written of a file of its size (docs/file-format.md, Limits). Export a part of it with --times, or all of it with "
               "-t parquet, which holds each name once."};
}

}  // namespace lanescope
