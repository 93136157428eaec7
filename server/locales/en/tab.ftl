### A log that is read in the reader's browser, and the choice beside the box.

tab-title = Read in this tab
tab-choice = Read the file in this tab: nothing of it is sent
tab-choice-means = {" "}A file is read in this tab while the box above is ticked; a .zst file can be read by this server alone. What is in the text box is sent to this server with “Look it up”.
tab-read-text = Read this text in the tab
tab-loading = Fetching the records. Nothing is sent …
tab-broken = The records could not be fetched. Nothing was sent. Try again.
tab-unsupported = This browser cannot read it here. Nothing was sent. To have this server read it, untick “Read the file in this tab”.
tab-unreadable = It was not read, and nothing of it was sent:
tab-unknown-cause = The first cause stands on line { $line }: “{ $error }”. No record knows it.
tab-unexplained = Lines that look like errors and that no record explains: { $lines }
tab-unexplained-more = Not all lines that look like errors were looked at; the rest may hold errors that no record explains.
tab-unknown-raised = Line { $line } has an error that no record knows: “{ $error }”. Whether it ended the program, the text does not say.
tab-interrupted = The program was interrupted by its user (“{ $error }” on line { $line }). That is no fault.
tab-because-of-line = Because of the error on line { $line }
tab-none-found = No known error
tab-no-candidates = Records that only resemble your text are not looked for in the tab.
tab-needs-script = A script fills this page with what your browser finds in a log.
tab-sent = It was sent to this server and read there.
tab-progress = Reading in this tab, nothing is sent: { $size }
tab-found = Known errors: { $count }
tab-read = { $lines } lines ({ $size }) were read.
tab-not-sent = Read in this tab. Nothing of it was sent: your browser made { $requests } requests meanwhile, and it blocks every request of the worker that read the log.
tab-line = line { $line }
tab-shown-of = { $shown } of { $all } are shown.
