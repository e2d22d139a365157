// What is known of a kernel, as text.
#pragma once

#include <QPalette>
#include <QString>
#include <QStringList>

#include "kernels/kernel_facts.h"
#include "model/kernels/counters/sections.h"

namespace lanescope::ui {

inline constexpr char kSourceLink[] = "source:";  // and a place in the source, percent-encoded: where links of the text lead

// "3.2 TFLOP/s".
[[nodiscard]] QString operations_text(double a_second);

// "43.1 %", "2.35 ms", "1.2 MB": what a counter says of a kernel, for a QTextBrowser or as plain text.
[[nodiscard]] QString value_text(double value, kernels::ValueUnit unit);

// For a QTextBrowser; numbers stand beside those of the baseline where there is one (null: none).
[[nodiscard]] QString kernel_html(const KernelFacts& facts, const KernelFacts* baseline, const QPalette& palette);

// The command that reads the counters of this launch into a file: `lanescope` with these arguments.
[[nodiscard]] QStringList counters_command(const KernelFacts& facts, const QString& file);

}  // namespace lanescope::ui
