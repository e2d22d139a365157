#include "fleet/fleet_file.h"
#include "base/text/texts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

namespace lanescope::ui {
namespace {

constexpr qint64 kMostBytes = qint64{256} << 20;
constexpr int kVersion = 1;
constexpr double kMostTime = 9e18;  // ns: fits into Nanoseconds

Nanoseconds time_of(const QJsonArray& times, qsizetype place, Nanoseconds unknown) {
  const double said = times.at(place).toDouble(static_cast<double>(unknown));
  return std::abs(said) < kMostTime ? times.at(place).toInteger(unknown) : unknown;
}

// Cells without a time are unknown.
FleetSource source_of(const QJsonObject& said, const QDir& folder) {
  FleetSource source;
  const QString file = said[u"file"].toString();
  if (!file.isEmpty()) source.file = QDir::cleanPath(folder.absoluteFilePath(file));
  const QJsonArray begin = said[u"begin"].toArray(), end = said[u"end"].toArray(), shift = said[u"shift"].toArray();
  for (qsizetype i = 0; i < begin.size(); ++i) {
    FleetSource::Cell cell;
    const TimeRange time{time_of(begin, i, -1), time_of(end, i, -1)};
    if (time.begin >= 0 && time.begin < time.end) cell = {time, time_of(shift, i, 0)};
    source.cells.push_back(cell);
  }
  return source;
}

Result<FleetMap> map_of(const QJsonObject& said, const std::vector<std::shared_ptr<const FleetSource>>& sources) {
  FleetMap map{said[u"title"].toString(), said[u"unit"].toString(), {}, {}};
  for (const auto& column : said[u"columns"].toArray()) map.columns += column.toString();
  for (const auto& each : said[u"rows"].toArray()) {
    const QJsonObject row = each.toObject();
    const QJsonArray values = row[u"values"].toArray();
    if (values.size() != map.columns.size())
      return Error{tr("a row of it has %1 values for %2 columns").arg(values.size()).arg(map.columns.size()).toStdString()};
    FleetRow added{row[u"label"].toString(), nullptr, {}};
    const auto source = static_cast<std::size_t>(row[u"source"].toInteger(-1));
    if (source < sources.size() && !sources[source]->file.isEmpty()) added.source = sources[source];
    added.values.reserve(static_cast<std::size_t>(values.size()));
    for (const auto& value : values) added.values.push_back(value.toDouble(std::numeric_limits<double>::quiet_NaN()));
    map.rows.push_back(std::move(added));
  }
  return map;
}

Result<FleetFile> fleet_of(const QJsonObject& said, const QDir& folder) {
  if (said[u"format"].toString() != u"lanescope fleet") return Error{tr("it is not an answer of lanescope fleet").toStdString()};
  if (said[u"version"].toInt() != kVersion)
    return Error{tr("it has version %1, and this viewer reads version %2").arg(said[u"version"].toInt()).arg(kVersion).toStdString()};
  FleetFile fleet{said[u"recipe"].toString(), {}, {}};
  for (const auto& sentence : said[u"sentences"].toArray()) fleet.sentences += sentence.toString();
  std::vector<std::shared_ptr<const FleetSource>> sources;
  for (const auto& source : said[u"sources"].toArray()) sources.push_back(std::make_shared<FleetSource>(source_of(source.toObject(), folder)));
  for (const auto& each : said[u"maps"].toArray()) {
    Result<FleetMap> map = map_of(each.toObject(), sources);
    if (!map) return map.error();
    if (!map->rows.empty() && !map->columns.isEmpty()) fleet.maps.push_back(std::move(*map));
  }
  if (fleet.maps.empty()) return Error{tr("there is no picture of ranks in it; straggler and cuda_gpu_time_util_map have some").toStdString()};
  return fleet;
}

Error failure(const QString& path, const QString& reason) {
  return Error{tr("%1 can't be shown: %2. Name the file fleet.json that lanescope fleet writes with -o.").arg(path, reason).toStdString()};
}

}  // namespace

bool is_fleet_file(const QString& path) {
  constexpr qint64 kBeginning = 256;
  QFile file(path);
  return QFileInfo(path).isFile() && file.open(QIODevice::ReadOnly) && file.read(kBeginning).contains("\"lanescope fleet\"");
}

Result<FleetFile> read_fleet_file(const QString& path) {
  // Reading a pipe or a device could block, or never end.
  if (const QFileInfo facts(path); facts.exists() && !facts.isFile()) return failure(path, tr("it is not a regular file"));
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return failure(path, file.errorString());
  const QByteArray text = file.read(std::min(file.size(), kMostBytes) + 1);  // which takes memory for as much as it is asked for
  if (text.size() > kMostBytes) return failure(path, tr("it is larger than 256 MiB"));
  QJsonParseError wrong;
  const QJsonDocument document = QJsonDocument::fromJson(text, &wrong);
  if (!document.isObject()) return failure(path, document.isNull() ? wrong.errorString() : tr("it is not a JSON object"));
  Result<FleetFile> fleet = fleet_of(document.object(), QFileInfo(path).absoluteDir());
  if (!fleet) return failure(path, QString::fromStdString(fleet.error().text));
  return fleet;
}

}  // namespace lanescope::ui
