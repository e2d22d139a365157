// Links at places for new files. Internal to model/file.
#pragma once

#include <filesystem>
#include <optional>

namespace lanescope {

inline constexpr int kMostLinks = 8;  // followed one after another

enum class LinksOf { kThisUser, kThisUserAndRoot };

// The target of a link that belongs to one of the trusted users, read from the link that was checked. Nothing if it is no such link.
[[nodiscard]] std::optional<std::filesystem::path> target_of_link(const std::filesystem::path& path, LinksOf trusted);

}  // namespace lanescope
