//! Fields of a form, counted before they are made: each of `a&a&…` takes 48 bytes for its two.

use actix_web::web::Query;

use super::BodyError;
use crate::web::error::{Code, Problem};
use crate::web::limits::FORM_FIELDS;

/// The fields of a form in their order.
pub fn fields(encoded: &str) -> Result<Vec<(String, String)>, Problem> {
    if encoded.bytes().filter(|byte| *byte == b'&').count() >= FORM_FIELDS {
        return Err(BodyError::TooManyFields(FORM_FIELDS).into());
    }
    let fields = Query::<Vec<(String, String)>>::from_query(encoded);
    // The cause may quote what was typed, so it is not passed on.
    fields
        .map(Query::into_inner)
        .map_err(|_| Problem::new(Code::MalformedBody, "the form cannot be read"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_in_order_up_to_a_number() {
        let read = fields("text=a%0D%0Ab+c&driver=550.54&text=").unwrap();
        let owned = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            read,
            [
                owned("text", "a\r\nb c"),
                owned("driver", "550.54"),
                owned("text", "")
            ]
        );
        assert!(fields(&"a&".repeat(FORM_FIELDS - 1)).is_ok());
        assert!(fields(&"a&".repeat(FORM_FIELDS)).is_err());
    }
}
