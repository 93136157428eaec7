//! Who vouches for a record, and rates that are never shown without it.

use kb_core::record::{Document, VerificationTier};

use crate::render::i18n::record::Words;
use crate::render::words::Tone;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tier {
    pub tone: Tone,
    pub label: &'static str,
    pub means: &'static str,
}

impl Tier {
    pub fn of(document: &Document, words: &'static Words) -> Self {
        Self::from_tier(document.tier(), words)
    }

    pub fn named(name: &str, words: &'static Words) -> Self {
        let tier = serde_json::from_value(serde_json::Value::String(name.to_owned())).ok();
        Self::from_tier(tier, words)
    }

    fn from_tier(tier: Option<VerificationTier>, words: &'static Words) -> Self {
        let (tone, label, means) = match tier {
            Some(VerificationTier::AiGenerated) => (Tone::Warn, words.ai_generated, words.ai_generated_means),
            Some(VerificationTier::Documented) => (Tone::Good, words.documented, words.documented_means),
            Some(VerificationTier::Reproduced) => (Tone::Good, words.reproduced, words.reproduced_means),
            Some(VerificationTier::CommunityVerified) => (
                Tone::Good,
                words.community_verified,
                words.community_verified_means,
            ),
            Some(VerificationTier::HumanReviewed) => {
                (Tone::Good, words.human_reviewed, words.human_reviewed_means)
            }
            None => (Tone::Unknown, words.unvouched, words.unvouched_means),
        };
        Self { tone, label, means }
    }
}

/// A rate with what it rests on: `Said to work in 75 %: a claim without a source (AI-generated, unverified)`.
pub fn rate(verb: &str, share: f64, has_sources: bool, tier: &Tier, words: &Words) -> String {
    let basis = if has_sources {
        words.with_sources
    } else {
        words.claimed
    };
    format!("{verb} {}: {basis} ({})", percent(share), tier.label)
}

/// `75 %`.
pub fn percent(share: f64) -> String {
    format!("{:.0}\u{a0}%", share * 100.0)
}
