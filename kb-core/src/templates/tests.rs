use super::*;

fn text(tokens: &[String]) -> String {
    tokens.concat().trim().to_owned()
}

fn placed(templates: &mut Templates, line: &str) -> Placed {
    templates.place(tokens(line))
}

#[test]
fn lines_of_one_message_become_one_template() {
    let mut templates = Templates::new(100);
    let first = placed(
        &mut templates,
        "Nov 28 17:17:45 host-1 kernel: zorgblat: link 3 of GPU 0000:3b:00.0 failed with 0x1f after 300 ms",
    );
    assert_eq!(first, Placed::New(0));
    let again = "[   12.500000] zorgblat: link 4 of GPU 0000:af:00.0 failed with 0x20 after 2 ms";
    assert_eq!(placed(&mut templates, again), Placed::Known(0));
    assert_eq!(
        text(templates.get(0)),
        "zorgblat: link <number> of GPU <pci> failed with <address> after <number> ms"
    );
    let other = "zorgblat: port 4 of GPU 0000:af:00.0 failed with 0x20 after 2 ms";
    assert_eq!(placed(&mut templates, other), Placed::Widened(0));
    assert_eq!(
        text(templates.get(0)),
        "zorgblat: <*> <number> of GPU <pci> failed with <address> after <number> ms"
    );
    assert_eq!(placed(&mut templates, again), Placed::Known(0));
}

#[test]
fn other_messages_are_other_templates() {
    let mut templates = Templates::new(100);
    for (number, line) in [
        "zorgblat: cannot open device 3",
        "zorgblat: cannot close the channel of device 3",
        "frobnicator: invalid state of ring 7",
        "CUDA error 700 at kernel.cu:12",
        "CUDA error 217 at kernel.cu:12",
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(placed(&mut templates, line), Placed::New(number), "{line}");
    }
}

#[test]
fn there_are_no_more_templates_than_may_be() {
    let mut templates = Templates::new(10);
    let word = |number: u32| char::from_u32('a' as u32 + number).unwrap().to_string().repeat(6);
    for number in 0..20 {
        let found = placed(&mut templates, &format!("{} failed", word(number)));
        assert_eq!(found == Placed::Full, number >= 10, "{number}");
    }
    assert_eq!(templates.len(), 10);
    assert_eq!(placed(&mut templates, "aaaaaa failed"), Placed::Known(0));
}

#[test]
fn kept_templates_take_their_lines_again() {
    let mut templates = Templates::new(10);
    placed(&mut templates, "zorgblat: link 3 failed");
    let mut later = Templates::new(10);
    assert_eq!(later.restore(templates.get(0).to_vec()), Some(0));
    assert_eq!(placed(&mut later, "zorgblat: link 9 failed"), Placed::Known(0));
}
