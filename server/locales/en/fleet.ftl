### Nodes: all together, the list, and one of them.

fleet-nodes = Nodes
fleet-node-count =
    { $count ->
        [one] { $count } node
       *[other] { $count } nodes
    }
fleet-gpu-count =
    { $count ->
        [one] { $count } GPU
       *[other] { $count } GPUs
    }
fleet-simulated-nodes = { $count } simulated
fleet-none-yet = No node has reported yet. On a machine with GPUs run:
fleet-token-for = A token for it:
fleet-together = All nodes
fleet-by-verdict = Nodes by verdict
fleet-faults = What most nodes show
fleet-fault = Finding
fleet-no-faults = No report shows anything that calls for an explanation; simulated ones do not count.
fleet-unexplained = no known record explains it
fleet-silent =
    { $count ->
        [0] The latest run of every node ended within { $hours } hours.
        [one] { $count } node had no run that ended within { $hours } hours.
       *[other] { $count } nodes had no run that ended within { $hours } hours.
    }
fleet-oldest = Longest without a run:
fleet-node = Node
fleet-verdict = Verdict
fleet-why = Why
fleet-findings = Findings
fleet-run-ended = Run ended
fleet-reports = Reports
fleet-report-count =
    { $count ->
        [one] { $count } report
       *[other] { $count } reports
    }
fleet-simulated = simulated
fleet-last-seen = last seen
fleet-with-label = Nodes with the label
fleet-all-nodes = all nodes
fleet-events = What happened to it
fleet-next = Next page
fleet-host = Host { $hostname }
fleet-by-the-run = by the run that ended
fleet-last-seen-at = Last seen
fleet-stands = A proven fault is over when a later probe proves otherwise, and not before.
fleet-received = Report received
fleet-older = Older reports
