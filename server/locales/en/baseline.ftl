### Measurements beside figures of their kind.

baseline-compared = Is this normal?
baseline-means = Each figure is held against this node's other figures, other nodes of the same model and driver branch, this node's last good run, and published figures. A comparison changes no verdict.
baseline-cohort =
    { $nodes ->
        [0] No other node with { $model } and driver { $branch } measured anything yet.
        [one] Compared with 1 node with { $model } and driver { $branch }.
       *[other] Compared with { $nodes } nodes with { $model } and driver { $branch }.
    }
baseline-no-cohort = Compared with no other node: { $reason }.
baseline-no-gpu = the report lists no GPU
baseline-no-model = the model of a GPU is not known
baseline-several-models = its GPUs are of several models
baseline-no-driver = the version of the driver is not known
baseline-no-outliers = Nothing stands out.
baseline-normal = normal
baseline-watch = watch
baseline-low = clearly worse
baseline-node = The whole node
baseline-gpu = GPU { $gpu }
baseline-pair = Pair { $a }-{ $b }
baseline-test = { $difference }: { $title }
baseline-range = { $lowest } to { $highest }
baseline-peers =
    { $figures ->
        [one] Other nodes: { $range } from the median { $median } (1 figure of { $nodes } nodes)
       *[other] Other nodes: { $range } from the median { $median } ({ $figures } figures of { $nodes } nodes)
    }
baseline-few-peers = Other nodes: too few ({ $have } of the { $need } that are needed)
baseline-no-peers = Other nodes: none measured this
baseline-in-node =
    { $figures ->
        [one] This node: { $range } from its median { $median } (1 figure)
       *[other] This node: { $range } from its median { $median } ({ $figures } figures)
    }
baseline-few-in-node = This node: too few figures ({ $have } of the { $need } that are needed)
baseline-no-in-node = This node: nothing to compare with
baseline-own = Last good run: { $range }
baseline-no-own = Last good run: none measured this
baseline-reference =
    { $machines ->
        [one] Reference: { $range } from { $median } (1 machine)
       *[other] Reference: { $range } from { $median } ({ $machines } machines)
    }
baseline-no-reference = No reference
baseline-nominal = Nominal: { $range } of { $nominal } GB/s
baseline-disturbed = Others used a GPU during the run; its figures are not compared.
baseline-case-file = Case file
