// The program lanescope-kernel-metrics. In packages of the recorder it is a part of lanescope (packaging/portable/part_of_lanescope.cpp).
#pragma once

namespace lanescope::kernel_metrics {

// Its main().
int program(int count, char** arguments);

}  // namespace lanescope::kernel_metrics
