### The search among the records.

search-nothing-found = Nothing found
search-near = Nothing found, but something near
search-record-count =
    { $count ->
        [one] { $count } record
       *[other] { $count } records
    }
search-found =
    { $count ->
        [one] { $count } record found
       *[other] { $count } records found
    }
search-label = Search the records
search-submit = Search
search-address-before = Searching puts your words into the address. For an error or a log use{" "}
search-the-box = the box
search-address-after = , which does not.
search-no-record-has = No record has
search-searched-for = . Searched for
search-or = or
search-stop = .
search-comma = ,{" "}
search-passed-over = Passed over, because no record has it:
search-only = Only
search-without = Without { $filter } { $value }
search-remove = remove
search-nearest = No record has most of this. The nearest:
search-none-here = No record here has these words.
search-search-all = Search all records
search-none = No record has these words, nor any like them. Try fewer, or the rarest one of the message.
search-box-before = An error or a log belongs in{" "}
search-box-after = : it knows forms of messages that no search does.
search-all = All records
search-next = Next page
search-domain = Domain
search-category = Category
search-tag = Tag
search-tier = Vouched for
search-locale = Language
