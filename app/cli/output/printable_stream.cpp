#include "output/printable_stream.h"

#include "model/trace/text/utf8.h"

namespace lanescope::cli {

PrintableStream::~PrintableStream() {
  sync();
  stream_.rdbuf(target_);
}

bool PrintableStream::write_on() {
  const std::string shown = printable(pending_, LineBreaks::kKept);
  pending_.clear();
  return target_->sputn(shown.data(), static_cast<std::streamsize>(shown.size())) == static_cast<std::streamsize>(shown.size());
}

PrintableStream::int_type PrintableStream::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  const char character = traits_type::to_char_type(c);
  return xsputn(&character, 1) == 1 ? c : traits_type::eof();
}

std::streamsize PrintableStream::xsputn(const char* text, std::streamsize size) {
  pending_.append(text, static_cast<std::size_t>(size));
  const bool ends_line = !pending_.empty() && pending_.back() == '\n';
  return !ends_line || write_on() ? size : 0;
}

int PrintableStream::sync() { return write_on() && target_->pubsync() == 0 ? 0 : -1; }

}  // namespace lanescope::cli
