#include "kernels/count_columns.h"

#include <QObject>

namespace lanescope::ui {
namespace {

using kernels::Count;
using kernels::Counts;

constexpr double kWarp = 32;  // threads

// "33.6 M (4.5×)": the count, and its ratio to the ideal count.
QString over_ideal(std::uint64_t all, std::uint64_t ideal) {
  if (all == 0) return {};
  if (ideal == 0 || all <= ideal) return short_number(all);
  return QStringLiteral("%1 (%2×)").arg(short_number(all), QString::number(static_cast<double>(all) / static_cast<double>(ideal), 'f', 1));
}

}  // namespace

QString short_number(std::uint64_t number) {
  constexpr std::uint64_t kExact = 10'000;
  if (number < kExact) return QString::number(number);
  double value = static_cast<double>(number);
  for (const char16_t prefix : {u'k', u'M', u'G', u'T', u'P'}) {
    value /= 1000;
    if (value < 999.5) return QString::number(value, 'f', value < 9.995 ? 2 : value < 99.95 ? 1 : 0) + u' ' + QChar(prefix);
  }
  return QString::number(value, 'g', 3) + QStringLiteral(" P");
}

CountColumns::CountColumns(const Counts& all) {
  if (all.of(Count::kExecuted) > 0) columns_.push_back(Column::kExecuted);
  if (all.of(Count::kThreads) > 0 && all.of(Count::kExecuted) > 0) columns_.push_back(Column::kThreads);
  if (all.of(Count::kGlobalSectors) > 0) columns_.push_back(Column::kGlobal);
  if (all.of(Count::kSharedWavefronts) > 0) columns_.push_back(Column::kShared);
  if (all.of(Count::kLocalSectors) > 0) columns_.push_back(Column::kLocal);
}

QStringList CountColumns::titles() const {
  QStringList titles;
  for (const Column column : columns_) switch (column) {
      case Column::kExecuted:
        titles += QObject::tr("Executed");
        break;
      case Column::kThreads:
        titles += QObject::tr("Threads");
        break;
      case Column::kGlobal:
        titles += QObject::tr("Global sectors");
        break;
      case Column::kShared:
        titles += QObject::tr("Shared wavefronts");
        break;
      case Column::kLocal:
        titles += QObject::tr("Local sectors");
        break;
    }
  return titles;
}

std::vector<CodeNumber> CountColumns::numbers(const Counts& counts) const {
  std::vector<CodeNumber> numbers;
  const std::uint64_t executed = counts.of(Count::kExecuted);
  for (const Column column : columns_) switch (column) {
      case Column::kExecuted:
        numbers.push_back({executed == 0 ? QString() : short_number(executed), static_cast<double>(executed)});
        break;
      case Column::kThreads:
        numbers.push_back(executed == 0 ? CodeNumber()
                                        : CodeNumber{QString::number(counts.threads(), 'f', 1), static_cast<double>(executed) * (kWarp - counts.threads())});
        break;
      case Column::kGlobal:
        numbers.push_back({over_ideal(counts.of(Count::kGlobalSectors), counts.of(Count::kGlobalSectorsIdeal)), static_cast<double>(counts.excess_sectors())});
        break;
      case Column::kShared:
        numbers.push_back(
            {over_ideal(counts.of(Count::kSharedWavefronts), counts.of(Count::kSharedWavefrontsIdeal)), static_cast<double>(counts.excess_wavefronts())});
        break;
      case Column::kLocal:
        numbers.push_back({over_ideal(counts.of(Count::kLocalSectors), 0), static_cast<double>(counts.of(Count::kLocalSectors))});
        break;
    }
  return numbers;
}

}  // namespace lanescope::ui
