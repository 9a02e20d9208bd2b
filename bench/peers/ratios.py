"""Tandem's rate over that of its peers, round by round. What can be told apart is for `tandem report` to say."""
import statistics


def ratios(field, runs, failures):
    """The headline, Tandem's best over the best peer of any kind (None without a peer), and the rows behind it."""
    rates = {name: [r["images_per_s"] for r in results] for name, results in runs.items() if name not in failures}
    field = [contender for contender in field if contender.name in rates]
    tandems = [contender for contender in field if contender.side == "tandem"]
    own = {replicas: fastest([contender for contender in tandems if contender.replicas == replicas], rates)
           for replicas in dict.fromkeys(contender.replicas for contender in tandems)}
    peers = [contender for contender in field if contender.side != "tandem"]
    headline = compare(fastest(own.values(), rates), fastest(peers, rates), rates) if peers else None
    rows = []
    for side in dict.fromkeys(peer.side for peer in peers):
        other = fastest([peer for peer in peers if peer.side == side], rates)
        rows.append(compare(own[other.replicas], other, rates) | {"side": side})
    if len(own) > 1:
        rows.append(compare(own[max(own)], own[1], rates) | {"side": "tandem"})
    return headline, rows


def fastest(field, rates):
    return max(field, key=lambda contender: statistics.median(rates[contender.name]))


def compare(first, other, rates):
    a, b = rates[first.name], rates[other.name]
    paired = [x / y for x, y in zip(a, b)]
    return {"of": first.name, "over": other.name, "median_of": statistics.median(a), "median_over": statistics.median(b),
            "ratio_of_medians": statistics.median(a) / statistics.median(b),
            "median_of_ratios": statistics.median(paired), "least": min(paired), "greatest": max(paired),
            "pairs": len(paired)}
