#!/usr/bin/env python3
"""Writes names/*.json: the tensors of other projects' networks, name to shape, for tests/models/weights_map_test.cpp.

Needs torchvision 0.26, timm 1.0 and Keras 3 (any backend); run by hand. Keras' names are LAYER/VARIABLE, as its weights files have them.
"""
import json
import os
import pathlib

os.environ.setdefault("KERAS_BACKEND", "torch")
FOLDER = pathlib.Path(__file__).parent / "names"
TORCHVISION = ["alexnet", "convnext_tiny", "efficientnet_b0", "googlenet", "regnet_y_3_2gf", "resnet18", "squeezenet1_0",
               "vit_b_16"]
TIMM = {"resnet50": "resnet50", "densenet121": "densenet121", "inception_v3": "inception_v3", "vgg16": "vgg16",
        "efficientnet_b0": "efficientnet_b0", "mobilenet_v2": "mobilenetv2_100", "regnet_y_3_2gf": "regnety_032",
        "convnext_tiny": "convnext_tiny", "vit_b_16": "vit_base_patch16_224"}
KERAS = {"resnet50_v1": "ResNet50", "keras_resnet50": "ResNet50", "densenet121": "DenseNet121",
         "vgg16": "VGG16", "vgg19": "VGG19", "inception_v3": "InceptionV3", "keras_inception_v3": "InceptionV3"}


def torchvision_network(name):
    import torchvision
    return getattr(torchvision.models, name)(weights=None, **({"init_weights": False} if name == "googlenet" else {}))


def write(project, model, shapes):
    lines = [f"{json.dumps(name)}: {json.dumps(list(shape))}" for name, shape in shapes]
    (FOLDER / f"{project}_{model}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def main():
    import keras
    import timm
    FOLDER.mkdir(exist_ok=True)
    for model in TORCHVISION:
        write("torchvision", model, [(key, value.shape) for key, value in torchvision_network(model).state_dict().items()])
    for model, name in TIMM.items():
        state = timm.create_model(name, pretrained=False).state_dict()
        write("timm", model, [(key, value.shape) for key, value in state.items()])
    for model, name in KERAS.items():
        keras.backend.clear_session()  # numbers of unnamed layers start again
        network = getattr(keras.applications, name)(weights=None)
        write("keras", model, [(f"{layer.name}/{weight.name}", weight.shape) for layer in network.layers
                               for weight in layer.weights])


main()
