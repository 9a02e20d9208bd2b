"""Tandem's rate over that of its peers, round by round. What can be told apart is for `tandem report` to say."""
import statistics


def ratios(field, runs, failures):
    """The headline, Tandem's best over the best peer of any kind (None without a peer), and the rows behind it: Tandem
    over each kind of peer with as many replicas, where Tandem's are ranks if it has both, and over itself."""
    rates = {name: [r["images_per_s"] for r in results] for name, results in runs.items() if name not in failures}
    field = [contender for contender in field if contender.name in rates]
    tandems = [contender for contender in field if contender.side == "tandem"]
    peers = [contender for contender in field if contender.side != "tandem"]
    headline = compare(fastest(tandems, rates), fastest(peers, rates), rates) if peers else None
    most = {replicas: max(tandem.ranks for tandem in tandems if tandem.replicas == replicas)
            for replicas in dict.fromkeys(tandem.replicas for tandem in tandems)}
    own = {replicas: fastest([t for t in tandems if (t.replicas, t.ranks) == (replicas, ranks)], rates)
           for replicas, ranks in most.items()}
    rows = []
    for side, replicas in dict.fromkeys((peer.side, peer.replicas) for peer in peers):
        other = fastest([peer for peer in peers if (peer.side, peer.replicas) == (side, replicas)], rates)
        rows.append(compare(own[replicas], other, rates) | {"side": side})
    rows += [compare(own[threads.replicas], threads, rates) | {"side": "tandem"}
             for threads in tandems if threads.ranks < most[threads.replicas]]
    if len(own) > 1:
        rows.append(compare(own[max(own)], own[min(own)], rates) | {"side": "tandem"})
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
