//! Each change of a record in the folder with each in the database, in one import.

use std::collections::BTreeMap;

use peerless::store::{By, Store};

use crate::round_trip::{CATEGORY, CAUSE, Setting, bytes, edit, out, published};
use crate::test_app::NOW;

/// What happens to a record on one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    None,
    /// Its root cause is another; each side has its own.
    Cause,
    Category,
    /// What the other side has, if that is a change of a text.
    Same,
    Gone,
    Draft,
}

/// What an import with --prune makes of it.
#[derive(Debug, PartialEq, Eq)]
enum Becomes {
    /// Root cause and category that readers see, and that the folder has.
    Both(&'static str, &'static str),
    /// The database changed alone, and the folder is as it was.
    Behind(Option<&'static str>),
    Withdrawn,
    /// Nothing changed on either side.
    Conflict,
}

const FOLDER: [Change; 4] = [Change::None, Change::Cause, Change::Category, Change::Gone];
const DATABASE: [Change; 5] = [
    Change::None,
    Change::Cause,
    Change::Same,
    Change::Gone,
    Change::Draft,
];

fn expected(folder: Change, database: Change) -> Becomes {
    use Becomes::{Behind, Both, Conflict, Withdrawn};
    match (folder, database) {
        (Change::None, Change::Cause) => Behind(Some("database")),
        (Change::None, Change::Gone) => Behind(None),
        (Change::None, _) => Both(CAUSE, CATEGORY),
        (Change::Cause, Change::None | Change::Same) => Both("folder", CATEGORY),
        (Change::Category, Change::None | Change::Same) => Both(CAUSE, "system_error"),
        (Change::Category, Change::Cause) => Both("database", "system_error"),
        (Change::Gone, Change::Cause | Change::Draft) => Conflict,
        (Change::Gone, _) => Withdrawn,
        _ => Conflict,
    }
}

fn each_pair() -> impl Iterator<Item = (Change, Change, String)> {
    FOLDER.into_iter().flat_map(|folder| {
        DATABASE.into_iter().map(move |database| {
            let id = format!("local/{folder:?}-{database:?}").to_lowercase();
            (folder, database, id)
        })
    })
}

async fn change_both(setting: &Setting, store: &dyn Store) {
    let of_folder = |change| match change {
        Change::Cause => Some((CAUSE, "folder")),
        Change::Category => Some((CATEGORY, "system_error")),
        _ => None,
    };
    for (folder, database, id) in each_pair() {
        match (folder, of_folder(folder)) {
            (Change::Gone, _) => setting.remove_file(&id),
            (_, Some((from, to))) => setting.edit_file(&id, from, to),
            _ => {}
        }
        match (database, of_folder(folder)) {
            (Change::Cause, _) => edit(store, &id, (CAUSE, "database"), true).await,
            (Change::Draft, _) => edit(store, &id, (CAUSE, "draft"), false).await,
            (Change::Same, Some(change)) => edit(store, &id, change, true).await,
            (Change::Gone, _) => {
                let by = By::system("editor");
                store.withdraw(&id.parse().unwrap(), &by, NOW).await.unwrap();
            }
            _ => {}
        }
    }
}

fn holds(text: Option<&String>, cause: &str, category: &str) -> bool {
    text.is_some_and(|text| {
        text.contains(&format!("\"root_cause\": \"{cause}\""))
            && text.contains(&format!("\"category\": \"{category}\""))
    })
}

#[tokio::test]
async fn each_change_on_either_side_and_on_both_becomes_what_it_should() {
    let ids: Vec<String> = each_pair().map(|(_, _, id)| id).collect();
    let setting = Setting::of(&ids.iter().map(String::as_str).collect::<Vec<_>>());
    let store = setting.store().await;
    change_both(&setting, store.as_ref()).await;
    let mut before = BTreeMap::new();
    for id in &ids {
        before.insert(
            id.clone(),
            (setting.file(id), published(store.as_ref(), id).await),
        );
    }
    let seq = store.head_seq().await.unwrap();
    let would = setting.import(&["--prune", "--dry-run"]);
    assert_eq!(would.status.code(), Some(1), "{}", out(&would));
    assert!(
        out(&would).contains("would merge: local/category-cause"),
        "{}",
        out(&would)
    );
    assert_eq!(store.head_seq().await.unwrap(), seq, "nothing was done");

    let imported = setting.import(&["--prune"]);
    let told = out(&imported);
    assert_eq!(imported.status.code(), Some(1), "{told}");
    for (folder, database, id) in each_pair() {
        let now = (setting.file(&id), published(store.as_ref(), &id).await);
        let what = format!("{id}: {now:?}\n{told}");
        match expected(folder, database) {
            Becomes::Both(cause, category) => {
                assert!(holds(now.0.as_ref(), cause, category), "folder, {what}");
                assert_eq!(now.0, now.1, "{what}");
            }
            Becomes::Behind(cause) => {
                assert!(holds(now.0.as_ref(), CAUSE, CATEGORY), "{what}");
                assert_eq!(now.1.is_some(), cause.is_some(), "{what}");
                if let Some(cause) = cause {
                    assert!(holds(now.1.as_ref(), cause, CATEGORY), "database, {what}");
                }
            }
            Becomes::Withdrawn => assert_eq!(now, (None, None), "{what}"),
            Becomes::Conflict => {
                assert_eq!(now, before[&id], "{what}");
                assert!(told.contains(&format!("conflict: {id}:")), "{what}");
                assert!(told.contains(&format!("--take-database {id}\n")), "{what}");
            }
        }
    }
    // Both texts of a field that both changed.
    for line in ["    folder:   \"folder\"", "    database: \"database\""] {
        assert!(told.contains(line), "{told}");
    }

    let seq = store.head_seq().await.unwrap();
    let again = setting.import(&["--prune"]);
    assert_eq!(again.status.code(), Some(1));
    assert_eq!(store.head_seq().await.unwrap(), seq, "{}", out(&again));
    settle(&setting, store.as_ref()).await;
}

/// An export brings what the database changed alone, and each conflict ends as somebody decides.
async fn settle(setting: &Setting, store: &dyn Store) {
    let exported = setting.export(&[]);
    assert!(exported.status.success(), "{}", out(&exported));
    assert!(holds(
        setting.file("local/none-cause").as_ref(),
        "database",
        CATEGORY
    ));
    assert_eq!(setting.file("local/none-gone"), None);
    assert!(holds(
        setting.file("local/cause-cause").as_ref(),
        "folder",
        CATEGORY
    ));

    let folder_is_right = [
        "local/cause-cause",
        "local/cause-draft",
        "local/gone-cause",
        "local/gone-draft",
    ];
    let database_is_right = ["local/cause-gone", "local/category-gone", "local/category-draft"];
    let took = folder_is_right.iter().map(|id| ["--take-folder", id]);
    let took = took.chain(database_is_right.iter().map(|id| ["--take-database", id]));
    let took: Vec<&str> = took.flatten().collect();
    let taken = setting.import(&took);
    assert_eq!(taken.status.code(), Some(0), "{}", out(&taken));
    for id in ["local/cause-cause", "local/cause-draft"] {
        assert!(
            holds(published(store, id).await.as_ref(), "folder", CATEGORY),
            "{id}"
        );
    }
    for id in ["local/gone-cause", "local/gone-draft"] {
        assert_eq!(published(store, id).await, None, "{id}");
    }
    for id in ["local/cause-gone", "local/category-gone"] {
        assert_eq!(
            (setting.file(id), published(store, id).await),
            (None, None),
            "{id}"
        );
    }
    assert!(holds(
        setting.file("local/category-draft").as_ref(),
        CAUSE,
        CATEGORY
    ));
    let nothing = setting.import(&["--prune"]);
    assert_eq!(nothing.status.code(), Some(0));
    assert!(out(&nothing).contains("nothing to do"), "{}", out(&nothing));
    let files = bytes(&setting.records);
    assert!(setting.export(&[]).status.success());
    assert_eq!(bytes(&setting.records), files);
}
