//! Bus, NVML and CUDA against each other.

use super::*;

fn listed(address: &str) -> ManagedGpu {
    ManagedGpu {
        address: Ok(address.to_owned()),
        uuid: None,
        is_mig: false,
    }
}

fn unanswered(why: Why) -> ManagedGpu {
    let message = "the call failed".to_owned();
    ManagedGpu {
        address: Err(Unanswered { why, message }),
        ..listed("")
    }
}

fn on_bus(address: &str, driver: Option<&str>) -> BusGpu {
    BusGpu {
        address: address.to_owned(),
        driver: driver.map(str::to_owned),
        excluded: false,
    }
}

const A: &str = "0000:3b:00.0";
const B: &str = "0000:5e:00.0";

/// A machine whose driver opens no CUDA, so that bus and NVML are compared alone.
fn roll(managed: Vec<ManagedGpu>, bus: Vec<BusGpu>) -> Roll<'static> {
    Roll {
        asked: None,
        expected: None,
        before: &[],
        earlier: BTreeSet::new(),
        opened: None,
        managed: Ok(managed),
        bus: Some(bus),
        visibility: Visibility::All,
        is_masked: false,
        is_by_bus: true,
    }
}

fn told(roll: &Roll<'_>) -> Vec<(Absence, Option<String>)> {
    let absent = roll.absent().into_iter();
    absent.map(|gpu| (gpu.absence, gpu.pci_address)).collect()
}

#[test]
fn a_gpu_of_the_bus_is_lost_only_to_whoever_sees_all() {
    let others = |driver: Option<&str>| vec![on_bus(A, Some("nvidia")), on_bus(B, driver)];
    let b = || Some(B.to_owned());
    for (driver, absence) in [
        (Some("nvidia"), Absence::Lost),
        (Some("vfio-pci"), Absence::OtherDriver),
        (Some("nouveau"), Absence::OtherDriver),
        (None, Absence::WithoutDriver),
    ] {
        assert_eq!(
            told(&roll(vec![listed(A)], others(driver))),
            [(absence, b())],
            "{driver:?}"
        );
    }
    for driver in [Some("nvidia"), None] {
        let confined = Roll {
            visibility: Visibility::Confined("a container".to_owned()),
            ..roll(vec![listed(A)], others(driver))
        };
        assert_eq!(told(&confined), [(Absence::NotGranted, b())], "{driver:?}");
        let unknown = Roll {
            visibility: Visibility::Unknown("cannot be read".to_owned()),
            ..confined
        };
        assert_eq!(told(&unknown), [(Absence::NotLookedAt, b())], "{driver:?}");
    }
    let mut excluded = roll(vec![listed(A)], others(Some("nvidia")));
    excluded.bus.as_mut().unwrap()[1].excluded = true;
    assert_eq!(told(&excluded), [(Absence::Excluded, b())]);
    assert_eq!(
        told(&roll(vec![listed(A), listed(B)], others(Some("nvidia")))),
        []
    );
    let unloaded = roll(Vec::new(), vec![on_bus(A, None), on_bus(B, Some("vfio-pci"))]);
    assert_eq!(told(&unloaded), []);
}

#[test]
fn what_nvml_calls_lost_is_told_once() {
    let bus = vec![on_bus(A, Some("nvidia")), on_bus(B, Some("nvidia"))];
    let gone = roll(vec![listed(A), unanswered(Why::Lost)], bus);
    assert_eq!(told(&gone), [(Absence::Lost, Some(B.to_owned()))]);
    let hidden = roll(vec![listed(A), unanswered(Why::Lost)], Vec::new());
    assert_eq!(told(&hidden), [(Absence::Lost, None)]);
    let unknown = [(Absence::NotLookedAt, None), (Absence::NotLookedAt, None)];
    let silent = || vec![unanswered(Why::NoPermission), unanswered(Why::Failed)];
    assert_eq!(told(&roll(silent(), Vec::new())), unknown);
    let confined = Roll {
        visibility: Visibility::Confined("a container".to_owned()),
        ..roll(silent(), Vec::new())
    };
    assert_eq!(
        told(&confined),
        [(Absence::NotGranted, None), (Absence::NotLookedAt, None)]
    );
    // Either of them may be one that the bus shows, so that none of these is lost.
    let bus = || vec![on_bus(A, Some("nvidia")), on_bus(B, Some("nvidia"))];
    assert_eq!(told(&roll(silent(), bus())), unknown);
    let one_too_few = told(&roll(vec![unanswered(Why::Failed)], bus()));
    assert!(one_too_few.iter().any(|(absence, _)| *absence == Absence::Lost));
}

#[test]
fn the_gpus_that_answer_are_counted() {
    let expecting = |expected| Roll {
        expected: Some(expected),
        ..roll(vec![listed(A), unanswered(Why::NoPermission)], Vec::new())
    };
    assert!(!told(&expecting(1)).contains(&(Absence::Missing, None)));
    assert!(told(&expecting(2)).contains(&(Absence::Missing, None)));
    let silent = Roll {
        managed: Err(NoList::NotAsked("no NVML".to_owned())),
        ..expecting(2)
    };
    assert_eq!(told(&silent), [], "the failure of the run says it");
}

#[test]
fn of_gpus_that_were_asked_for_the_first_that_is_not_there_is_missing() {
    let asking = |asked| Roll {
        asked: Some(asked),
        opened: Some(&[]),
        ..roll(vec![listed(A), listed(B)], Vec::new())
    };
    assert_eq!(told(&asking("7")), [(Absence::Missing, None)]);
    assert_eq!(
        told(&asking("1,0")),
        [
            (Absence::Missing, Some(B.to_owned())),
            (Absence::NotLookedAt, Some(A.to_owned()))
        ]
    );
    let mut split = asking("1,0");
    split.managed.as_mut().unwrap()[0].is_mig = true;
    assert!(told(&split).iter().all(|(absence, _)| *absence == Absence::Mig));
    split.asked = Some("7");
    assert_eq!(told(&split), [(Absence::NotLookedAt, None)]);
    let silent = Roll {
        managed: Err(NoList::NotAsked("no NVML".to_owned())),
        ..asking("0")
    };
    assert_eq!(told(&silent), [], "the failure of the run says it");
    let closed = Roll {
        opened: None,
        ..asking("0,7")
    };
    assert_eq!(told(&closed), [(Absence::Missing, None)], "the other is listed");
}

#[test]
fn nvml_that_answers_and_has_no_list_is_told() {
    let silent = |why| {
        let message = "nvmlDeviceGetCount_v2: it failed".to_owned();
        Roll {
            opened: Some(&[]),
            managed: Err(NoList::Unanswered(Unanswered { why, message })),
            ..roll(Vec::new(), Vec::new())
        }
    };
    assert_eq!(told(&silent(Why::Failed)), [(Absence::NotLookedAt, None)]);
    assert_eq!(told(&silent(Why::NoPermission)), [(Absence::NotLookedAt, None)]);
    assert_eq!(told(&silent(Why::Lost)), [(Absence::Lost, None)]);
    let closed = Roll {
        opened: None,
        ..silent(Why::Failed)
    };
    assert_eq!(told(&closed), [], "the failure of the run says it");
    let confined = Roll {
        asked: Some("0"),
        ..silent(Why::Failed)
    };
    assert!(!told(&confined).contains(&(Absence::Lost, None)));
}

#[test]
fn a_bus_that_cannot_be_read_is_told_where_all_gpus_should_be_seen() {
    let blind = Roll {
        bus: None,
        ..roll(vec![listed(A)], Vec::new())
    };
    assert_eq!(told(&blind), [(Absence::NotLookedAt, None)]);
    let confined = Roll {
        visibility: Visibility::Confined("a container".to_owned()),
        ..blind
    };
    assert_eq!(told(&confined), []);
}

/// So that the ledger does not take them for lost.
#[test]
fn gpus_beside_a_mig_device_are_told() {
    let mut mig = roll(vec![listed(A), listed(B)], Vec::new());
    mig.opened = Some(&[]);
    mig.managed.as_mut().unwrap()[0].is_mig = true;
    assert_eq!(
        told(&mig),
        [
            (Absence::Mig, Some(A.to_owned())),
            (Absence::Mig, Some(B.to_owned()))
        ]
    );
}
