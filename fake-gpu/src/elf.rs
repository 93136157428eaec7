//! Takes a symbol out of a shared library, so that `dlsym` does not find it, as in a driver without a newer function.

use std::ops::Range;

const SECTION_DYNSYM: u32 = 11;
const SYMBOL_BYTES: usize = 24;

/// Makes the dynamic symbol `name` undefined in a 64-bit little-endian image. Fails on other images or without it.
pub(crate) fn hide_symbol(image: &mut [u8], name: &str) -> Result<(), &'static str> {
    let symbol = find_symbol(image, name).ok_or("no such symbol in the library")?;
    // st_shndx (2 bytes at 6), st_value and st_size: the loader passes over a symbol whose value is zero.
    image
        .get_mut(symbol.start + 6..symbol.end)
        .ok_or("the symbol table ends early")?
        .fill(0);
    Ok(())
}

fn find_symbol(image: &[u8], name: &str) -> Option<Range<usize>> {
    if image.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let sections = number(image, 0x28, 8)?;
    let section_bytes = number(image, 0x3a, 2)?;
    let section_count = number(image, 0x3c, 2)?;
    let section = |index: usize| sections + index * section_bytes;
    let dynsym = (0..section_count)
        .map(section)
        .find(|at| number(image, at + 4, 4) == Some(SECTION_DYNSYM as usize))?;
    let names = number(image, section(number(image, dynsym + 0x28, 4)?) + 0x18, 8)?;
    let table = number(image, dynsym + 0x18, 8)?;
    let count = number(image, dynsym + 0x20, 8)? / SYMBOL_BYTES;
    let start = (0..count).map(|index| table + index * SYMBOL_BYTES).find(|at| {
        let text = number(image, *at, 4).and_then(|offset| image.get(names + offset..));
        text.is_some_and(|text| text.starts_with(name.as_bytes()) && text.get(name.len()) == Some(&0))
    })?;
    Some(start..start + SYMBOL_BYTES)
}

/// A little-endian number of up to 8 bytes.
fn number(image: &[u8], at: usize, bytes: usize) -> Option<usize> {
    let field = image.get(at..at.checked_add(bytes)?)?;
    let value = field
        .iter()
        .rev()
        .fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
    usize::try_from(value).ok()
}
