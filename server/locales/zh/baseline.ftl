### Measurements beside figures of their kind.

baseline-compared = 这些数值正常吗？
baseline-means = 每个数值都与本节点的其他数值、相同型号和驱动分支的其他节点、本节点上一次正常运行以及公开数据相比较。比较不改变任何结论。
baseline-cohort =
    { $nodes ->
        [0] 还没有其他使用 { $model } 与驱动 { $branch } 的节点的测量结果。
       *[other] 与 { $nodes } 个使用 { $model } 与驱动 { $branch } 的节点相比较。
    }
baseline-no-cohort = 未与其他节点比较：{ $reason }。
baseline-no-gpu = 报告中没有 GPU
baseline-no-model = 有 GPU 的型号未知
baseline-several-models = GPU 型号不一
baseline-no-driver = 驱动版本未知
baseline-no-outliers = 没有异常突出的数值。
baseline-normal = 正常
baseline-watch = 需留意
baseline-low = 明显较差
baseline-node = 整个节点
baseline-gpu = GPU { $gpu }
baseline-pair = GPU 对 { $a }-{ $b }
baseline-test = { $difference }：{ $title }
baseline-range = { $lowest } 至 { $highest }
baseline-peers = 其他节点：与中位数 { $median } 相差 { $range }（{ $nodes } 个节点的 { $figures } 个数值）
baseline-few-peers = 其他节点：数量不足（有 { $have } 个，需要 { $need } 个）
baseline-no-peers = 其他节点：没有此项测量
baseline-in-node = 本节点：与中位数 { $median } 相差 { $range }（{ $figures } 个数值）
baseline-few-in-node = 本节点：数值不足（有 { $have } 个，需要 { $need } 个）
baseline-no-in-node = 本节点：没有可比较的数值
baseline-own = 上一次正常运行：相差 { $range }
baseline-no-own = 上一次正常运行：没有此项测量
baseline-reference = 参考值：与 { $median } 相差 { $range }（{ $machines } 台机器）
baseline-no-reference = 没有参考值
baseline-nominal = 标称值：{ $nominal } GB/s 的 { $range }
baseline-disturbed = 运行期间有 GPU 被其他程序使用；其数值不参与比较。
baseline-case-file = 案例档案
