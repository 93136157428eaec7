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
fleet-together = Overview
fleet-by-verdict = Nodes by verdict
fleet-faults = What most nodes show
fleet-fault = Finding
fleet-no-faults = No report of these nodes shows anything that calls for an explanation; simulated ones do not count.
fleet-unexplained = no known record explains it
fleet-silent =
    { $count ->
        [0] The latest run of each of these nodes ended within { $hours } hours.
        [one] { $count } node had no run that ended within { $hours } hours.
       *[other] { $count } nodes had no run that ended within { $hours } hours.
    }
fleet-oldest = Longest without a run:
fleet-node = Node
fleet-verdict = Verdict
fleet-why = Why
fleet-findings = Findings
fleet-reports = Reports
fleet-report-count =
    { $count ->
        [one] { $count } report
       *[other] { $count } reports
    }
fleet-simulated = simulated
fleet-all-nodes = all nodes
fleet-events = What happened to it
fleet-next = Next page
fleet-host = Host { $hostname }
fleet-by-the-run = by the run that ended
fleet-last-seen = last seen
fleet-last-seen-at = Last seen
fleet-last-seen-healthy = Last seen healthy
fleet-last-seen-without-fault = Last seen without a fault
fleet-silent-for =
    { $days ->
        [one] silent for { $days } day, since { $moment }
       *[other] silent for { $days } days, since { $moment }
    }
fleet-silent-since =
    { $days ->
        [one] { $days } day ago, silent since { $moment }
       *[other] { $days } days ago, silent since { $moment }
    }
fleet-stands = A proven fault is over when a later probe proves otherwise, and not before.
fleet-received = Report received
fleet-older = Older reports
fleet-listed = Nodes one by one
fleet-search-label = Part of an id or host name
fleet-search = Search
fleet-searched = Name
fleet-only = Only:
fleet-remove = remove
fleet-none-match = No node meets all of this.
fleet-no-such-model = No node has the GPU model “{ $name }”.
fleet-no-such-driver = No node has the driver “{ $name }”.
fleet-they-have = { $said } Nodes have: { $names }.
fleet-not-known = not known
fleet-no-record-says = no record says
fleet-action = What to do first
fleet-gpus = GPUs
fleet-model = GPU model
fleet-driver = Driver
fleet-label = Label
fleet-run = Run
fleet-since = Verdict since
fleet-last-run = Last run ended
fleet-first-report = First report
fleet-not-simulated = not simulated
fleet-cause = Cause
fleet-do-first = Do this first:
fleet-open = What is open
fleet-nothing-open = Nothing is open.
fleet-ended = What is over
fleet-state-new = new
fleet-state-ongoing = ongoing
fleet-state-acknowledged = acknowledged
fleet-state-silenced = silenced
fleet-state-resolved = over
fleet-handling-means = Acknowledged or silenced, a finding still counts everywhere, and the verdict stays.
fleet-note = Note
fleet-until = Until
fleet-acknowledge = Acknowledge
fleet-silence = Silence
fleet-release = Take back
fleet-own = I look after it
fleet-disown = Nobody looks after it
fleet-about = About this node
fleet-changed = What is different
fleet-changed-means = The latest report beside the last one that proved health. A difference is no cause.
fleet-no-good = No other report has proved health, so there is nothing to compare with.
fleet-good-unread = One of the two reports cannot be read.
fleet-nothing-changed = Nothing that both reports tell of settings, versions and links is different.
fleet-last-good = Last report that proved health:
fleet-of-what = Of
fleet-fact = Fact
fleet-before = Then
fleet-now = Now
fleet-unread = could not be read
fleet-absent = not listed
fleet-the-host = host
fleet-history = History
fleet-nodes-of-record = Nodes that show this
fleet-without-run = no run within { $hours } hours
fleet-label-named = Label { $name }
fleet-since-moment = since { $moment }
fleet-owned-by = { $owner } looks after it
fleet-acknowledged-by = acknowledged by { $name } on { $at }
fleet-silenced-by = silenced by { $name } on { $at }, until { $until }
fleet-seen =
    { $count ->
        [one] in { $count } report, first { $first }, last { $last }
       *[other] in { $count } reports, first { $first }, last { $last }
    }
fleet-strip =
    { $count ->
        [one] Verdict of the last report
       *[other] Verdicts of the last { $count } reports, old to new; the worse, the taller
    }
fleet-decided = Decided by
fleet-stage-current = current
fleet-stage-candidate = candidate
fleet-decided-by = rule set { $rule_set }; policy for this node now: { $policy } ({ $stage })
fleet-milder-by-policy =
    { $count ->
        [one] { $count } open finding is made milder by the site's policy: see it below.
       *[other] { $count } open findings are made milder by the site's policy: see them below.
    }
fleet-ruled-ignored = Ignored by the site's policy, rule { $rule }:
fleet-ruled-event = An event by the site's policy, rule { $rule }:
fleet-ruled-warning = A warning by the site's policy, rule { $rule }:
fleet-ruled-fault = A fault by the site's policy, rule { $rule }:
