// What lanescope-kernel-metrics does. Packages of the recorder have it within lanescope (packaging/portable/part_of_lanescope.cpp).
#pragma once

namespace lanescope::kernel_metrics {

// Its main().
int program(int count, char** arguments);

}  // namespace lanescope::kernel_metrics
