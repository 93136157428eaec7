//! A text that is all there, looked up in turns. What is found counts against the bound on all answers until the request ends.

use actix_web::HttpRequest;

use super::body::Share;
use super::compute::Desk;
use super::error::Problem;

/// What a step of a lookup comes to: the result where it is the last, and the memory of what was found so far, in bytes.
pub(super) type Step<T, E> = (Option<Result<T, E>>, usize);

/// Takes steps until the last one. `bytes`: of the text.
pub(super) async fn in_turns<T: Send + 'static, E: Into<Problem>>(
    request: &HttpRequest,
    bytes: usize,
    mut step: impl FnMut() -> Step<T, E> + Send + 'static,
) -> Result<T, Problem> {
    let mut share = Share::of_answers(request);
    let counted = move || {
        let (result, found_bytes) = step();
        match result {
            None => share
                .grow_to(found_bytes)
                .err()
                .map(|busy| Err(Problem::from(busy))),
            Some(Ok(found)) => Some(Ok((found, std::mem::take(&mut share)))),
            Some(Err(error)) => Some(Err(error.into())),
        }
    };
    let (found, share) = Desk::of(request).in_turns(bytes, counted).await??;
    share.keep(request);
    Ok(found)
}
