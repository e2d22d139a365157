// A library that is found by who knows where it lies.
extern "C" int neighbour() { return 1; }
