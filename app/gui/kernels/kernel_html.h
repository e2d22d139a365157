// Facts about a kernel as text.
#pragma once

#include <QPalette>
#include <QString>
#include <QStringList>

#include "kernels/kernel_facts.h"
#include "model/kernels/counters/sections.h"

namespace lanescope::ui {

inline constexpr char kSourceLink[] = "source:";  // followed by a place in the source, percent-encoded: the targets of links in the text

// "3.2 TFLOP/s".
[[nodiscard]] QString operations_text(double a_second);

// "43.1 %", "2.35 ms", "1.2 MB": the value of a counter, for a QTextBrowser or as plain text.
[[nodiscard]] QString value_text(double value, kernels::ValueUnit unit);

// For a QTextBrowser; numbers are beside those of the baseline if there is one (null: none).
[[nodiscard]] QString kernel_html(const KernelFacts& facts, const KernelFacts* baseline, const QPalette& palette);

// The arguments of `lanescope` for reading the counters of this launch into a file.
[[nodiscard]] QStringList counters_command(const KernelFacts& facts, const QString& file);

}  // namespace lanescope::ui
