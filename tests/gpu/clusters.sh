#!/bin/bash
# Compares how many blocks of kernels in clusters a GPU holds with model/kernels/occupancy.cpp, on a machine with a GPU of compute capability 9.0 and nvcc.
# Use: clusters.sh. Prints a line for each shape, and the number of wrong ones at the end. Takes some seconds.
here=$(dirname "$(realpath "$0")")
program=$(mktemp)
nvcc -arch=sm_90 -O2 -o "$program" "$here/clusters.cu" || exit 1
"$program"
status=$?
rm -f "$program"
exit $status
