// The program lanescope-code-names. In packages of the recorder it is a part of lanescope (packaging/portable/part_of_lanescope.cpp).
#pragma once

namespace lanescope::code_names {

// Its main().
int program(int count, char** arguments);

}  // namespace lanescope::code_names
