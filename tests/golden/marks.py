"""What stands for a tensor in a golden file, and how far a computation in fewer bits is from the exact one."""
import torch

from formula import label, tensor


def mark(name, values):
    """The norm, and the product with random numbers of variance 1: about as large, but it sees signs and order, too."""
    values = values.detach().double()
    return [values.norm(), (values * tensor(f"input.{name}", tuple(values.shape))).sum()]


def distances(exact, found):
    """Of marks by name, over the norms: root mean square, and the worst. golden/marks.h has the same."""
    least = 1e-3 * max(norm for norm, _ in exact.values())
    all_of_them = torch.stack([torch.stack([a - b for a, b in zip(marks, found[name])]).norm() / max(marks[0], least)
                               for name, marks in exact.items()])
    return {"typical": all_of_them.square().mean().sqrt(), "worst": all_of_them.max()}


def norms_of_statistics(model):
    return {n: b.double().norm() for n, b in model.named_buffers() if not n.endswith("num_batches_tracked")}


def cross_entropy(logits):
    labels = torch.tensor([label(row, logits.shape[1]) for row in range(len(logits))])
    return torch.nn.functional.cross_entropy(logits, labels)


def short(numbers):
    return {key: short(value) if isinstance(value, dict) else f"{float(value):.1e}" for key, value in numbers.items()}
