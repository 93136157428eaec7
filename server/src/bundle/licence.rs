//! The licence of the records, in every form in which it is stated (docs/adr/0009). The program has its own.

pub const ID: &str = "CC-BY-4.0";
pub const NAME: &str = "Creative Commons Attribution 4.0 International";
pub const URL: &str = "https://creativecommons.org/licenses/by/4.0/";

pub fn statement() -> String {
    format!(
        "The records of Peerless are licensed under {NAME} ({ID}).\n{URL}\n\nYou may copy, change and pass them on, \
         also for money. Name Peerless as their source, say what you changed, and keep this statement. They come without \
         any warranty. Each record names the pages that it draws on under \"sources\"; quoted messages belong to the \
         programs that print them.\n"
    )
}
