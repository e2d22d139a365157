#include "base/files/editor.h"

#include <algorithm>
#include <array>

#include <QFileInfo>
#include <QObject>
#include <QProcess>

#include "collector/session/inheritance.h"

namespace lanescope::ui {

std::span<const EditorPreset> editor_presets() {
  static constexpr std::array<EditorPreset, 8> kPresets{{{"VS Code", "code --goto %f:%l"},
                                                         {"VSCodium", "codium --goto %f:%l"},
                                                         {"Sublime Text", "subl %f:%l"},
                                                         {"Kate", "kate --line %l %f"},
                                                         {"Qt Creator", "qtcreator -client %f:%l"},
                                                         {"CLion, PyCharm", "clion --line %l %f"},
                                                         {"Emacs", "emacsclient -n +%l %f"},
                                                         {"GVim", "gvim +%l %f"}}};
  return kPresets;
}

QString open_in_editor(const QString& command, const QString& file, std::uint32_t line) {
  const QFileInfo info(file);
  if (!info.isFile()) return QObject::tr("%1 is not on this machine. Name the folder of its sources in Source > Source folder.").arg(file);
  QStringList words = QProcess::splitCommand(command);
  if (words.isEmpty()) return QObject::tr("No editor is chosen. Choose one with View > Editor.");
  const bool has_file = std::any_of(words.begin() + 1, words.end(), [](const QString& word) { return word.contains(QStringLiteral("%f")); });
  if (!has_file) return QObject::tr("The command of the editor, %1, has no %f in it, where the file goes. Change it with View > Editor.").arg(command);
  const QString program = words.takeFirst();
  for (QString& word : words) {
    // The file is replaced last, because its name may contain %l.
    word.replace(QStringLiteral("%l"), QString::number(std::max<std::uint32_t>(1, line)));
    word.replace(QStringLiteral("%f"), info.absoluteFilePath());
  }
  QProcess process;
  process.setProgram(program);
  process.setArguments(words);
  process.setChildProcessModifier(session::give_back_inheritance);
  if (process.startDetached()) return {};
  return QObject::tr("%1 can't be started. Choose another editor with View > Editor.").arg(program);
}

}  // namespace lanescope::ui
