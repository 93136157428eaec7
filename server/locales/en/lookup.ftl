### Home, and the answer to a text.

lookup-title = Peerless: what a GPU error means and what to do
lookup-question = What is this GPU error, and what do I do?
lookup-promise = Paste an error line or a whole log. You get the first cause, the lines that prove it, what works, and what wastes your time.
lookup-from-shell = From a shell
lookup-on-a-node = On a GPU node
lookup-probe-means = Proves, pair by pair and in both directions, whether the GPUs reach each other's memory.
lookup-known-before = {""}
lookup-known =
    { $count ->
        [one] { $count } record
       *[other] { $count } records
    }
lookup-known-after = {" "}known. Each says who vouches for it.
lookup-no-known-error = No known error
lookup-only-hits =
    { $count ->
        [one] No known error; { $count } record found by its words
       *[other] No known error; { $count } records found by its words
    }
lookup-errors =
    { $count ->
        [one] { $count } known error
       *[other] { $count } known errors
    }
lookup-by-time = Ordered by the time on the lines
lookup-by-clock = Ordered by the time on the lines of each clock, between clocks by the graph
lookup-by-place = Ordered by place in the text
lookup-elsewhere-only = Every match is for another environment than the one you gave.
lookup-nothing = Nothing in this text is an error that this knowledge base knows. That does not mean that nothing is wrong.
lookup-paste-more = Paste more: the error is often a few lines above the last one, and the first error of the first process counts.
lookup-nccl-debug = With NCCL, run again with `NCCL_DEBUG=INFO`; kernel messages (Xid) come from `dmesg`.
lookup-rarest-before = Search for its rarest word among{" "}
lookup-rarest-link = all records
lookup-rarest-after = .
lookup-step-line = line { $line }
lookup-sample = The record's own sample:
lookup-on-lines =
    { $count ->
        [one] On { $count } line
       *[other] On { $count } lines
    }
lookup-fits = Fits your environment
lookup-not-compared = Environment not compared
lookup-elsewhere = For another environment
lookup-more-like-this =
    { $count ->
        [one] { $count } more line like this
       *[other] { $count } more lines like this
    }
lookup-whole-record = The whole record
lookup-more-dead-ends =
    { $count ->
        [one] { $count } more dead end
       *[other] { $count } more dead ends
    }
lookup-more-workarounds =
    { $count ->
        [one] { $count } more workaround
       *[other] { $count } more workarounds
    }
lookup-list-comma = ,{" "}
lookup-chain = From first cause to symptom
lookup-suspects = What may have caused it
lookup-find-out = Find out which: run { $command } on the node.
lookup-way = How the graph leads from the first to the last
lookup-why = Why this matched
lookup-by-words = Found by its words
lookup-candidates = Candidates, not matches
lookup-candidates-mean = Nothing proves that one of these is your error.
lookup-stands-at = Where it stands
lookup-again = Change it, or look up something else
