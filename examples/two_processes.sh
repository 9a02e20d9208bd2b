#!/usr/bin/env bash
# Trains with two replicas: in one process, in two of this program, and in two that a launcher starts.
set -euo pipefail
mkdir -p tandem-example-two_processes && cd tandem-example-two_processes
training=(tandem train --model=lenet5 --data=/usr/share/datasets/fashion-mnist --epochs=1 --batch=64 --lr=0.02
  --cores-per-replica=1)

"${training[@]}" --replicas=2 --save-weights=one.safetensors
"${training[@]}" --replicas=1 --ranks=2 --save-weights=two.safetensors
tandem launch -n 2 -- "${training[@]:1}" --replicas=1 --save-weights=launched.safetensors
cmp one.safetensors two.safetensors && cmp one.safetensors launched.safetensors && echo "the weights are equal to the bit"
