// The call chains that samples and backtraces of a trace refer to.
//
// A chain is named by a CallNodeId: its innermost call, which knows its caller, and so on to the outermost. Chains share their outer parts, so a
// million samples of one loop need few nodes. A call is at a code location. A location has one function, or several if the compiler inlined them into
// each other.
//
// A copy is a snapshot that shares its tables. Names of native code may come after the chains themselves, when a recording ends; only later snapshots
// have them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "model/trace/storage/append_only_table.h"
#include "model/trace/types.h"

namespace lanescope {

enum class CodeKind : std::uint8_t { kNative = 0, kKernel = 1, kPython = 2, kGenerated = 3 };  // numbers of proto::CodeKind

struct CodeFunction {
  NameId function = 0;     // never 0: if it is not known, it reads like "libcudart.so.13+0x1f2a0"
  NameId source_file = 0;  // 0 if not known
  std::uint32_t source_line = 0;
  auto operator<=>(const CodeFunction&) const = default;
};

struct CodeLocation {
  CodeKind kind = CodeKind::kNative;
  NameId module = 0;          // path of the file that holds the code; 0 for code in no file
  NameId build_id = 0;        // hexadecimal; 0 if not known
  std::uint64_t address = 0;  // as the file's symbol table counts; 0 for Python
  auto operator<=>(const CodeLocation&) const = default;
};

struct CallNode {
  CallNodeId parent = 0;  // smaller than the node's own id; 0 for the outermost call
  CodeLocationId location = 0;
  auto operator<=>(const CallNode&) const = default;
};

class CallStacks {
 public:
  // Ids start at 1; index 0 stands for nothing in both tables.
  [[nodiscard]] std::size_t node_count() const noexcept { return nodes_.size(); }
  [[nodiscard]] std::size_t location_count() const noexcept { return locations_.size(); }

  // Requires: id < node_count(), id < location_count().
  [[nodiscard]] const CallNode& node(CallNodeId id) const noexcept { return nodes_[id]; }
  [[nodiscard]] const CodeLocation& location(CodeLocationId id) const noexcept { return locations_[id]; }
  // Innermost first; at least one for every location but 0.
  [[nodiscard]] std::span<const CodeFunction> functions(CodeLocationId id) const noexcept { return functions_->of(id); }
  // Locations of a chain, innermost first. O(depth).
  [[nodiscard]] std::vector<CodeLocationId> chain(CallNodeId id) const;

 private:
  friend class CallStackBuilder;
  friend class TraceCombiner;
  // The functions of all locations, one location after the other: nearly all locations have one.
  class Functions {
   public:
    [[nodiscard]] std::span<const CodeFunction> of(CodeLocationId id) const noexcept {
      if (id >= ends_.size()) return {};
      const std::uint32_t begin = id == 0 ? 0 : ends_[id - 1];
      return std::span(all_).subspan(begin, ends_[id] - begin);
    }
    // Adds the functions of the next location.
    void append(std::span<const CodeFunction> functions) {
      all_.insert(all_.end(), functions.begin(), functions.end());
      ends_.push_back(static_cast<std::uint32_t>(all_.size()));
    }
    // Locations below this number that have no functions yet get none.
    void pad(std::size_t locations) {
      if (locations > ends_.size()) ends_.resize(locations, static_cast<std::uint32_t>(all_.size()));
    }
    void reserve(std::size_t locations, std::size_t functions) {
      ends_.reserve(locations);
      all_.reserve(functions);
    }

   private:
    std::vector<std::uint32_t> ends_;  // end of each location's functions
    std::vector<CodeFunction> all_;
  };
  AppendOnlyTable<CallNode> nodes_;
  AppendOnlyTable<CodeLocation> locations_;
  std::shared_ptr<const Functions> functions_ = std::make_shared<const Functions>();
};

// True if a function's name only tells where the code is, because no function is known: "libcudart.so.13+0x1f2a0", "0x7f3c88001234".
[[nodiscard]] bool is_address_text(std::string_view function) noexcept;

}  // namespace lanescope
