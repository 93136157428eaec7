//! Reviews and comments.

use std::sync::Arc;

use kb_core::text::Part;
use peerless::store::{
    Asks, AuditQuery, By, EndReview, Expected, Merge, NewComment, NewReview, Rename, Review, ReviewState,
    Saved, SeedSource, Store, StoreError, Withdrawal,
};

use crate::support::{Place, at, draft, id, publish, published, record, revision, seed};

const RECORD: &str = "cuda/x";

fn by(name: &str) -> By {
    By::system(name)
}

fn ask(number: u32, name: &str, second: i64) -> NewReview {
    NewReview {
        record: id(RECORD),
        revision: revision(number),
        asks: Asks::Publish,
        gives_way: None,
        by: by(name),
        note: Some("look at the cause".to_owned()),
        at: at(second),
    }
}

/// Asks for the withdrawal of the record in favour of another.
fn ask_away(number: u32, second: i64) -> NewReview {
    NewReview {
        asks: Asks::Withdraw {
            replaced_by: Some(id("cuda/y")),
        },
        ..ask(number, "ada", second)
    }
}

async fn with_draft(place: &Place) -> Arc<dyn Store> {
    let store = place.store().await;
    published(store.as_ref(), RECORD, record(RECORD, "x")).await;
    another(store.as_ref(), 1).await;
    store
}

async fn another(store: &dyn Store, head: u32) {
    let texts = record(RECORD, &format!("after {head}"));
    let saved = store
        .save_head(draft(RECORD, texts, Expected::Head(revision(head))))
        .await;
    assert_eq!(saved.unwrap(), Saved::Saved(revision(head + 1)));
}

fn states(reviews: &[Review]) -> Vec<(u32, ReviewState)> {
    reviews
        .iter()
        .map(|review| (review.revision.0, review.state))
        .collect()
}

pub(crate) async fn a_record_has_one_open_review(place: Arc<Place>) {
    let store = with_draft(&place).await;
    let first = store.ask_review(ask(2, "ada", 3)).await.unwrap();
    assert_eq!((first.n, first.state), (1, ReviewState::Open));
    // The same again is the same review.
    assert_eq!(store.ask_review(ask(2, "bob", 4)).await.unwrap(), first);
    another(store.as_ref(), 2).await;
    store.ask_review(ask(3, "ada", 5)).await.unwrap();
    let all = store.reviews(&id(RECORD), 10).await.unwrap();
    assert_eq!(
        states(&all),
        [(3, ReviewState::Open), (2, ReviewState::Withdrawn)]
    );
    let waiting = store.open_reviews(10).await.unwrap();
    assert_eq!(waiting, all[..1]);
    assert!(matches!(
        store.ask_review(ask(9, "ada", 6)).await,
        Err(StoreError::NoRevision(..))
    ));
}

pub(crate) async fn publishing_a_revision_approves_its_review(place: Arc<Place>) {
    let store = with_draft(&place).await;
    store.ask_review(ask(2, "ada", 3)).await.unwrap();
    // Another revision, published before, leaves it open.
    let mut older = publish(RECORD, 1);
    older.at = at(4);
    store.publish(older).await.unwrap();
    assert_eq!(store.open_reviews(10).await.unwrap().len(), 1);
    let mut approval = publish(RECORD, 2);
    approval.by = by("bob");
    approval.reason = Some("sources read".to_owned());
    store.publish(approval).await.unwrap();
    let decided = store.reviews(&id(RECORD), 10).await.unwrap().remove(0);
    assert_eq!(decided.state, ReviewState::Approved);
    let decision = decided.decided.unwrap();
    assert_eq!(
        (decision.by.as_str(), decision.reason.as_deref()),
        ("bob", Some("sources read"))
    );
    assert_eq!(store.open_reviews(10).await.unwrap(), []);
}

pub(crate) async fn what_a_review_asks_is_kept_with_it(place: Arc<Place>) {
    let store = with_draft(&place).await;
    let open = async || store.open_reviews(10).await.unwrap();
    let published = store.ask_review(ask(1, "ada", 3)).await;
    assert!(
        matches!(published, Err(StoreError::IsPublished(_))),
        "{published:?}"
    );
    let draft = store.ask_review(ask_away(2, 3)).await;
    assert!(matches!(draft, Err(StoreError::AnotherPublished(_))), "{draft:?}");
    let asked = store.ask_review(ask_away(1, 3)).await.unwrap();
    assert_eq!(asked.asks, ask_away(1, 3).asks);
    assert_eq!(open().await, [asked]);
    // With another revision published it asks for nothing any more, whichever way that went.
    store.publish(publish(RECORD, 2)).await.unwrap();
    assert_eq!(open().await, []);
    store.ask_review(ask_away(2, 4)).await.unwrap();
    store.publish(publish(RECORD, 1)).await.unwrap();
    assert_eq!(open().await, []);
    let all = store.reviews(&id(RECORD), 10).await.unwrap();
    assert_eq!(
        states(&all),
        [(2, ReviewState::Withdrawn), (1, ReviewState::Withdrawn)]
    );
    assert!(all.iter().all(|review| review.asks.is_withdrawal()), "{all:?}");
    store.withdraw(&id(RECORD), &by("ada"), at(5)).await.unwrap();
    let gone = store.ask_review(ask_away(1, 6)).await;
    assert!(matches!(gone, Err(StoreError::NotPublished(_))), "{gone:?}");
    // What is withdrawn may be asked back.
    store.ask_review(ask(1, "ada", 7)).await.unwrap();
}

pub(crate) async fn a_seed_ends_what_was_asked_of_the_revision_before(place: Arc<Place>) {
    let store = place.store().await;
    let bring = async |word| {
        let seeds = [RECORD, "cuda/y"].map(|name| seed(name, record(name, word)));
        let source = SeedSource::Program;
        store.seed(source, seeds.to_vec().into(), at(2)).await.unwrap();
    };
    bring("one").await;
    store.ask_review(ask_away(1, 3)).await.unwrap();
    bring("one").await;
    assert_eq!(store.open_reviews(10).await.unwrap().len(), 1);
    bring("two").await;
    assert_eq!(store.open_reviews(10).await.unwrap(), []);
    let ended = store.reviews(&id(RECORD), 10).await.unwrap().remove(0);
    assert_eq!(
        (ended.state, ended.decided.unwrap().by.as_str()),
        (ReviewState::Withdrawn, "seed")
    );
}

pub(crate) async fn one_question_ends_no_other(place: Arc<Place>) {
    let store = with_draft(&place).await;
    let draft = store.ask_review(ask(2, "ada", 3)).await.unwrap();
    let refused = store.ask_review(ask_away(1, 4)).await;
    assert!(
        matches!(&refused, Err(StoreError::AnotherQuestion { by }) if by == "ada"),
        "{refused:?}"
    );
    assert_eq!(
        store.open_reviews(10).await.unwrap(),
        std::slice::from_ref(&draft)
    );
    let instead = NewReview {
        gives_way: Some(draft.n),
        ..ask_away(1, 5)
    };
    let asked = store.ask_review(instead).await.unwrap();
    assert_eq!(store.open_reviews(10).await.unwrap(), [asked]);
    // The same kind of question, with other values, is another one.
    let elsewhere = |gives_way| NewReview {
        asks: Asks::Withdraw { replaced_by: None },
        gives_way,
        ..ask_away(1, 5)
    };
    let refused = store.ask_review(elsewhere(None)).await;
    assert!(
        matches!(refused, Err(StoreError::AnotherQuestion { .. })),
        "{refused:?}"
    );
    let noted = NewReview {
        note: Some("another note".to_owned()),
        ..ask_away(1, 5)
    };
    let refused = store.ask_review(noted).await;
    assert!(
        matches!(refused, Err(StoreError::AskedAlready { .. })),
        "{refused:?}"
    );
    let asked = store.ask_review(elsewhere(Some(2))).await.unwrap();
    assert_eq!(store.open_reviews(10).await.unwrap(), [asked]);
    // What gave way is another one by now.
    let late = NewReview {
        gives_way: Some(draft.n),
        ..ask(2, "ada", 6)
    };
    let late = store.ask_review(late).await;
    assert!(
        matches!(late, Err(StoreError::AnotherQuestion { .. })),
        "{late:?}"
    );
}

pub(crate) async fn what_a_review_asked_for_relies_on_it(place: Arc<Place>) {
    let store = with_draft(&place).await;
    published(store.as_ref(), "cuda/y", record("cuda/y", "y")).await;
    store.publish(publish(RECORD, 2)).await.unwrap();
    let asked = store.ask_review(ask_away(2, 3)).await.unwrap();
    let ended = EndReview {
        record: id(RECORD),
        n: asked.n,
        revision: revision(2),
        state: ReviewState::SentBack,
        by: by("bob"),
        reason: "it is right".to_owned(),
        at: at(5),
    };
    assert!(store.end_review(ended).await.unwrap());
    let withdrawal = |approves| Withdrawal {
        id: id(RECORD),
        by: by("eve"),
        reason: None,
        replaced_by: None,
        expected: Some(revision(2)),
        approves: Some(approves),
        at: at(6),
    };
    let merge = |approves, expected| Merge {
        id: id(RECORD),
        into: id("cuda/y"),
        by: by("eve"),
        reason: None,
        expected: Some(revision(expected)),
        approves: Some(approves),
        at: at(6),
    };
    let late = store.take_back(withdrawal(asked.n)).await;
    assert!(matches!(late, Err(StoreError::NoOpenReview(_))), "{late:?}");
    let late = store.merge(merge(asked.n, 2)).await;
    assert!(matches!(late, Err(StoreError::NoOpenReview(_))), "{late:?}");
    let again = store.ask_review(ask_away(2, 7)).await.unwrap();
    assert_eq!(
        store.merge(merge(again.n, 1)).await.unwrap(),
        None,
        "another was seen"
    );
    store.take_back(withdrawal(again.n)).await.unwrap();
    let decided = store.reviews(&id(RECORD), 1).await.unwrap().remove(0);
    assert_eq!((decided.n, decided.state), (again.n, ReviewState::Approved));
}

pub(crate) async fn no_open_review_outlives_its_record(place: Arc<Place>) {
    let store = with_draft(&place).await;
    let store = store.as_ref();
    published(store, "cuda/y", record("cuda/y", "y")).await;
    // Of a draft, which only a withdrawal leaves behind.
    store.ask_review(ask(2, "ada", 3)).await.unwrap();
    store.withdraw(&id(RECORD), &by("bob"), at(4)).await.unwrap();
    assert_eq!(store.open_reviews(10).await.unwrap(), []);
    // Of an older revision, and of a withdrawal.
    for (name, to) in [("cuda/m", None), ("cuda/n", Some("cuda/o"))] {
        let into = Asks::Merge { into: id("cuda/y") };
        for asks in [Asks::Publish, ask_away(2, 5).asks, into] {
            let word = asks.as_str();
            let name = format!("{name}-{word}");
            for text in ["one", "two"] {
                published(store, &name, record(&name, text)).await;
            }
            let number = if asks == Asks::Publish { 1 } else { 2 };
            // Under another id it is there still, and a withdrawal in favour of a record is no merge into it.
            let is_done = to.is_none() && matches!(asks, Asks::Merge { .. });
            let asked = NewReview {
                record: id(&name),
                asks,
                ..ask(number, "ada", 5)
            };
            store.ask_review(asked).await.unwrap();
            let gone = match to {
                None => store.merge(Merge {
                    id: id(&name),
                    into: id("cuda/y"),
                    by: by("bob"),
                    reason: None,
                    expected: None,
                    approves: None,
                    at: at(6),
                }),
                Some(to) => {
                    let to = format!("{to}-{word}");
                    let (document, annex) = record(&to, "two");
                    store.rename(Rename {
                        id: id(&name),
                        revision: revision(2),
                        to: id(&to),
                        document,
                        annex,
                        by: by("bob"),
                        at: at(6),
                    })
                }
            };
            gone.await.unwrap().unwrap();
            assert_eq!(store.open_reviews(10).await.unwrap(), [], "{name}");
            let ended = store.reviews(&id(&name), 1).await.unwrap().remove(0).state;
            let expected = if is_done {
                ReviewState::Approved
            } else {
                ReviewState::Withdrawn
            };
            assert_eq!(ended, expected, "{name}");
        }
    }
}

pub(crate) async fn a_review_ends_once(place: Arc<Place>) {
    let store = with_draft(&place).await;
    store.ask_review(ask(2, "ada", 3)).await.unwrap();
    let end = |n| EndReview {
        record: id(RECORD),
        n,
        revision: revision(2),
        state: ReviewState::SentBack,
        by: by("bob"),
        reason: "the source says otherwise".to_owned(),
        at: at(5),
    };
    assert!(!store.end_review(end(2)).await.unwrap());
    assert!(store.end_review(end(1)).await.unwrap());
    assert!(!store.end_review(end(1)).await.unwrap());
    let ended = store.reviews(&id(RECORD), 10).await.unwrap().remove(0);
    assert_eq!(ended.state, ReviewState::SentBack);
    assert_eq!(
        ended.decided.unwrap().reason.as_deref(),
        Some("the source says otherwise")
    );
    let query = AuditQuery {
        action: Some("review".to_owned()),
        limit: 10,
        ..AuditQuery::default()
    };
    let told = store.audit(&query).await.unwrap();
    let told: Vec<&str> = told.iter().map(|entry| entry.action.as_str()).collect();
    assert_eq!(told, ["review.send_back", "review.ask"]);
}

pub(crate) async fn comments_stand_in_order_and_are_done_once(place: Arc<Place>) {
    let store = with_draft(&place).await;
    for (number, body) in [(1, "why?"), (2, "因为")] {
        let comment = NewComment {
            record: id(RECORD),
            revision: revision(2),
            part: Part::Annex,
            pointer: "/patterns/0".to_owned(),
            by: by("bob"),
            body: body.to_owned(),
            at: at(3),
        };
        assert_eq!(store.add_comment(comment).await.unwrap(), Some(number));
    }
    let done = |n| {
        let store = Arc::clone(&store);
        async move {
            store
                .resolve_comment(&id(RECORD), n, &by("ada"), at(4))
                .await
                .unwrap()
        }
    };
    assert!(done(2).await);
    assert!(!done(2).await && !done(3).await);
    let comments = store.comments(&id(RECORD)).await.unwrap();
    let shown: Vec<_> = comments
        .iter()
        .map(|comment| (comment.n, comment.body.as_str(), comment.resolved.clone()))
        .collect();
    assert_eq!(
        shown,
        [(1, "why?", None), (2, "因为", Some(("ada".to_owned(), at(4))))]
    );
    assert_eq!(comments[0].part, Part::Annex);
}

pub(crate) async fn a_withdrawn_record_says_why_and_what_replaces_it(place: Arc<Place>) {
    let store = place.store().await;
    published(store.as_ref(), RECORD, record(RECORD, "x")).await;
    published(store.as_ref(), "cuda/y", record("cuda/y", "y")).await;
    let withdrawal = Withdrawal {
        id: id(RECORD),
        by: by("ada"),
        reason: Some("the same as another".to_owned()),
        replaced_by: Some(id("cuda/y")),
        expected: Some(revision(1)),
        approves: None,
        at: at(9),
    };
    let unseen = Withdrawal {
        expected: Some(revision(2)),
        ..withdrawal.clone()
    };
    let refused = store.take_back(unseen).await;
    assert!(
        matches!(refused, Err(StoreError::AnotherPublished(_))),
        "{refused:?}"
    );
    store.take_back(withdrawal).await.unwrap();
    let status = store.status(&id(RECORD)).await.unwrap().unwrap();
    assert_eq!(status.withdrawn_reason.as_deref(), Some("the same as another"));
    assert_eq!(status.replaced_by, Some(id("cuda/y")));
    // Published again, it says so no longer.
    store.publish(publish(RECORD, 1)).await.unwrap();
    let status = store.status(&id(RECORD)).await.unwrap().unwrap();
    assert_eq!((status.withdrawn_reason, status.replaced_by), (None, None));
}
