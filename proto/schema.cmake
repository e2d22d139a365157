# Writes SOURCE, which defines what lanescope/schema.h declares, from BYTES, a file of protoc.
file(READ "${BYTES}" bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
file(WRITE "${SOURCE}" "#include \"lanescope/schema.h\"

namespace lanescope::proto {

std::string_view schema() noexcept {
  static constexpr unsigned char kBytes[] = {${bytes}};
  return {reinterpret_cast<const char*>(kBytes), sizeof(kBytes)};
}

}  // namespace lanescope::proto
")
