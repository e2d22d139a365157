// Opens a source file in the user's editor, at a line.
#pragma once

#include <cstdint>
#include <span>

#include <QString>

namespace lanescope::ui {

// A command line with %f in the place of the file and %l in that of the line. Quotes hold arguments together; no shell reads it.
struct EditorPreset {
  const char* name;     // "VS Code"
  const char* command;  // "code --goto %f:%l"
};
[[nodiscard]] std::span<const EditorPreset> editor_presets();

// Starts the command, which outlives this process. Empty, or a sentence that says why not: the file is not there, is no file, or the command names
// no program.
[[nodiscard]] QString open_in_editor(const QString& command, const QString& file, std::uint32_t line);

}  // namespace lanescope::ui
