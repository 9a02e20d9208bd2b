#!/usr/bin/env bash
# Makes grey images with 14 findings each, in the layout of ChestX-ray14, and trains on them as CheXNet does.
set -euo pipefail
mkdir -p tandem-example-xrays && cd tandem-example-xrays
[ -d xrays ] || tandem data make xrays --container=chestxray14 --from=/usr/share/datasets/fashion-mnist \
  --images=2000+500+1000 --size=128x128
tandem data inspect xrays

# Patients are split into training, validation and test images. The validation images say which weights are the best,
# the test images are judged at the end.
tandem train --model=resnet18 --head=14xsigmoid --data=xrays --image-size=64 --resize=72 \
  --augment=resize:72+random_crop:64+flip --epochs=4 --batch=32 --optimizer=adam --lr=0.001 --replicas=2 \
  --save-scores=scores.safetensors --checkpoint=run --resume=auto
tandem eval --model=resnet18 --head=14xsigmoid --data=xrays --image-size=64 --resize=72 \
  --weights=run/best.safetensors --replicas=2
