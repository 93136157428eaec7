### The pattern workbench.

workbench-title = Pattern workbench · Peerless
workbench-heading = Pattern workbench
workbench-means = What a pattern would take, before it is put into a record. Nothing of this is kept: copy a good pattern into the field Patterns of a record’s form.
workbench-lines = Lines of one error
workbench-pattern = Pattern
workbench-pattern-hint = Rust regex syntax. Without one, a pattern is made from the lines.
workbench-submit = Try
workbench-result = Result
workbench-proposal = Proposed pattern
workbench-take = Use it
workbench-no-proposal = No pattern can be made
workbench-tried = The pattern
workbench-literal = Literal
workbench-or = or
workbench-cost = Cost
workbench-ways = { $ways } of { $most } ways to go on at each byte
workbench-captures = Captures
workbench-no-captures = none
workbench-comma = ,{" "}
workbench-refused = It may be in no record
workbench-findings = Against it
workbench-pasted = Pasted lines
workbench-line = Line
workbench-is-taken = taken
workbench-not-taken = not taken
workbench-generic = generic words, which count beside words of the domain
workbench-taken-now = taken now by
workbench-examples = Examples of records
workbench-near-misses = Near misses of records
workbench-clean = Lines of healthy runs
workbench-logs = Logs of kept reports
workbench-own = its own
workbench-none = None in what was looked at.
workbench-looked =
    { $texts ->
        [one] Looked at { $texts } text of { $size }: all there is.
       *[other] Looked at { $texts } texts of { $size }: all there is.
    }
workbench-looked-in-part =
    { $texts ->
        [one] Looked at { $texts } text of { $size }; there is more.
       *[other] Looked at { $texts } texts of { $size }; there is more.
    }
workbench-more =
    { $count ->
        [one] and { $count } more line
       *[other] and { $count } more lines
    }
