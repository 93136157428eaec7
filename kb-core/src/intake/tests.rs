use super::*;

const LINE: &str = "NVRM: Xid (PCI:0000:3b:00): 79, 显卡 has fallen off the bus 🔥\r\n";

/// The text and the judgement, of bytes that come in pieces of a length.
fn read(bytes: &[u8], length: usize) -> (Vec<u8>, Result<(), NotText>) {
    let mut intake = Intake::default();
    let mut text = Vec::new();
    for piece in bytes.chunks(length) {
        text.extend_from_slice(&intake.push(piece));
    }
    text.extend(intake.end());
    (text, intake.judge())
}

fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(unit).collect()
}

/// Bytes without a pattern, the same each time (an xorshift generator, period 2^64 - 1).
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn utf16_is_read_with_and_without_its_mark_however_it_is_cut() {
    let text = LINE.repeat(5000);
    for (mark, bytes) in [
        (&[0xff, 0xfe][..], utf16(&text, u16::to_le_bytes)),
        (&[0xfe, 0xff], utf16(&text, u16::to_be_bytes)),
        (&[], utf16(&text, u16::to_le_bytes)),
        (&[], utf16(&text, u16::to_be_bytes)),
    ] {
        let bytes = [mark, &bytes].concat();
        for length in [1, 3, 4096, bytes.len()] {
            let (read, judged) = read(&bytes, length);
            assert!(read == text.as_bytes(), "mark {mark:?}, pieces of {length}");
            assert_eq!(judged, Ok(()));
        }
    }
    let alone = [0xff, 0xfe, b'a', 0, 0x00, 0xd8, b'b', 0, 0x01, 0xdc, 0x00, 0xd8];
    assert_eq!(read(&alone, 5).0, "a\u{fffd}b\u{fffd}\u{fffd}".as_bytes());
    assert_eq!(read(&[0xff, 0xfe, b'a', 0, b'b'], 5).0, "a\u{fffd}".as_bytes());
}

/// What `>>` of PowerShell makes.
#[test]
fn utf16_and_ascii_that_follow_each_other_are_read() {
    let ascii = "2026-01-02 step 1\n".repeat(50);
    let xid = "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\r\n";
    let little = utf16(xid, u16::to_le_bytes);
    let big = utf16(xid, u16::to_be_bytes);
    let after_ascii = |bytes: &[u8]| [ascii.as_bytes(), bytes].concat();
    let whole = format!("{ascii}{xid}");
    for (name, bytes, text) in [
        ("little", after_ascii(&little), whole.clone()),
        ("big", after_ascii(&big), whole.clone()),
        (
            "little with mark",
            after_ascii(&[&[0xff, 0xfe], little.as_slice()].concat()),
            whole.clone(),
        ),
        (
            "big with mark",
            after_ascii(&[&[0xfe, 0xff], big.as_slice()].concat()),
            whole,
        ),
        (
            "a short one",
            after_ascii(&utf16("ok", u16::to_le_bytes)),
            format!("{ascii}ok"),
        ),
        (
            "ascii behind",
            [&[0xff, 0xfe], little.as_slice(), xid.as_bytes()].concat(),
            xid.repeat(2),
        ),
        (
            "ascii behind big",
            [big.as_slice(), xid.as_bytes()].concat(),
            xid.repeat(2),
        ),
        (
            "a short one behind",
            [little.as_slice(), b"end\n"].concat(),
            format!("{xid}end\n"),
        ),
        (
            "a mark alone",
            [&[0xff, 0xfe], xid.as_bytes()].concat(),
            xid.to_owned(),
        ),
        (
            "several",
            [little.as_slice(), xid.as_bytes(), &little, xid.as_bytes()].concat(),
            xid.repeat(4),
        ),
        // The first characters are no ASCII, so that nothing tells the order of the bytes.
        (
            "Chinese first",
            utf16(&format!("显卡{xid}"), u16::to_le_bytes),
            format!("\u{3e}f\u{61}S{xid}"),
        ),
    ] {
        for length in [1, 2, 3, 7, 64, bytes.len()] {
            let (read, judged) = read(&bytes, length);
            assert_eq!(judged, Ok(()), "{name}");
            assert_eq!(String::from_utf8_lossy(&read), text, "{name}, pieces of {length}");
        }
    }
    let chinese = "显卡从总线上掉线，无法访问。请检查电源与插槽，再重新启动服务器。\r\n".repeat(300);
    let bytes = utf16(&format!("Log\r\n{chinese}"), u16::to_le_bytes);
    assert_eq!(read(&bytes, 100).0, format!("Log\r\n{chinese}").as_bytes());
}

fn utf32(text: &str, bytes: impl Fn(u32) -> [u8; 4]) -> Vec<u8> {
    text.chars()
        .flat_map(|character| bytes(character.into()))
        .collect()
}

#[test]
fn a_compressed_file_behind_text_is_told() {
    let text = "2026-01-02 step 1\n".repeat(9000);
    for (magic, form) in [
        (&[0x1f, 0x8b, 8, 0][..], Form::Gzip),
        (&[0x28, 0xb5, 0x2f, 0xfd], Form::Zstd),
        (b"\xfd7zXZ\0", Form::Xz),
        (b"BZh91AY&SY", Form::Bzip2),
        (b"PK\x03\x04\x14\0\0\0", Form::Zip),
        (&[0x04, 0x22, 0x4d, 0x18, 0x64], Form::Lz4),
        (b"7z\xbc\xaf\x27\x1c\0\x04", Form::SevenZip),
        (b"LPKSHHRH\0\0", Form::Journal),
        (b"SQLite format 3\0\x10", Form::Sqlite),
        (b"\x7fELF\x02\x01", Form::Elf),
        (b"\x89PNG\r\n\x1a\n\0", Form::Image),
        (&utf32("Xid 79", u32::to_le_bytes), Form::Utf32),
        (&utf32("Xid 79", u32::to_be_bytes), Form::Utf32),
    ] {
        let bytes = [text.as_bytes(), magic, &noise(300)].concat();
        let place = text.len() as u64;
        for length in [1, 2, 3, 1000, bytes.len()] {
            let (read, judged) = read(&bytes, length);
            assert!(read.starts_with(text.as_bytes()), "{form:?}");
            assert_eq!(
                judged,
                Err(NotText::Behind { form, place }),
                "{form:?}, pieces of {length}"
            );
        }
    }
    let told = NotText::Behind {
        form: Form::Gzip,
        place: 12,
    };
    assert_eq!(
        told.to_string(),
        "behind the first 12 bytes stands a gzip file, which was not read: cut it out with `tail -c +13 FILE`, and send \
         what `zcat FILE` prints of that"
    );
}

#[test]
fn text_goes_through_as_it_is() {
    for text in [
        "",
        "a",
        "PK",
        "BZh9 is how bzip2 begins",
        LINE,
        "\u{feff}with a mark\n",
    ] {
        for length in [1, 2, 100] {
            assert_eq!(
                read(text.as_bytes(), length),
                (text.as_bytes().to_vec(), Ok(())),
                "{text:?}"
            );
        }
    }
    let mut intake = Intake::default();
    assert!(matches!(
        intake.push(b"NVRM: Xid 79\n"),
        Cow::Borrowed(b"NVRM: Xid 79\n")
    ));
    // What a terminal was drawn with, a cell of NUL that a crash left, and letters of another code page.
    let colours = "\u{1b}[32m 73%|\u{2588}\u{2588} | 12/16\u{8}\u{8}\r\u{1b}[0m".repeat(9000);
    let crashed = [
        LINE.repeat(1000).as_bytes(),
        &[0; 9000],
        LINE.repeat(1000).as_bytes(),
    ]
    .concat();
    let latin = b"Erreur d'acc\xe8s au p\xe9riph\xe9rique\n".repeat(3000);
    for text in [colours.into_bytes(), crashed, latin] {
        assert_eq!(read(&text, 1000), (text, Ok(())));
    }
}

#[test]
fn what_is_no_text_says_what_it_looks_like_and_what_to_do() {
    let archive = [&b"PK\x03\x04"[..], &noise(5000)].concat();
    for length in [1, 3, 6000] {
        let (text, judged) = read(&archive, length);
        assert_eq!((text.len(), judged), (0, Err(NotText::Form(Form::Zip))));
    }
    let told = NotText::Form(Form::Xz).to_string();
    assert_eq!(told, "it is an xz file, not text: send what `xzcat FILE` prints");

    let binary = noise(300_000);
    let whole = read(&binary, binary.len()).1;
    assert!(
        matches!(whole, Err(NotText::Unprintable { percent: 45..65 })),
        "{whole:?}"
    );
    for length in [1, 1000] {
        assert_eq!(read(&binary, length).1, whole, "pieces of {length}");
    }
    // A part of a text, which is too small for a share of the whole.
    let text = "2026-01-02 step 1\n".repeat(30_000);
    let part = [text.as_bytes(), &noise(100_000)].concat();
    for length in [1000, part.len()] {
        let judged = read(&part, length).1;
        assert!(
            matches!(
                judged,
                Err(NotText::Part {
                    place: 540_000..640_000
                })
            ),
            "{judged:?}"
        );
    }
    // Another program has read it as UTF-8 before.
    let lossy = String::from_utf8_lossy(&binary).into_owned();
    assert!(read(lossy.as_bytes(), 1000).1.is_err());
    let wide: Vec<u8> = LINE.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    let wide = [&[0xff, 0xfe, 0, 0][..], &wide].concat();
    assert!(matches!(read(&wide, 1000).1, Err(NotText::Zeros { .. })));
    assert!(read(&[0; 3], 1).1.is_err());
}

#[test]
fn all_first_bytes_are_within_what_is_asked_for() {
    let magic: [&[u8]; 3] = [b"SQLite format 3\0", b"BZh91AY&SY", b"\xfd7zXZ\0"];
    for magic in magic {
        assert!(magic.len() <= Form::HEAD_BYTES);
        assert!(Form::of(magic).is_some());
        assert_eq!(Form::of(&magic[..magic.len() - 1]), None);
    }
}

#[test]
fn text_that_was_encoded_as_a_whole_is_refused_with_a_way_out() {
    let text = LINE.repeat(50);
    let of_bytes = |write: fn(u8) -> String| text.bytes().map(write).collect::<Vec<String>>().concat();
    let hex = of_bytes(|byte| format!("{byte:02x}"));
    let lines = |letters: &str| {
        let lines: Vec<&[u8]> = letters.as_bytes().chunks(76).collect();
        String::from_utf8(lines.join(&b'\n')).unwrap()
    };
    let pairs = of_bytes(|byte| format!("{byte:02x} "));
    let base64 =
        lines(&"TlZSTTogWGlkIChQQ0k6MDAwMDozYjowMCk6IDc5LCBHUFUgaGFzIGZhbGxlbiBvZmYgdGhl".repeat(40));
    let octal = of_bytes(|byte| format!("\\{byte:03o}"));
    let escaped = of_bytes(|byte| format!("\\x{byte:02x}"));
    let letters = text.chars().filter(char::is_ascii_graphic);
    let bold: Vec<String> = letters.map(|letter| format!("{letter}\u{8}{letter}")).collect();
    for (text, coding) in [
        (lines(&hex), Coding::Base64),
        (pairs, Coding::Base64),
        (base64, Coding::Base64),
        (octal, Coding::Escapes),
        (escaped, Coding::Escapes),
        (bold.concat(), Coding::Overstruck),
    ] {
        let judged = read(text.as_bytes(), 1000).1;
        assert_eq!(
            judged,
            Err(NotText::Coded(coding)),
            "{}",
            text.get(..80).unwrap_or(&text)
        );
        // In a log it is a part, and the rest is read.
        let log = format!(
            "{}{text}",
            "step 100 loss 2.31 lr 0.0003\n".repeat(text.len() / 100)
        );
        assert_eq!(read(log.as_bytes(), 1000).1, Ok(()));
    }
    for text in [
        "=".repeat(60) + "\n",
        "10 20 30 40 50 60 70 80 90 11 22\n".to_owned(),
        "GPU-5eed0c1a-0f3b-4a7d-9c2e-d41f8e6b7a90\n".to_owned(),
        "2296855e4a1b7c9d0e3f5a6b8c7d9e0f1a2b3c4d\n".to_owned(),
        "/usr/lib/x86_64-linux-gnu/libcuda.so.1\n".to_owned(),
    ] {
        assert_eq!(read(text.repeat(100).as_bytes(), 1000).1, Ok(()), "{text}");
    }
}
