### Lines of pasted texts that are kept.

kept-title = Lines that nobody knows
kept-own = What you let us keep
kept-offer = Show the lines that nobody knows, without names
kept-none = No line of this text looks like an error that nobody knows.
kept-are-more = The text has more lines that look like errors than are looked at here: what follows is of its beginning.
kept-would-be-kept = This would be kept, and nothing else. What looks like a name, an address, a private path or a secret was replaced. Something may be left: read it before you send it.
kept-lines = What would be kept
kept-means = You may delete lines or words. Editors see them and may make a record from them.
kept-keep = Keep these lines
kept-link = Link that deletes them
kept-link-means = Keep this link: nobody can give it to you again.
kept-delete = Delete it
kept-delete-means = What was kept under this link is deleted for good.
kept-deleted = It is deleted.
kept-kept = The lines are kept until { $until }.
