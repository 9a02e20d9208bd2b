#!/usr/bin/env bash
# Trains ResNet-20 on Fashion-MNIST, judges its weights, and shows what it makes of the test images.
set -euo pipefail
mkdir -p tandem-example-fashion_mnist && cd tandem-example-fashion_mnist
data=/usr/share/datasets/fashion-mnist

# The recipe has twenty epochs; three show the course. What is typed takes the place of the recipe's options.
tandem train --recipe=fashion-mnist --data=$data --epochs=3 --replicas=2 --batch=64 \
  --checkpoint=run --resume=auto --page=training.html

# Loss, accuracy, and which classes are taken for which.
tandem eval --model=resnet20 --data=$data --weights=run/best.safetensors --replicas=2

# The page has the curves: open training.html in a browser.
