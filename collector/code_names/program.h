// What lanescope-code-names does. Packages of the recorder have it within lanescope (packaging/portable/part_of_lanescope.cpp).
#pragma once

namespace lanescope::code_names {

// Its main().
int program(int count, char** arguments);

}  // namespace lanescope::code_names
