### The answer to a text: the paragraph, the rows of faults, the environment, the log beside it.

answer-faults = Faults, causes first
answer-first-cause = First cause
answer-another-cause = Another cause
answer-harmless = Harmless
answer-worse = The driver calls this line fatal, or a program ended with it. The record is about the harmless form of this message: its advice does not hold here.
answer-none-unknown = No other line looks like an error.
answer-none-unknown-so-far = No other line that was looked at looks like an error. Not all lines were looked at.
answer-not-looked = Whether other lines tell of an error was not looked at, because the text was not kept.
answer-do-first = Do first:
answer-details = Why, what works, what does not
answer-reader = you
answer-admin = your admin
answer-vendor = the vendor
answer-nobody = nobody: nothing to do
answer-whose = To act:
answer-environment = Environment
answer-given = as given
answer-not-told = not told: fill it in below
answer-matters-for = matters for
answer-matters-nowhere = none of these records depends on it
answer-log = The text, with marks
answer-log-marks = Marked lines
answer-first-mark = First
answer-last-mark = Last
answer-next-mark = Next mark
answer-unknown-mark = looks like an error, not known
answer-only-show = Show only
answer-host = Host
answer-rank = Rank
answer-all = all
answer-show = Show
answer-ticket = Copy for a ticket
answer-as-text = As text
answer-as-markdown = As Markdown
answer-read =
    { $lines ->
        [one] { $lines } line ({ $size }) was read.
       *[other] { $lines } lines ({ $size }) were read.
    }
answer-only = The error is “{ $title }” on line { $line }.
answer-only-at = The error is “{ $title }” on line { $line } ({ $place }).
answer-cause = The first cause is “{ $title }” on line { $line }.
answer-cause-at = The first cause is “{ $title }” on line { $line } ({ $place }).
answer-unknown-cause = The first cause stands on line { $line }: “{ $error }”. No record knows it.
answer-unknown-raised = Line { $line } has an error that no record knows: “{ $error }”. Whether it ended the program, the text does not say.
answer-interrupted = The program was interrupted by its user (“{ $error }” on line { $line }). That is no fault.
answer-it-ended = It is what ended { $who }.
answer-of-process = process { $process }
answer-tells-only = “{ $title }” on line { $line } only tells of it.
answer-also-found = “{ $title }” stands on line { $line }.
answer-because-of-line = Because of the error on line { $line }
answer-heading-unknown = An error that no record knows
answer-heading-interrupted = Interrupted by its user
answer-it-led-to =
    { $count ->
        [one] It led to fault { $which }.
       *[other] It led to { $count } faults: { $which }.
    }
answer-other-causes =
    { $count ->
        [one] Fault { $which } is another cause, which stands on its own.
       *[other] { $count } more faults are causes of their own: { $which }.
    }
answer-unplaced =
    { $count ->
        [one] What led to fault { $which } is not known.
       *[other] What led to { $count } of the faults is not known: { $which }.
    }
answer-are-harmless =
    { $count ->
        [one] Message { $which } is harmless.
       *[other] { $count } messages are harmless: { $which }.
    }
answer-unknown =
    { $count ->
        [one] Not known: line { $which } looks like an error, and no record explains it.
       *[other] Not known: { $count } more messages look like errors, and no record explains them (first on lines { $which }).
    }
answer-unknown-and-more =
    { $count ->
        [one] Not known: line { $which } looks like an error, and no record explains it. Not all lines were looked at.
       *[other] Not known: at least { $count } more messages look like errors, and no record explains them (first on lines { $which }).
    }
answer-may-be-meant =
    { $count ->
        [one] { $count } further record may be meant, and nothing proves it.
       *[other] { $count } further records may be meant, and nothing proves it.
    }
answer-sentence = { $text }.
answer-because-of = Because of fault { $number }
answer-same-line = Another reading of the line of fault { $number }
answer-called-fatal = Not harmless here, against its record: { $title }
answer-led-to = led to { $which }
answer-of-rank = rank { $ranks }
answer-at-line = read on line { $line }
answer-lines-between =
    { $count ->
        [one] { $count } line without a mark
       *[other] { $count } lines without a mark
    }
answer-lines-with-hits =
    { $hits ->
        [one] { $count } lines, a fault on 1 of them
       *[other] { $count } lines, faults on { $hits } of them
    }
answer-shown-of = { $shown } of { $all } are shown.
