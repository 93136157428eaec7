### Answers that are shared.

shared-title = Share this answer
shared-offer = Share this answer
shared-would-be-kept = This would be kept, and nothing else: the records, where they stand, and the marked lines. What looks like a name, an address, a private path or a secret was replaced. Something may be left: read it before you share it. Whoever has the link can read it.
shared-was-changed = Something in it could still tell of a person or a machine, and was replaced now. Nothing is kept yet: read it again.
shared-keep-for = Keep it for
shared-make = Make a link
shared-as-kept = As it is kept
shared-shared = A shared answer
shared-made = The answer is shared
shared-link = Link to the answer
shared-copy = Copy
shared-delete-link = Link that deletes it
shared-delete-means = Keep this link: nobody can give it to you again. Whoever has it can delete the answer.
shared-not-confirmed = not confirmed by this server
shared-unconfirmed = Not confirmed by this server: whoever shared this names records that it does not find on these lines. Where words were replaced, or lines were cut or left out, it may be there nevertheless.
shared-unnamed = This server finds more on these lines than whoever shared them names.
shared-on-lines = line
shared-said = Whoever shared this says:
shared-nothing-known = The shared lines show no known error
shared-none-unknown = None of the other shared lines looks like an error.
shared-not-all-looked = Not all of the shared lines were looked at.
shared-others-none = Whoever shared this says that no line beside the shared ones looks like an error.
shared-others-more = Whoever shared this says that more lines may look like errors.
shared-others-unsaid = Whether lines beside the shared ones look like errors, whoever shared this does not say.
shared-given = as whoever shared this says
shared-elsewhere-only = By the environment that whoever shared this gives, every match is for another one.
shared-read =
    { $lines ->
        [one] Whoever shared this says that { $lines } line ({ $size }) was read.
       *[other] Whoever shared this says that { $lines } lines ({ $size }) were read.
    }
shared-saw =
    { $count ->
        [one] This server has read the { $count } shared line alone.
       *[other] This server has read the { $count } shared lines alone.
    }
shared-not-shared =
    { $count ->
        [one] { $count } line that was not shared
       *[other] { $count } lines that were not shared
    }
shared-days = { $count ->
    [one] { $count } day
   *[other] { $count } days
}
shared-shared-means = Somebody shared this on { $made }; it ends on { $until }. What looked like a name, an address, a private path or a secret in its lines was replaced. The records are shown as they are now. Numbers of lines are those that whoever shared this gives.
shared-kept-until = The answer can be read until { $until }.
