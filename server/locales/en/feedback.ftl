### Votes, suggestions, and the queue of editors.

feedback-worked = This worked
feedback-did-not-help = This did not help
feedback-came-back = It came back within a week
feedback-place = Driver and GPU
feedback-driver = Driver
feedback-gpu-model = GPU model
feedback-you-worked = You said that it worked.
feedback-you-did-not-help = You said that it did not help.
feedback-you-came-back = You said that it came back within a week.
feedback-voted = Your vote counts.
feedback-voted-means = If the error is there again within a week, come back and say so.
feedback-queued = Thank you.
feedback-queued-means = An editor reads it. It changes nothing by itself.
feedback-suggest = Suggest a correction
feedback-suggest-lead = An editor reads it. It changes nothing by itself.
feedback-suggest-text = What is wrong, and what is right?
feedback-suggest-source = Where can one read it? (optional)
feedback-send = Send
feedback-title = Feedback
feedback-queue = Queue
feedback-waiting = Waiting
feedback-taken = Taken up
feedback-ignored = Ignored
feedback-nothing = Nothing is here.
feedback-take = Take up
feedback-ignore = Ignore
feedback-reason = Reason (needed to ignore)
feedback-older = Older
feedback-edit = Edit the record
feedback-record = Record
feedback-decision = Decision
feedback-source = Source
feedback-suggestion = Suggestion
feedback-vote = Vote
feedback-nobody = Not logged in
feedback-assistant = Assistant
feedback-token = Token
feedback-outcome-worked = worked
feedback-outcome-did-not-help = did not help
feedback-outcome-came-back = came back within a week
feedback-disagreements = Where claims and outcomes disagree
feedback-disagreements-lead = The gap lies between what the record claims (the stated rate; without one, at least 50 % for a workaround and at most 50 % for a dead end) and the 95 % interval of what at least 10 known people say. The widest gap stands first.
feedback-no-disagreements = No outcome disagrees with a record.
feedback-action = Action
feedback-claimed = Claimed
feedback-found = Found
feedback-gap = Gap
feedback-share =
    { $n ->
        [one] Helped { $worked } of { $n } person ({ $range }).
       *[other] Helped { $worked } of { $n } people ({ $range }).
    }
feedback-returned =
    { $count ->
        [one] The error came back to { $count } of them within a week.
       *[other] The error came back to { $count } of them within a week.
    }
feedback-of-driver = Driver { $name }: { $worked } of { $n } ({ $range })
feedback-of-gpu-model = { $name }: { $worked } of { $n } ({ $range })
