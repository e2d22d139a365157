#!/bin/bash
# Checks calls of NVIDIA's libraries as ranges, on a machine with a GPU and PyTorch: what -t cublas, cusolver, cusparse and cudnn and their -verbose forms
# record, and that they record nothing of the others. Use: libraries.sh [LANESCOPE]. Prints a line for each check, and the number that failed. About 1 minute.
lanescope=$(realpath "${1:-build/dev/bin/lanescope}")
folder=$(mktemp -d); cd "$folder" || exit 1
failures=0
cat > calls.py <<'P'
import torch
a = torch.rand(256, 256, device="cuda", dtype=torch.float32)
torch.backends.cuda.preferred_linalg_library("cusolver")
b = a @ a                                                   # cuBLAS
spd = b @ b.T + 256 * torch.eye(256, device="cuda")
torch.linalg.cholesky(spd)                                  # cuSOLVER
torch.linalg.eigh(spd)
(torch.eye(256, device="cuda").to_sparse_csr() @ a).sum()   # cuSPARSE
torch.nn.functional.conv2d(torch.rand(8, 16, 64, 64, device="cuda"), torch.rand(16, 16, 3, 3, device="cuda")).sum()   # cuDNN
torch.cuda.synchronize()
P
ranges() {  # ranges FILE DOMAIN: instances of its ranges
  "$lanescope" stats -q -r nvtx_sum -f csv "$1" 2>/dev/null | awk -F, -v domain="$2:" 'index($0, domain) { n += $3 } END { print n + 0 }'
}
record() {  # record NAME TRACE
  timeout 120 "$lanescope" profile -f -t "cuda,$2" --sample=none --cpuctxsw=none -o "$1" python3 calls.py > out 2> messages ||
    { echo "FAIL  $2: $(tail -1 messages)"; failures=$((failures + 1)); }
}
for pair in cublas:cuBLAS cusolver:cusolverDn cusparse:CUSPARSE cudnn:cuDNN; do
  trace=${pair%%:*} domain=${pair#*:}
  record "$trace" "$trace"
  own=$(ranges "$trace.trace" "$domain"); verbose=-
  if [ "$trace" != cudnn ]; then record "$trace-verbose" "$trace-verbose"; verbose=$(ranges "$trace-verbose.trace" "$domain"); fi
  others=0
  for other in cuBLAS cusolverDn CUSPARSE cuDNN; do [ $other = "$domain" ] || others=$((others + $(ranges "$trace.trace" $other))); done
  if [ "$own" -gt 0 ] && [ $others = 0 ] && { [ "$verbose" = - ] || [ "$verbose" -ge "$own" ]; }; then
    echo "PASS  -t $trace: $own ranges, verbose $verbose, of others 0"
  else
    echo "FAIL  -t $trace: $own ranges, verbose $verbose, of others $others"; failures=$((failures + 1))
  fi
  "$lanescope" stats -q -r nvtx_sum "$trace.trace" 2>/dev/null | head -6 | cut -c1-130
done
echo "$failures checks failed; files in $folder"
exit $failures
