#!/usr/bin/env bash
# Interrupts a training, lets it go on, and compares its weights with those of one that was left alone.
set -euo pipefail
mkdir -p tandem-example-go_on && cd tandem-example-go_on
rm -rf run whole.safetensors resumed.safetensors
training=(tandem train --model=lenet5 --data=/usr/share/datasets/fashion-mnist --epochs=1 --batch=64 --replicas=2
  --lr=0.02 --schedule=cosine)

"${training[@]}" --save-weights=whole.safetensors

# SIGTERM ends it with a checkpoint and exit code 75, as a scheduler's signal would.
"${training[@]}" --checkpoint=run --resume=auto --save-weights=resumed.safetensors &
sleep 5
kill -TERM $!
wait $! || echo "exit code $?"

"${training[@]}" --checkpoint=run --resume=auto --save-weights=resumed.safetensors
cmp whole.safetensors resumed.safetensors && echo "the weights are equal to the bit"
