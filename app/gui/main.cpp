#include "application.h"

int main(int argc, char** argv) { return lanescope::ui::run_viewer(argc, argv); }
