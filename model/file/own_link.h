// Links at places where something is to be written. Internal to model/file.
#pragma once

#include <filesystem>
#include <optional>

namespace lanescope {

inline constexpr int kMostLinks = 8;  // that are followed one after the other

enum class LinksOf { kThisUser, kThisUserAndRoot };

// Where a link leads that belongs to one of these, read from the link that was looked at. Nothing where it is no such link.
[[nodiscard]] std::optional<std::filesystem::path> target_of_link(const std::filesystem::path& path, LinksOf trusted);

}  // namespace lanescope
