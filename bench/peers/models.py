"""The networks that are compared. All facts of a model stand here, for every contender."""
from dataclasses import dataclass
from typing import Callable


def torchvision_model(name):
    """torchvision's own definition, with its dropout."""
    def build():
        import torchvision
        return getattr(torchvision.models, name)(weights=None)
    return build


def cifar_resnet(blocks_per_stage):
    def build():
        from cifar_resnet import CifarResNet
        return CifarResNet(blocks_per_stage)
    return build


@dataclass(frozen=True)
class Model:
    size: int            # height and width of an image
    classes: int
    batch: int           # global: over all replicas
    lr: float            # learning rate
    warmup: int          # steps before the measurement
    steps: int           # measured fp32 steps, 10 to 20 s on two cores; bf16 takes twice as many
    step_s: float        # rough seconds of an fp32 step on two cores; like compile_s only for the estimate of --help
    compile_s: float     # rough seconds of torch.compile in each run, once its cache is filled
    build: Callable      # the PyTorch network
    tensorflow: tuple    # how tf_cnn_benchmarks names it; empty where it is no peer
    auxiliary: float = 0.0    # weight in the loss of each auxiliary head


STANDARD = {
    "resnet50": Model(224, 1000, 32, 0.01, 2, 4, 4.3, 45, torchvision_model("resnet50"), ("--model=resnet50_v1.5",)),
    "vgg16": Model(224, 1000, 16, 0.005, 2, 2, 8.0, 15, torchvision_model("vgg16"), ("--model=vgg16",)),
    "alexnet": Model(224, 1000, 32, 0.005, 3, 20, 0.7, 15, torchvision_model("alexnet"), ("--model=alexnet",)),
    "resnet20": Model(32, 10, 128, 0.1, 15, 70, 0.22, 18, cifar_resnet(3), ("--model=resnet20", "--data_name=cifar10")),
    "resnet110": Model(32, 10, 128, 0.1, 3, 10, 1.4, 90, cifar_resnet(18), ("--model=resnet110", "--data_name=cifar10")),
}


def of_torchvision(name, step_s, size=224, **more):
    """A network at batch 16, in runs of some ten seconds."""
    steps = max(2, round(10 / step_s))
    return Model(size, 1000, 16, 0.01, 2, steps, step_s, 60, torchvision_model(name), (), **more)


# Only by name: what else the catalog and torchvision both have.
MODELS = STANDARD | {name: of_torchvision(name, step_s) for name, step_s in {
    "densenet121": 1.9, "densenet169": 2.4, "densenet201": 3.2, "mobilenet_v2": 0.8, "resnet18": 0.9, "resnet34": 1.6,
    "resnet101": 4.0, "resnet152": 5.5, "resnext50_32x4d": 2.7, "wide_resnet50_2": 5.0, "vgg11": 4.0, "vgg13": 6.0,
    "vgg19": 10.0, "squeezenet1_0": 0.8, "squeezenet1_1": 0.5, "efficientnet_b0": 1.3, "regnet_y_3_2gf": 2.2,
    "convnext_tiny": 3.5, "vit_b_16": 8.0}.items()}
MODELS["inception_v3"] = of_torchvision("inception_v3", 3.0, size=299, auxiliary=0.4)
MODELS["googlenet"] = of_torchvision("googlenet", 1.2, auxiliary=0.3)
