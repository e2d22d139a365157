#!/bin/bash
# How many blocks of kernels in clusters a GPU holds, beside what model/kernels/occupancy.cpp says, on a machine with a GPU of compute capability 9.0 and nvcc.
# Use: clusters.sh. Prints a line for each shape, and ends with the number of those that it is wrong about. Takes some seconds.
here=$(dirname "$(realpath "$0")")
program=$(mktemp)
nvcc -arch=sm_90 -O2 -o "$program" "$here/clusters.cu" || exit 1
"$program"
status=$?
rm -f "$program"
exit $status
