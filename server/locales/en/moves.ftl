### Pages on which a record becomes another: merged, or given another id.

moves-edit = Edit
moves-history = History
moves-merge = Merge into another record
moves-merge-lead = Two records say the same, and one of them is to stay. The address of the other, its former ids, the edges that name it, its votes, suggestions and unknown lines lead to the one that stays.
moves-merge-loses = Its texts do not move: patterns, codes, examples and the edges that it states. Put what is missing into the record that stays first.
moves-which = Record that stays
moves-which-means = Its id, a code, or words of it
moves-show = Show both
moves-nothing-found = No other published record is found by that.
moves-found = Records that may be meant
moves-both = Both records
moves-field = Field
moves-goes = Is merged
moves-stays = Stays
moves-title = Title
moves-signature = Signature
moves-codes = Codes
moves-patterns = Patterns
moves-states = Edges that it states
moves-named-by = Records whose edges name it
moves-votes = Votes
moves-votes-means = The votes of the merged record move. Who voted on the same action of both has one vote: that on the record that stays.
moves-none = none
moves-edit-stays = Edit the record that stays
moves-second-person = This record decides how nodes are judged, so that a second person is needed.
moves-second-person-means = The merge waits in review with your reason until somebody else approves it, or does the same.
moves-asked-already = Something is asked about this record already. It waits in review.
moves-reason = Reason
moves-reason-needed = Say why.
moves-alone = Administrator: why without a second person
moves-do-merge = Merge
moves-ask-merge = Ask for the merge
moves-has-draft = The record has a draft that is newer than what readers see. Publish the draft, or go back to the published revision first.
moves-no-replacement = The record that stays must be another one, and published.
moves-rename = Give it another id
moves-rename-lead = The record keeps its texts. Its address, former ids, the edges that name it and its votes lead to the new id; links to the old address are redirected.
moves-new-id = New id
moves-new-id-means = Two or three parts, such as cuda/out-of-memory. No record has it, nor had it before.
moves-do-rename = Rename
moves-no-id = This is no id of a record.
moves-taken = A record has this id already, or had it before.
moves-breaks-rules = The record may not have this id
moves-merge-heading = Merge { $id }
moves-rename-heading = Another id for { $id }
moves-asked-by = { $name } asks for it
moves-vote-count = { $count ->
    [one] { $count } vote
   *[other] { $count } votes
}
