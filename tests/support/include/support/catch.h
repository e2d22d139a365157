// Catch2, whichever major version is installed: Debian 12 has 2, Ubuntu 24.04 has 3.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
