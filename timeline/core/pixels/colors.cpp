#include "timeline/core/pixels/colors.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace lanescope::timeline {
namespace {

std::uint32_t hash_of(std::string_view text) {  // FNV-1a, then mixed so that all bits matter
  std::uint32_t hash = 2166136261u;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619u;
  hash ^= hash >> 15;
  hash *= 0x2c1b3c6du;
  return hash ^ (hash >> 13);
}

// From 0 to 1; different for each `salt`.
double fraction(std::uint32_t hash, unsigned salt) { return static_cast<double>((hash >> (salt * 8)) & 0xff) / 255.0; }

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

struct Tone {
  double hue, saturation, lightness;
};

Rgb in_scheme(Tone tone, ColorScheme scheme) {
  if (scheme == ColorScheme::kDark) return from_hsl(tone.hue, tone.saturation * 0.88, tone.lightness * 0.96);
  return from_hsl(tone.hue, tone.saturation, std::min(1.0, tone.lightness * 1.06));
}

// The program's colour with less saturation: pure red or blue across whole rows would outshine everything else.
Rgb quieted(Rgb color, ColorScheme scheme) {
  const auto channel = [&](unsigned shift) { return static_cast<int>((color >> shift) & 0xff); };
  const auto [least, most] = std::minmax({channel(16), channel(8), channel(0)});
  const double vividness = static_cast<double>(most - least) / 255;
  return blend(color, scheme == ColorScheme::kDark ? 0xff5a6068u : 0xffd8dce0u, 0.12 + 0.30 * vividness);
}

Tone kernel_tone(std::uint32_t hash) { return {196 + 30 * fraction(hash, 0), 0.42 + 0.30 * fraction(hash, 1), 0.42 + 0.20 * fraction(hash, 2)}; }

Tone memory_tone(std::string_view name) {
  if (contains(name, "memset")) return {268, 0.14, 0.58};
  if (contains(name, "Host-to-Device") || contains(name, "HtoD") || contains(name, "Host-to-Array")) return {140, 0.42, 0.45};
  if (contains(name, "Device-to-Host") || contains(name, "DtoH") || contains(name, "Array-to-Host")) return {350, 0.62, 0.60};
  if (contains(name, "Peer")) return {292, 0.34, 0.56};
  if (contains(name, "Host-to-Host")) return {66, 0.34, 0.45};
  return {265, 0.42, 0.62};
}

Tone api_tone(std::string_view name, std::uint32_t hash) {
  if (contains(name, "Synchronize") || contains(name, "WaitEvent") || contains(name, "EventQuery")) return {38, 0.76, 0.55};
  if (contains(name, "Launch")) return {205, 0.30, 0.58};
  if (contains(name, "Memcpy")) return {165, 0.26, 0.52};
  if (contains(name, "Memset")) return {268, 0.14, 0.62};
  if (contains(name, "Malloc") || contains(name, "Free") || contains(name, "MemAlloc")) return {18, 0.36, 0.60};
  return {215, 0.08 + 0.08 * fraction(hash, 1), 0.56 + 0.12 * fraction(hash, 2)};
}

// The hash of a range's name without its numbers: "step 12" and "step 13", "aten::mm, op_id = 3" and "..., op_id = 4" have the same kind.
std::uint32_t hash_of_kind(std::string_view name) {
  name = name.substr(0, name.find(','));
  while (!name.empty() && ((name.back() >= '0' && name.back() <= '9') || name.back() == ' ' || name.back() == '_' || name.back() == '#')) name.remove_suffix(1);
  return hash_of(name);
}

Tone range_tone(std::string_view name) {
  const std::uint32_t hash = hash_of_kind(name);
  constexpr std::array<double, 10> kHues{172, 45, 262, 95, 322, 205, 25, 290, 130, 62};
  return {kHues[hash % kHues.size()], 0.26 + 0.16 * fraction(hash, 1), 0.58 + 0.10 * fraction(hash, 2)};
}

Tone os_runtime_tone(std::string_view name, std::uint32_t hash) {
  if (contains(name, "wait") || contains(name, "poll") || contains(name, "select") || contains(name, "sleep") || contains(name, "lock"))
    return {38, 0.42, 0.62};
  return {200, 0.10 + 0.10 * fraction(hash, 1), 0.55 + 0.12 * fraction(hash, 2)};
}

// Running stands out, waiting for a processor warns, blocked is calm.
Tone thread_state_tone(std::string_view name) {
  if (name == "Running") return {140, 0.45, 0.48};
  if (name == "Runnable") return {35, 0.80, 0.55};
  return {215, 0.08, 0.80};
}

// From 0 (black) to 1 (white): the relative luminance of a colour, as sRGB defines it.
double luminance(Rgb color) {
  const auto linear = [&](unsigned shift) {
    const double value = static_cast<double>((color >> shift) & 0xff) / 255;
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(16) + 0.7152 * linear(8) + 0.0722 * linear(0);
}

}  // namespace

Rgb from_hsl(double hue, double saturation, double lightness) noexcept {
  const double strength = saturation * std::min(lightness, 1 - lightness);
  const auto channel = [&](double offset) {
    const double k = std::fmod(offset + hue / 30, 12);
    const double value = lightness - strength * std::max(-1.0, std::min({k - 3, 9 - k, 1.0}));
    return static_cast<Rgb>(std::lround(std::clamp(value, 0.0, 1.0) * 255));
  };
  return 0xff000000u | channel(0) << 16 | channel(8) << 8 | channel(4);
}

Rgb event_color(TrackKind kind, std::string_view name, std::uint32_t nvtx_color, ColorScheme scheme) noexcept {
  const std::uint32_t hash = hash_of(name);
  switch (kind) {
    case TrackKind::kKernels:
      return in_scheme(kernel_tone(hash), scheme);
    case TrackKind::kMemory:
      return in_scheme(memory_tone(name), scheme);
    case TrackKind::kGraphLaunches:
      return in_scheme({188, 0.45, 0.45}, scheme);
    case TrackKind::kSynchronizations:
      return in_scheme({38, 0.76, 0.55}, scheme);
    case TrackKind::kCudaApi:
      return in_scheme(api_tone(name, hash), scheme);
    case TrackKind::kNvtxRanges:
    case TrackKind::kNvtxProcessRanges:
    case TrackKind::kNvtxMarks:
      if ((nvtx_color & 0xffffff) != 0) return quieted(nvtx_color | 0xff000000u, scheme);
      return in_scheme(range_tone(name), scheme);
    case TrackKind::kOsRuntime:
      return in_scheme(os_runtime_tone(name, hash), scheme);
    case TrackKind::kOverhead:
      return in_scheme({0, 0.28, 0.50}, scheme);
    case TrackKind::kCompilation:
      return in_scheme({28, 0.40, 0.50}, scheme);
    case TrackKind::kPageFaults:
      return in_scheme({330, 0.50, 0.50}, scheme);
    case TrackKind::kMemoryUsage:
      return in_scheme({300, 0.40, 0.50}, scheme);
    case TrackKind::kCudaEvents:
      return in_scheme({52, 0.60, 0.50}, scheme);
    case TrackKind::kThreadStates:
      return in_scheme(thread_state_tone(name), scheme);
    case TrackKind::kProcessors:
      return in_scheme({150, 0.25 + 0.20 * fraction(hash, 1), 0.50 + 0.15 * fraction(hash, 2)}, scheme);
    case TrackKind::kCpuSamples:
    case TrackKind::kBacktraces:
      return in_scheme({265, 0.30, 0.55}, scheme);
  }
  return in_scheme({0, 0, 0.5}, scheme);
}

Rgb call_color(CodeKind kind, std::string_view function, ColorScheme scheme) noexcept {
  const std::uint32_t hash = hash_of(function);
  const double shade = fraction(hash, 0);
  const double lightness = (scheme == ColorScheme::kDark ? 0.46 : 0.68) + 0.10 * shade;
  if (is_address_text(function) || function.empty()) return from_hsl(215, 0.08, lightness);
  switch (kind) {
    case CodeKind::kPython:
      return from_hsl(205 + 14 * shade, 0.46, lightness);
    case CodeKind::kKernel:
      return from_hsl(350, 0.40, lightness);
    case CodeKind::kGenerated:
      return from_hsl(140, 0.34, lightness);
    case CodeKind::kNative:
      break;
  }
  return from_hsl(24 + 22 * fraction(hash, 1), 0.62, lightness);
}

Rgb mixed_color(TrackKind kind, ColorScheme scheme) noexcept {
  switch (kind) {
    case TrackKind::kKernels:
      return in_scheme({212, 0.36, 0.58}, scheme);
    case TrackKind::kMemory:
      return in_scheme({200, 0.10, 0.55}, scheme);
    case TrackKind::kCudaApi:
      return in_scheme({208, 0.16, 0.60}, scheme);
    case TrackKind::kNvtxRanges:
    case TrackKind::kNvtxProcessRanges:
    case TrackKind::kNvtxMarks:
      return in_scheme({172, 0.16, 0.56}, scheme);
    default:
      return in_scheme({210, 0.06, 0.58}, scheme);
  }
}

Rgb blend(Rgb a, Rgb b, double share) noexcept {
  const auto weight = static_cast<Rgb>(std::lround(std::clamp(share, 0.0, 1.0) * 256));
  const auto channel = [&](unsigned shift) { return ((((a >> shift) & 0xff) * (256 - weight) + ((b >> shift) & 0xff) * weight) / 256) << shift; };
  return 0xff000000u | channel(16) | channel(8) | channel(0);
}

double contrast(Rgb a, Rgb b) noexcept {
  constexpr double kGlare = 0.05;  // of the surroundings, as in WCAG
  const double of_a = luminance(a) + kGlare, of_b = luminance(b) + kGlare;
  return std::max(of_a, of_b) / std::min(of_a, of_b);
}

Rgb text_color_on(Rgb background) noexcept {
  constexpr Rgb kBlack = 0xff000000u, kWhite = 0xffffffffu;
  return contrast(kBlack, background) >= contrast(kWhite, background) ? kBlack : kWhite;
}

}  // namespace lanescope::timeline
