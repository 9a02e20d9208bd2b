#!/usr/bin/env python3
"""Writes a PyTorch module as a network file of Tandem (docs/NETWORK_FILE.md) and its weights as safetensors.

Usage: export_torch.py MODULE:CALLABLE [--out=NAME] [--image-size=N] [--argument=KEY=VALUE ...] [--state=FILE] [--onnx]
       export_torch.py torchvision.models:resnet18 --out net --argument weights=IMAGENET1K_V1

CALLABLE returns the module; MODULE is importable, or the path of a .py file, which is executed. Writes NAME.json and
NAME.safetensors. Names of parameters and statistics are those of the state dict. --train traces the module in training
mode, where networks such as GoogLeNet give auxiliary outputs: the first output is the network's, the others are auxiliary
values with --auxiliary-weight. Needs torch 2 and safetensors. What Tandem has no operation for is refused with one line.

--onnx writes NAME.onnx instead, with the weights in it, by PyTorch's exporter; it needs onnx. Tandem's reader also knows
attention, layer norm and shuffled channels, which consist of several calls in PyTorch.

Exit: 0 written, 2 wrong usage, 3 a module that cannot be exported.
"""
import argparse
import contextlib
import importlib
import importlib.util
import io
import json
import operator
import pathlib
import shlex
import sys
import warnings

try:
    import torch
    import torch.nn.functional as F
    from torch import fx, nn
except ImportError as missing:
    sys.exit(f"export_torch.py: {missing}; it needs PyTorch: pip install torch safetensors")

FORMAT, VERSION = "tandem-network", 1
CHANNELS = 3  # of an image: red, green, blue


class Unsupported(Exception):
    pass


def pair(value):
    return list(value) if isinstance(value, (tuple, list)) else [value, value]


def short(values):
    """One number where all are equal."""
    return values[0] if len(set(values)) == 1 else list(values)


def require(holds, text):
    if not holds:
        raise Unsupported(text)


def window(kernel, stride, padding, dilation=1):
    require(set(pair(dilation)) == {1}, f"dilation {dilation}; it must be 1")
    (top, left) = pair(padding)
    sizes = {"kernel": short(pair(kernel)), "stride": short(pair(stride if stride not in (None, []) else kernel))}
    return {**sizes, "padding": short([top, top, left, left])}


def convolution(m):
    require(m.padding_mode == "zeros", f"padding_mode '{m.padding_mode}'; it must be 'zeros'")
    padding = m.padding
    if padding == "valid":
        padding = 0
    require(padding != "same" or all(k % 2 for k in m.kernel_size), "padding 'same' of an even kernel")
    if padding == "same":
        padding = [k // 2 for k in m.kernel_size]
    attributes = window(m.kernel_size, m.stride, padding, m.dilation)
    return "conv", {"outputs": m.out_channels, **attributes, "groups": m.groups, "bias": m.bias is not None}


def batch_norm(m):
    require(m.affine and m.track_running_stats, "batch-norm without scale and shift, or without running statistics")
    require(m.momentum is not None, "batch-norm with a cumulative average")
    return "batch_norm", {"epsilon": m.eps, "momentum": m.momentum}


def average(kernel, stride, padding, ceil_mode, count_include_pad, divisor):
    require(divisor is None, "an average with a divisor of its own")
    require(count_include_pad or set(pair(padding)) == {0}, "an average that does not count padding")
    return "avg_pool", {**window(kernel, stride, padding), "ceil_mode": ceil_mode}


def adaptive(size, shape):
    size = [s if s is not None else shape[i + 2] for i, s in enumerate(pair(size))]
    return ("global_avg_pool", {}) if size == [1, 1] else ("adaptive_avg_pool", {"output_size": short(size)})


def response_norm(size, alpha, beta, k):
    require(k == 1 and size % 2 == 1, f"local response normalisation with k {k} and size {size}; k must be 1, size odd")
    return "local_response_norm", {"radius": size // 2, "alpha": alpha / size, "beta": beta}


def flatten(start, end, shape):
    require(start == 1 and end in (-1, len(shape) - 1), f"flatten from {start} to {end}; it must be all but the batch")
    return "flatten", {}


def maximum(kernel, stride, padding, dilation, ceil_mode):
    return "max_pool", {**window(kernel, stride, padding, dilation), "ceil_mode": ceil_mode}


GELU = {"none": "gelu", "tanh": "gelu_tanh"}


def stochastic_depth(p, mode):
    require(mode == "row", f"stochastic depth of mode '{mode}'; it must be 'row'")
    return "stochastic_depth", {"probability": p}


# type of module -> (module, shape of its input) -> operation and attributes; "" passes its input on
MODULES = {
    nn.Conv2d: lambda m, s: convolution(m),
    nn.Linear: lambda m, s: ("linear", {"outputs": m.out_features, "bias": m.bias is not None}),
    nn.BatchNorm2d: lambda m, s: batch_norm(m),
    nn.ReLU: lambda m, s: ("relu", {}),
    nn.ReLU6: lambda m, s: ("relu6", {}),
    nn.SiLU: lambda m, s: ("silu", {}),
    nn.Sigmoid: lambda m, s: ("sigmoid", {}),
    nn.GELU: lambda m, s: (GELU[m.approximate], {}),
    nn.MaxPool2d: lambda m, s: maximum(m.kernel_size, m.stride, m.padding, m.dilation, m.ceil_mode),
    nn.AvgPool2d: lambda m, s: average(m.kernel_size, m.stride, m.padding, m.ceil_mode, m.count_include_pad,
                                       m.divisor_override),
    nn.AdaptiveAvgPool2d: lambda m, s: adaptive(m.output_size, s),
    nn.Dropout: lambda m, s: ("dropout", {"probability": m.p}),
    nn.Flatten: lambda m, s: flatten(m.start_dim, m.end_dim, s),
    nn.LocalResponseNorm: lambda m, s: response_norm(m.size, m.alpha, m.beta, m.k),
    nn.Identity: lambda m, s: ("", {}),
}


def called(defaults):
    """Arguments of a function call by name, from positions, keywords and defaults (name -> default)."""
    def take(arguments, keywords):
        given = dict(zip(defaults, arguments)) | keywords
        unknown = set(given) - set(defaults)
        require(not unknown, f"argument {', '.join(sorted(unknown))}")
        return {**defaults, **given}
    return take


POOL = called({"kernel": None, "stride": None, "padding": 0, "ceil_mode": False, "count_include_pad": True,
               "divisor_override": None})
MAX_POOL = called({"kernel": None, "stride": None, "padding": 0, "dilation": 1, "ceil_mode": False,
                   "return_indices": False})


def average_call(arguments, keywords, shape):
    a = POOL(arguments, {("kernel" if k == "kernel_size" else k): v for k, v in keywords.items()})
    return average(a["kernel"], a["stride"], a["padding"], a["ceil_mode"], a["count_include_pad"],
                   a["divisor_override"])


def maximum_call(arguments, keywords, shape):
    a = MAX_POOL(arguments, {("kernel" if k == "kernel_size" else k): v for k, v in keywords.items()})
    return maximum(a["kernel"], a["stride"], a["padding"], a["dilation"], a["ceil_mode"])


def dropout_call(arguments, keywords, shape):
    a = called({"p": 0.5, "training": True, "inplace": False})(arguments, keywords)
    return "dropout", {"probability": a["p"]}


def flatten_call(arguments, keywords, shape):
    a = called({"start_dim": 0, "end_dim": -1})(arguments, keywords)
    return flatten(a["start_dim"], a["end_dim"], shape)


def adaptive_call(arguments, keywords, shape):
    return adaptive(called({"output_size": None})(arguments, keywords)["output_size"], shape)


def without_arguments(operation):
    def convert(arguments, keywords, shape):
        called({"inplace": False})(arguments, keywords)
        return operation, {}
    return convert


def mean_call(arguments, keywords, shape):
    a = called({"dim": None, "keepdim": False})(arguments, keywords)
    dims = sorted(d % len(shape) for d in pair(a["dim"])) if a["dim"] is not None else None
    require(dims == [2, 3], f"mean over {a['dim']}; it must be over height and width")
    return "global_avg_pool", {}


def view_call(arguments, keywords, shape):
    sizes = list(arguments[0]) if len(arguments) == 1 and isinstance(arguments[0], (tuple, list)) else list(arguments)
    # A batch size is a node of the graph (x.size(0)); the shape that comes out is checked by what reads it.
    require(len(sizes) == 2 and not keywords, "a view that is no flatten to [N, -1]")
    return "flatten", {}


def depth_call(arguments, keywords, shape):
    a = called({"p": None, "mode": None, "training": True})(arguments, keywords)
    return stochastic_depth(a["p"], a["mode"])


# function or name of a method -> (arguments after the tensor, keywords, its shape) -> operation and attributes
CALLS = {
    F.relu: without_arguments("relu"), torch.relu: without_arguments("relu"), "relu": without_arguments("relu"),
    F.relu6: without_arguments("relu6"), F.silu: without_arguments("silu"),
    torch.sigmoid: without_arguments("sigmoid"), F.sigmoid: without_arguments("sigmoid"),
    "sigmoid": without_arguments("sigmoid"),
    F.avg_pool2d: average_call, F.max_pool2d: maximum_call, F.adaptive_avg_pool2d: adaptive_call,
    F.dropout: dropout_call, torch.flatten: flatten_call, "flatten": flatten_call,
    torch.mean: mean_call, "mean": mean_call, "view": view_call, "reshape": view_call,
}
SUMS = (operator.add, operator.iadd, torch.add, "add", "add_")
PRODUCTS = (operator.mul, operator.imul, torch.mul, "mul", "mul_")
IN_PLACE = (operator.iadd, operator.imul, "add_", "mul_")
IN_PLACE_ARGUMENT = {F.relu: 1, F.relu6: 1, F.silu: 1, F.dropout: 3}  # which of the arguments is `inplace`
# What may hand on its input's memory: a change of the output in place changes the input too.
HAND_ON_MODULES = (nn.Identity, nn.Flatten, nn.Dropout)
HAND_ON_CALLS = (torch.flatten, "flatten", "view", "reshape", F.dropout)


def is_tuple(node):
    """A call that makes the named tuple of several outputs."""
    return isinstance(node.target, type) and issubclass(node.target, tuple)


class Tracer(fx.Tracer):
    """Modules of MODULES stay whole, so that their names do."""

    def is_leaf_module(self, module, name):
        return type(module) in MODULES or type(module).__name__ == "StochasticDepth" or super().is_leaf_module(module, name)


class Export:
    def __init__(self, module, image_size, auxiliary_weight):
        self.module, self.auxiliary_weight = module, auxiliary_weight
        graph = Tracer().trace(module)
        self.traced = fx.GraphModule(module, graph)
        self.check_in_place()
        self.traced.graph.eliminate_dead_code()
        self.shapes = self.shapes_of(image_size)
        self.nodes, self.names, self.alias, self.owners = [], {"input"}, {}, {}

    def check_channels(self):
        for node in self.traced.graph.nodes:
            layer = self.traced.get_submodule(node.target) if node.op == "call_module" else None
            if isinstance(layer, nn.Conv2d) and [getattr(a, "op", None) for a in node.args[:1]] == ["placeholder"]:
                require(layer.in_channels == CHANNELS,
                        f"{node.target}: it reads images of {layer.in_channels} channels; it must be {CHANNELS}")

    def is_in_place(self, node):
        if node.op == "call_module":
            return bool(getattr(self.traced.get_submodule(node.target), "inplace", False))
        if node.op not in ("call_function", "call_method"):
            return False
        place = IN_PLACE_ARGUMENT.get(node.target, len(node.args))
        return node.target in IN_PLACE or bool(node.kwargs.get("inplace")) or node.args[place:place + 1] == (True,)

    def hands_on(self, node):
        if node.op == "call_module":
            module = self.traced.get_submodule(node.target)
            return isinstance(module, HAND_ON_MODULES) or type(module).__name__ == "StochasticDepth"
        return getattr(node.target, "__name__", "") == "stochastic_depth" or node.target in HAND_ON_CALLS

    def check_in_place(self):
        """An operation of a network file does not change its input, so nothing may read an input that a call changes."""
        order = {node: place for place, node in enumerate(self.traced.graph.nodes)}
        memory = {}  # node -> the first node whose value is in the same memory
        for node in order:
            changes, inputs = self.is_in_place(node), node.all_input_nodes
            memory[node] = memory[inputs[0]] if inputs and (changes or self.hands_on(node)) else node
            same = [n for n in memory if changes and n is not node and memory[n] is memory[node]]
            later = [user for n in same for user in n.users if order[user] > order[node] and user.target != "size"]
            require(not later, f"{self.place(node)}: it changes its input in place, and '{(later or [node])[0].name}' reads "
                               "the input later; make it inplace=False")

    def pass_through(self, image_size):
        from torch.fx.passes.shape_prop import ShapeProp
        images = torch.zeros(2, CHANNELS, image_size, image_size)
        try:
            with torch.no_grad(), contextlib.redirect_stderr(io.StringIO()):  # it prints what it raises
                ShapeProp(self.traced).propagate(images)
        except RuntimeError as error:
            why = str(error.__cause__ or error).splitlines()[0]
            raise Unsupported(f"images of {image_size}x{image_size} do not pass through it ({why}); --image-size=N sets "
                              "another size") from None

    def shapes_of(self, image_size):
        self.check_channels()
        training = self.module.training
        state = {k: v.clone() for k, v in self.module.state_dict().items()}
        self.pass_through(image_size)
        self.module.load_state_dict(state)  # a pass in training mode changes the statistics
        self.module.train(training)
        shapes = {}
        for node in self.traced.graph.nodes:
            shape = getattr(node.meta.get("tensor_meta"), "shape", None)
            shapes[node] = list(shape) if shape is not None else None
        return shapes

    def unique(self, name):
        found, count = name, 1
        while found in self.names:
            found, count = f"{name}_{count}", count + 1
        self.names.add(found)
        return found

    def append(self, node, name, operation, inputs, attributes):
        if operation == "linear":
            shape = self.shapes[node.args[0]]
            require(len(shape) == 2, f"a linear layer of {len(shape)} dimensions; it must be of [N, features]")
        entry = {"name": self.unique(name), "op": operation, "inputs": [self.alias[i] for i in inputs], **attributes}
        self.nodes.append(entry)
        self.alias[node] = entry["name"]

    def call_module(self, node):
        module = self.traced.get_submodule(node.target)
        shape = self.shapes[node.args[0]]
        if type(module).__name__ == "StochasticDepth":
            operation, attributes = stochastic_depth(module.p, module.mode)
        else:
            require(type(module) in MODULES, f"{type(module).__name__} has no operation in Tandem")
            operation, attributes = MODULES[type(module)](module, shape)
        if any(True for _ in module.parameters()):
            require(node.target not in self.owners, "its weights are used twice")
            self.owners[node.target] = node
        if operation == "":
            self.alias[node] = self.alias[node.args[0]]
        else:
            self.append(node, node.target, operation, [node.args[0]], attributes)

    def call(self, node):
        tensors = [a for a in node.args if isinstance(a, fx.Node)]
        if node.target in SUMS:
            require(len(node.args) == 2 and len(tensors) == 2 and not node.kwargs, "a sum with a number")
            return self.append(node, node.name, "add", tensors, {})
        if node.target in PRODUCTS:
            return self.product(node, tensors)
        if node.target in (torch.cat, torch.concat):
            dim = node.kwargs.get("dim", node.args[1] if len(node.args) > 1 else 0)
            require(dim == 1, f"cat along {dim}; it must be the channels")
            parts = list(node.args[0])
            return self.append(node, node.name, "concat", parts, {}) if len(parts) > 1 else \
                self.alias.__setitem__(node, self.alias[parts[0]])
        if getattr(node.target, "__name__", node.target) == "size" or is_tuple(node):
            return None
        convert = depth_call if getattr(node.target, "__name__", "") == "stochastic_depth" else CALLS.get(node.target)
        name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", str(node.target))
        require(convert is not None, f"{name}() has no operation in Tandem")
        operation, attributes = convert(node.args[1:], dict(node.kwargs), self.shapes[node.args[0]])
        self.append(node, node.name, operation, [node.args[0]], attributes)
        if operation == "global_avg_pool" and len(self.shapes[node]) == 2:
            self.append(node, node.name, "flatten", [node], {})
        return None

    def product(self, node, tensors):
        require(len(tensors) == 2, "a product with a number")
        large, small = tensors if self.shapes[tensors[1]][2:] == [1, 1] else reversed(tensors)
        require(len(self.shapes[small]) == 4 and self.shapes[small][2:] == [1, 1], "a product that is not per channel")
        self.append(node, node.name, "multiply", [large, small], {})

    def run(self):
        outputs = []
        for node in self.traced.graph.nodes:
            try:
                if node.op == "placeholder":
                    self.alias[node] = "input" if not self.alias else require(False, "more than one input")
                elif node.op == "call_module":
                    self.call_module(node)
                elif node.op in ("call_function", "call_method"):
                    self.call(node)
                elif node.op == "output":
                    outputs = self.outputs_of(node.args[0])
                else:
                    raise Unsupported(f"a parameter or buffer outside of a layer ({node.target})")
            except Unsupported as refusal:
                raise Unsupported(f"{self.place(node)}: {refusal}") from None
            except (KeyError, TypeError) as refusal:
                raise Unsupported(f"{self.place(node)}: its arguments cannot be exported ({refusal})") from None
        return outputs

    def outputs_of(self, value):
        if isinstance(value, fx.Node) and is_tuple(value):
            value = tuple(v for v in (*value.args, *value.kwargs.values()) if v is not None)
        values = list(value.values()) if isinstance(value, dict) else list(value) if isinstance(value, tuple) else [value]
        require(all(isinstance(v, fx.Node) for v in values), "an output that is no tensor")
        return [self.alias[v] for v in values]

    @staticmethod
    def place(node):
        stack = node.meta.get("nn_module_stack") or {}
        path = list(stack)[-1] if stack else ""
        return node.target if node.op == "call_module" else f"'{node.name}' in module '{path}'"

    def document(self, name, image_size):
        outputs = self.run()
        main = next(i for i, n in enumerate(self.nodes) if n["name"] == outputs[0])
        require(not any(outputs[0] in n["inputs"] for n in self.nodes), "the output is read by a layer")
        self.nodes.append(self.nodes.pop(main))  # the last one is the output
        reached, wanted = set(), list(outputs)
        while wanted:
            if (at := wanted.pop()) not in reached:
                reached.add(at)
                wanted += next((n["inputs"] for n in self.nodes if n["name"] == at), [])
        self.nodes = [n for n in self.nodes if n["name"] in reached]
        classes = None
        for output in outputs:
            classes = self.mark_classes(output)
        document = {"format": FORMAT, "version": VERSION, "name": name, "input": [CHANNELS, image_size, image_size],
                    "classes": classes, "nodes": self.nodes}
        if len(outputs) > 1:
            document["auxiliaries"] = [{"value": o, "loss_weight": self.auxiliary_weight} for o in outputs[1:]]
        return document

    def mark_classes(self, name):
        """"outputs": "classes" in the layer that decides the number of outputs; returns that number."""
        by_name = {n["name"]: n for n in self.nodes}
        node = by_name[name]
        while node["op"] in ("relu", "dropout", "flatten", "global_avg_pool", "sigmoid") and node["inputs"][0] in by_name:
            node = by_name[node["inputs"][0]]
        require(node["op"] in ("linear", "conv"), f"output '{name}' does not come from a linear layer or a convolution")
        classes, node["outputs"] = node["outputs"], "classes"
        return classes


def text_of(document):
    head = {k: v for k, v in document.items() if k not in ("nodes", "auxiliaries")}
    lines = [f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in head.items()]
    for key in ("nodes", "auxiliaries"):
        if key in document:
            lines.append(f'  "{key}": [\n    ' + ",\n    ".join(json.dumps(item) for item in document[key]) + "\n  ]")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def export(module, name, out, image_size=224, auxiliary_weight=0.3):
    """Writes OUT.json and OUT.safetensors. Raises Unsupported."""
    from safetensors.torch import save_file
    document = Export(module, image_size, auxiliary_weight).document(name, image_size)
    kept = {n["name"] for n in document["nodes"]}
    state = {k: v.contiguous().clone() for k, v in module.state_dict().items() if k.rpartition(".")[0] in kept}
    pathlib.Path(f"{out}.json").write_text(text_of(document))
    save_file(state, f"{out}.safetensors", metadata={"format": "pt"})
    return document


def export_onnx(module, path, image_size):
    """Batch-norms stay apart, so that parameters keep their names. Raises RuntimeError for what PyTorch cannot export."""
    image = torch.zeros(2, CHANNELS, image_size, image_size)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the exporter's age: the newer one needs further packages
        torch.onnx.export(module, (image,), path, dynamo=False, training=torch.onnx.TrainingMode.PRESERVE,
                          do_constant_folding=False)


def load(spec):
    place, _, name = spec.partition(":")
    if place.endswith(".py"):
        found = importlib.util.spec_from_file_location(pathlib.Path(place).stem, place)
        module = importlib.util.module_from_spec(found)
        found.loader.exec_module(module)
    else:
        module = importlib.import_module(place)
    return getattr(module, name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("callable", metavar="MODULE:CALLABLE")
    parser.add_argument("--out", default="net", metavar="NAME", help="NAME.json and NAME.safetensors (default: net)")
    parser.add_argument("--image-size", type=int, default=224, metavar="N")
    parser.add_argument("--argument", action="append", default=[], metavar="KEY=VALUE", help="keyword of CALLABLE, JSON or text")
    parser.add_argument("--state", metavar="FILE", help="state dict of torch.save to load first")
    parser.add_argument("--train", action="store_true", help="trace in training mode, with auxiliary outputs")
    parser.add_argument("--auxiliary-weight", type=float, default=0.3, metavar="X")
    parser.add_argument("--onnx", action="store_true", help="write NAME.onnx by PyTorch's exporter")
    given = parser.parse_args()
    if given.onnx and given.train:
        parser.error("--onnx writes no auxiliary outputs; leave out --train")
    keywords = {}
    for text in given.argument:
        key, _, value = text.partition("=")
        try:
            keywords[key] = json.loads(value)
        except json.JSONDecodeError:
            keywords[key] = value
    try:
        module = load(given.callable)(**keywords)
    except (ImportError, AttributeError, OSError, TypeError, ValueError) as error:
        print(f"export_torch.py: {given.callable}: {error}", file=sys.stderr)
        return 2
    if given.state:
        module.load_state_dict(torch.load(given.state, weights_only=True))
    module.train(given.train)
    next_call = ["next:", "tandem", "bench", f"--model={given.out}.{'onnx' if given.onnx else 'json'}"]
    if given.onnx:
        try:
            export_onnx(module, f"{given.out}.onnx", given.image_size)
        except (torch.onnx.errors.OnnxExporterError, RuntimeError) as error:
            print(f"export_torch.py: {given.callable}: PyTorch cannot export it: {str(error).splitlines()[0]}", file=sys.stderr)
            return 3
        print(f"{given.out}.onnx, with the weights")
        print(shlex.join(next_call))
        return 0
    try:
        document = export(module, given.callable.rpartition(":")[2], given.out, given.image_size, given.auxiliary_weight)
    except Unsupported as refusal:
        print(f"export_torch.py: {given.callable}: {refusal}; try --onnx", file=sys.stderr)
        return 3
    except (fx.proxy.TraceError, RuntimeError) as error:
        print(f"export_torch.py: {given.callable}: torch.fx cannot trace it: {str(error).splitlines()[0]}; try --onnx", file=sys.stderr)
        return 3
    size = f"{given.image_size}x{given.image_size}"
    print(f"{given.out}.json: {len(document['nodes'])} nodes, {document['classes']} classes, images of {size} (--image-size); "
          f"{given.out}.safetensors")
    print(shlex.join([*next_call, f"--weights={given.out}.safetensors"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
