// Opens a source file in the user's editor, at a line.
#pragma once

#include <cstdint>
#include <span>

#include <QString>

namespace lanescope::ui {

// A command line. %f stands for the file and %l for the line. Quotes keep the words of an argument together; no shell reads the command.
struct EditorPreset {
  const char* name;     // "VS Code"
  const char* command;  // "code --goto %f:%l"
};
[[nodiscard]] std::span<const EditorPreset> editor_presets();

// Starts the command, which outlives this process. Returns an empty text, or a sentence that says why it failed: there is no such file, the path is not a file,
// or the command names no program.
[[nodiscard]] QString open_in_editor(const QString& command, const QString& file, std::uint32_t line);

}  // namespace lanescope::ui
