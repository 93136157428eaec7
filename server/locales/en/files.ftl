### A site of files, which has no server behind it.

files-promise = Find an error by its words or its message, or have this browser read a log. You get what causes it, what works, and what wastes your time.
files-no-server = This site is made of files. There is no server behind it, and nothing that you type, paste or read here is sent anywhere.
files-search-needs-script = Searching needs script, for it runs in this browser. Without script, the lists have every record.
files-log-needs-script = Reading a log needs script, for it runs in this browser.
files-second-missing = The English text of this record is not here: it needs script and a connection.
files-read-log = Read a log
files-read-log-means = Paste an error line or a log, or choose a file. This browser reads it, and nothing of it is sent.
files-box-label = Error line or log
files-drop-here = {" "}Drop a file here, also .gz.
files-by-domain = All records by domain
files-loading = Fetching the index …
files-broken = The index could not be fetched. Reload the page to try again.
files-unsupported = This browser cannot search here. The lists have every record.
files-log-unsupported = This browser cannot read it. Nothing was sent.
files-more = More
files-out-of-it = From here to other domains
files-not-sent = Read in this tab. Nothing of it was sent: your browser made { $requests } requests meanwhile.
files-found = Records found: { $count }
