#include "launch/launch_settings.h"

#include <QDir>
#include <QProcess>

namespace lanescope::ui {

Result<session::LaunchRequest> launch_request(const LaunchSettings& settings) {
  if (settings.program.trimmed().isEmpty()) return Error{"Name the program to record.", ErrorKind::kUsage};
  session::LaunchRequest request;
  request.command.push_back(settings.program.trimmed().toStdString());
  for (const QString& argument : QProcess::splitCommand(settings.arguments)) request.command.push_back(argument.toStdString());
  request.working_directory = settings.working_directory.toStdString();
  for (const QString& line : settings.environment) {
    if (line.trimmed().isEmpty()) continue;
    const qsizetype equals = line.indexOf(u'=');
    if (equals <= 0) return Error{"The environment has a line that is not NAME=VALUE: \"" + line.toStdString() + "\".", ErrorKind::kUsage};
    request.environment.push_back({line.left(equals).trimmed().toStdString(), line.mid(equals + 1).toStdString()});
  }
  request.settings.trace_cuda = settings.trace_cuda;
  request.settings.trace_nvtx = settings.trace_nvtx;
  request.settings.preset = settings.preset;
  request.target_output = session::TargetOutput::kStore;
  const QString output = settings.output.trimmed().isEmpty() ? QStringLiteral("report%n.trace") : settings.output.trimmed();
  const QDir folder(settings.working_directory.isEmpty() ? QDir::currentPath() : settings.working_directory);
  request.output = QDir::cleanPath(folder.absoluteFilePath(output)).toStdString();
  return request;
}

}  // namespace lanescope::ui
