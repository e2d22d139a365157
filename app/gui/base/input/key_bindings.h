// Which keys run which commands: the defaults of the viewer, except the keys that the user chose, which settings keep. All windows of the process share them.
//
// Threads: the GUI thread only.
#pragma once

#include <vector>

#include <QKeySequence>
#include <QList>
#include <QObject>
#include <QString>

namespace lanescope::ui {

class KeyBindings : public QObject {
  Q_OBJECT

 public:
  using Keys = QList<QKeySequence>;
  struct Command {
    QString id;    // in settings; the same in every language
    QString text;  // "Go to a time"
    Keys at_first;
  };

  [[nodiscard]] static KeyBindings& ofProcess();

  void add(const Command& command);                                                 // a command that is known already stays unchanged
  [[nodiscard]] const std::vector<Command>& commands() const { return commands_; }  // in the order of add()
  [[nodiscard]] Keys keys(const QString& id) const;

  // From now on only this key runs the command; an empty key: none does. Returns an empty text, or a sentence that says why it failed: another command has the
  // key.
  [[nodiscard]] QString choose(const QString& id, const QKeySequence& key);
  [[nodiscard]] QString reset(const QString& id);  // to the default; fails in the same way
  void resetAll();

 signals:
  void changed();

 private:
  [[nodiscard]] const Command* find(const QString& id) const;
  [[nodiscard]] QString refusal(const Command& command, const Keys& keys) const;
  std::vector<Command> commands_;
};

}  // namespace lanescope::ui
