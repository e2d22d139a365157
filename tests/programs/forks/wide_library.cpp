// A library with 16 MiB of data that nobody reads.
__asm__(".pushsection .data\n.byte 1\n.zero 16777216\n.popsection");
