### The history of a record, and its reviews.

history-title = Revisions
history-revision = Revision
history-at = When
history-actor = Who
history-why = Why
history-changes = Changes
history-published = published
history-draft = draft
history-first = first
history-by-field = By field
history-as-text = As text
history-document = Document
history-annex = Annex
history-no-change = No change.
history-left-out = unchanged lines left out
history-removed = removed:{" "}
history-added = added:{" "}
history-kind-added = added
history-kind-removed = removed
history-kind-changed = changed
history-kind-moved = another order
history-field = Field
history-before = Before
history-after = After
history-none = nothing
history-edit = Edit
history-reviews = Review
history-asks = asks for a review of
history-ask = Ask for a review
history-ask-note = What to look at
history-approve = Approve and publish
history-approve-reason = Why it is published in spite of the warnings
history-send-back = Send back
history-take-back = Take the question back
history-reason = Reason
history-warnings = What the check finds
history-verdicts = Changes how nodes are judged, and needs a second person
history-no-nodes = No node would be judged otherwise.
history-node = Node
history-not-all = There are more nodes than were looked at.
history-alone = Administrator: reason to do without a second person
history-go-back = Go back to this revision
history-comments = Comments
history-comment = Comment
history-comment-field = Field (pointer, such as /root_cause)
history-add-comment = Add comment
history-done = Done
history-waiting = Waiting for review
history-nobody-waits = Nobody waits for a review.
history-record = Record
history-decided = Decided
history-open = open
history-approved = approved
history-sent-back = sent back
history-withdrawn = taken back
history-heading = Revisions of { $id }
history-since = since { $revision }
history-between = { $from } to { $to }
history-looked =
    { $count ->
        [one] { $count } node with a report of the last 30 days was looked at.
       *[other] { $count } nodes with a report of the last 30 days were looked at.
    }
