//! `peerless-agent clear`: a person ends what has ended, with a reason that is kept.

use kb_core::health::ClearError;
use time::OffsetDateTime;

use crate::cli::ClearArgs;
use crate::clock::{Clock as _, SystemClock, timestamp};
use crate::process::say;

use super::{InputError, print};

pub(crate) fn clear(arguments: &ClearArgs) -> anyhow::Result<u8> {
    let ledger = arguments.state.ledger();
    let now: OffsetDateTime = SystemClock.now();
    if !ledger.is_expected(false) {
        let why = "no daemon has kept anything in this state folder (--state names another)";
        return Err(InputError(why.to_owned()).into());
    }
    let cleared = ledger.update(now, None, |ledger| {
        ledger.clear(&arguments.what, &arguments.reason, &arguments.by, &timestamp(now))
    });
    let cleared = cleared.map_err(|why| anyhow::anyhow!("nothing is cleared: {why}"))?;
    match cleared.value {
        Ok(_) if cleared.unkept.is_some() => {
            let why = cleared.unkept.unwrap_or_default();
            anyhow::bail!("nothing is cleared, since it could not be kept: {why}")
        }
        Ok(clear) => {
            for id in &clear.entries {
                print(&format!("cleared {id}\n"))?;
            }
            say(
                "what is still read as bad opens again with the next look; the next report tells of this clear",
            );
            Ok(0)
        }
        Err(error @ ClearError::NotOpen { .. }) => Err(InputError(error.to_string()).into()),
    }
}
