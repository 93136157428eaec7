//! Which glibc a program needs: the versions of symbols that its dynamic section asks of the system's libraries.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use object::Endianness;
use object::elf::FileHeader64;
use object::read::elf::{FileHeader as _, SectionHeader as _};

/// A version of symbols that a program needs of a library.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Need {
    /// For example `libc.so.6`.
    library: String,
    /// For example `GLIBC_2.17`.
    version: String,
}

/// Fails where a program needs a glibc newer than `most` (`2.17` is `[2, 17]`), and says which one it needs.
pub(super) fn check(program: &Path, most: &[u32]) -> Result<String> {
    let data = std::fs::read(program).with_context(|| program.display().to_string())?;
    let needs = needs(&data).with_context(|| format!("{} is no ELF program", program.display()))?;
    let too_new: Vec<String> = too_new(&needs, most)
        .map(|need| format!("{} of {}", need.version, need.library))
        .collect();
    ensure!(
        too_new.is_empty(),
        "{} needs a glibc that is newer than {}: {}",
        program.display(),
        dotted(most),
        too_new.join(", ")
    );
    let newest = needs.iter().filter_map(|need| number(&need.version)).max();
    newest
        .map(|newest| dotted(&newest))
        .with_context(|| format!("{} needs no glibc: it cannot open libraries", program.display()))
}

/// What a program needs, as RPM names it: `libc.so.6(GLIBC_2.17)(64bit)`.
pub(super) fn required(program: &Path) -> Result<std::collections::BTreeSet<String>> {
    let data = std::fs::read(program).with_context(|| program.display().to_string())?;
    let needs = needs(&data).with_context(|| format!("{} is no ELF program", program.display()))?;
    let named = needs
        .iter()
        .map(|need| format!("{}({})(64bit)", need.library, need.version));
    Ok(named.collect())
}

/// What the loader looks for before it starts the program (`.gnu.version_r`).
fn needs(data: &[u8]) -> object::Result<Vec<Need>> {
    let header = FileHeader64::<Endianness>::parse(data)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, data)?;
    let mut found = Vec::new();
    for section in sections.iter() {
        let Some((mut libraries, link)) = section.gnu_verneed(endian, data)? else {
            continue;
        };
        let strings = sections.strings(endian, data, link)?;
        while let Some((library, mut versions)) = libraries.next()? {
            let name = String::from_utf8_lossy(library.file(endian, strings)?).into_owned();
            while let Some(version) = versions.next()? {
                found.push(Need {
                    library: name.clone(),
                    version: String::from_utf8_lossy(version.name(endian, strings)?).into_owned(),
                });
            }
        }
    }
    Ok(found)
}

/// Versions above the limit, and those of glibc that are no number: `GLIBC_ABI_DT_RELR` asks for 2.36,
/// `GLIBC_PRIVATE` for the very build.
fn too_new<'a>(needs: &'a [Need], most: &'a [u32]) -> impl Iterator<Item = &'a Need> {
    needs
        .iter()
        .filter(|need| need.version.starts_with("GLIBC_"))
        .filter(move |need| number(&need.version).is_none_or(|number| number.as_slice() > most))
}

fn number(version: &str) -> Option<Vec<u32>> {
    let parts = version.strip_prefix("GLIBC_")?.split('.');
    parts.map(|part| part.parse().ok()).collect()
}

fn dotted(number: &[u32]) -> String {
    let parts: Vec<String> = number.iter().map(ToString::to_string).collect();
    parts.join(".")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn need(version: &str) -> Need {
        Need {
            library: "libc.so.6".to_owned(),
            version: version.to_owned(),
        }
    }

    #[test]
    fn versions_compare_by_number() {
        let needs = ["GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.9", "GCC_3.0"].map(need);
        assert_eq!(too_new(&needs, &[2, 17]).count(), 0);
        let needs = ["GLIBC_2.18", "GLIBC_2.17.1", "GLIBC_ABI_DT_RELR", "GLIBC_PRIVATE"].map(need);
        assert_eq!(too_new(&needs, &[2, 17]).count(), 4);
    }

    #[test]
    fn what_this_program_needs_is_read_from_it() {
        let own = std::env::current_exe().unwrap();
        let newest = check(&own, &[99]).unwrap();
        assert!(newest.starts_with("2."), "{newest}");
        let refused = check(&own, &[2, 1]).unwrap_err().to_string();
        assert!(refused.contains("newer than 2.1: GLIBC_2."), "{refused}");
        let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        assert!(
            check(&text, &[99])
                .unwrap_err()
                .to_string()
                .contains("no ELF program")
        );
    }
}
