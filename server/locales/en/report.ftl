### One run of the agent.

report-report-of = Report of { $node }
report-simulated = Simulated.
report-simulated-means = A stand-in took the place of the driver. Nothing here was measured on a GPU, and it stays out of statistics.
report-gpu-count =
    { $count ->
        [one] { $count } GPU
       *[other] { $count } GPUs
    }
report-pair-count =
    { $count ->
        [one] { $count } pair
       *[other] { $count } pairs
    }
report-host-is = Host { $hostname }
report-ended = Run ended { $time } (node's clock)
report-counts-from = Counts from { $time } (server's clock): the node's clock is wrong or in doubt
report-received = Received { $time }
report-agent = Agent { $version }
report-expected = Expected { $expectation }
report-failures = What stopped the run or a part of it
report-absent = GPUs that were not looked at
report-notes = Worth knowing
report-what-to-do = What to do:
report-findings = Findings
report-nothing-to-explain = None: nothing in this report calls for an explanation.
report-nothing-known = No known record explains what this report shows.
report-explained-by = Explained by
report-unexplained = No known record explains it.
report-evidence = Evidence
report-rule = Rule
report-pair = Pair { $ends }
report-direction = Direction { $ends }
report-report = Report
report-pairs = Pairs
report-matrix-means = The row's GPU reaches into the memory of the column's GPU.
report-not-checked = not checked
report-works = works
report-degraded = degraded
report-refused = refused
report-broken = broken
report-unknown = unknown
report-nccl-arms = NCCL with peer access and without
report-arms-mean = Collectives with their data compared, one process a GPU.
report-peer-access = Peer access
report-version = Version
report-library = Library
report-nvls = NVLink SHARP and multicast
report-left-to-nccl = left to NCCL
report-switched-off = switched off
report-bus = Bus bandwidth of NCCL
report-bus-means = Bus bandwidth in GB/s (1e9 bytes), all GPUs together, median of the samples, by size.
report-nccl-works = Works with peer access and without
report-nccl-peer-fails = Fails with peer access
report-nccl-peer-fails-means = The way from GPU to GPU is at fault: programs run with `NCCL_P2P_DISABLE=1` meanwhile, and slower.
report-nccl-staging-fails = Fails without peer access
report-nccl-staging-fails-means = The way through host memory is at fault. Programs whose GPUs all have peer access do not notice; those that must share memory of the host (`/dev/shm`, locked memory, namespaces of a container) fail.
report-nccl-nothing-shown = Nothing is shown about peer access.
report-not-run = Not run
report-newer-verdict = A verdict of a newer agent
report-with-peer = With peer access
report-without-peer = Without (NCCL_P2P_DISABLE=1)
report-measurements = Measurements
report-checked = What was checked
report-pair-of = GPU { $first } and GPU { $second }
report-reaches = GPU { $initiator } reaches into GPU { $owner }
report-checks-of = Checks, { $direction }
report-as-expected = as expected
report-way-facts = Facts of the way between the two
report-no-check = No check was made.
report-again = again, alone
report-rung = Rung
report-check = Check
report-outcome = Outcome
report-why = Why
report-checked-by = Checked by
report-data = Data
report-time = Time
report-windows = { $size } in { $windows } windows over { $spread }
report-cause = Cause
report-beside = Seen beside it
report-proven = Proven both ways, with the number of the rung
report-rung-granted = the driver grants access
report-rung-enabling = enabling
report-rung-copies = copies
report-rung-kernels = stores, loads and atomics of kernels
report-rung-same-time = kernels that run at the same time
report-rung-process = memory of a second process
report-rung-nccl = NCCL
report-links = Active NVLinks
report-switch = Through NVSwitch
report-ancestor = Nearest PCIe ancestor
report-grants = Driver grants access
report-nvml-read = NVML read
report-nvml-write = NVML write
report-nvml-atomics = NVML atomics
report-wrong-words = { $number } wrong 32-bit words { $place }, first at byte { $offset }
report-in-guard = in the guard zone
report-in-data = in the data
report-untouched = ; nothing had arrived
report-only-writer-sees = ; the writer reads its own data back there, the owner does not
report-nobody-sees = ; the writer does not find its data there either
report-model = Model
report-pci-address = PCI address
report-memory = Memory
report-compute = Compute
report-gpu-facts = Facts of GPU { $gpu }
report-gaps = What could not be seen
report-gaps-mean = A gap says nothing about the value. “Not visible from here” is never “OK”.
report-what = What
report-kind = Kind
report-asked-of = Asked of
report-and-more = { $place } and { $more } more
report-not-given = not given
report-code = code { $code }
report-host = Host
report-fact = Fact
report-value = Value
report-read-from = Read from
report-logs = Log lines
report-median-means = { $unit }, median of the samples, from the row to the column.
report-taken-in = {" "}Taken in { $rounds }, { $time }.
report-rounds =
    { $count ->
        [one] { $count } round
       *[other] { $count } rounds
    }
report-span = { $lowest } to { $highest } { $unit }
report-times = Where the time went
report-times-all = { $time } in all: { $parts }.
report-times-rest = all else
report-times-longest = Measurements that took longest
report-times-in = { $time } in { $rounds }
report-host-end = Host
report-other-end = All others
report-gpu-to-gpu = GPU to GPU
report-host-to-gpu = Host to GPU
report-gpu-to-host = GPU to host
report-load-latency = Load latency
report-host-load-latency = Load latency of host memory
report-copy-latency = Copy latency
report-copy-queueing = Time to queue a copy
report-all-to-one = All to one
report-one-to-all = One to all
report-all-to-all = All to all
report-under-load = under load
report-both-ways = both ways at once
report-beside-opposite = while the opposite runs
report-alone = one alone
report-beside-others = beside others
report-pageable = ordinary host memory
report-all-gpus = all GPUs at once
report-copy-engine = copy engine
report-kernel = kernel
report-processes = between processes
report-written = written by the source
report-read = read by the destination
report-peer-on = peer access on
report-staged = staged through the host
report-comma = ,{" "}
report-samples =
    { $count ->
        [one] { $count } sample
       *[other] { $count } samples
    }
report-algorithm = { $samples }, algorithm bandwidth { $bandwidth } { $unit }
report-without-peer-access = { $collective }, without peer access
report-none = none
