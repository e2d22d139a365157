// A library that is found by callers that know its path.
extern "C" int neighbour() { return 1; }
