//! What parameters look like, beyond their type: told to the description, so that clients made from it and programs that
//! try it out ask for what can be answered.

use kb_core::ids::RECORD_ID_PATTERN;
use utoipa::Modify;
use utoipa::Number;
use utoipa::openapi::path::Parameter;
use utoipa::openapi::schema::{Object, Schema};
use utoipa::openapi::{OpenApi, RefOr};

use crate::feed::MAX_DEPTH;
use crate::web::limits::PAGE_MAX;
use peerless_search::MAX_LIMIT;

const OPAQUE_ID: &str = "^[A-Za-z0-9._:-]+$";
/// A record that comes with the program.
const EXAMPLE: &str = "cuda/peer-access-unsupported-by-hardware";
const REVISION: &str = "^(head|r?[0-9]{1,9})$";
const KINDS: &str =
    "^((leads_to|preceded_by|frequently_confused_with)(,(leads_to|preceded_by|frequently_confused_with))*)?$";
const FORMATS: &str = "^(json|graphml|dot)$";
const ENVIRONMENT: &str = "^([^=,]+=[^,]*(,[^=,]+=[^,]*)*)?$";

enum Form {
    /// 1 to this.
    To(usize),
    Id(&'static str),
    Text(&'static str),
}

pub(super) struct Forms;

impl Modify for Forms {
    fn modify(&self, description: &mut OpenApi) {
        for (path, item) in &mut description.paths.paths {
            let operations = [&mut item.get, &mut item.put, &mut item.post];
            for operation in operations.into_iter().flatten() {
                for parameter in operation.parameters.iter_mut().flatten() {
                    if let RefOr::T(parameter) = parameter
                        && let Some(form) = form(path, &parameter.name)
                    {
                        add(parameter, &form);
                    }
                }
            }
        }
    }
}

fn form(path: &str, parameter: &str) -> Option<Form> {
    let is_of_records = path.starts_with("/api/v1/records");
    Some(match parameter {
        "limit" if path == "/api/v1/search" => Form::To(MAX_LIMIT),
        "limit" => Form::To(usize::try_from(PAGE_MAX).unwrap_or(usize::MAX)),
        "depth" => Form::To(usize::try_from(MAX_DEPTH).unwrap_or(usize::MAX)),
        "replaced_by" | "into" | "new_id" => Form::Id(RECORD_ID_PATTERN),
        "id" if is_of_records => Form::Id(RECORD_ID_PATTERN),
        "from" | "to" if path == "/api/v1/graph/path" => Form::Id(RECORD_ID_PATTERN),
        "id" | "node" => Form::Id(OPAQUE_ID),
        "revision" | "from" | "to" if is_of_records => Form::Text(REVISION),
        "kinds" => Form::Text(KINDS),
        "format" if path == "/api/v1/graph" => Form::Text(FORMATS),
        "environment" => Form::Text(ENVIRONMENT),
        _ => return None,
    })
}

fn add(parameter: &mut Parameter, form: &Form) {
    let Some(RefOr::T(Schema::Object(Object {
        minimum,
        maximum,
        pattern,
        examples,
        ..
    }))) = &mut parameter.schema
    else {
        return;
    };
    match form {
        Form::To(most) => {
            *minimum = Some(Number::from(1_usize));
            *maximum = Some(Number::from(*most));
        }
        // Not its length: programs that make texts of a pattern throw most away when that is limited, too.
        Form::Id(of) => {
            *pattern = Some((*of).to_owned());
            if *of == RECORD_ID_PATTERN {
                examples.push(EXAMPLE.into());
            }
        }
        // A number stays one.
        Form::Text(of) if minimum.is_none() => {
            *pattern = Some((*of).to_owned());
            match *of {
                KINDS => examples.push("leads_to,preceded_by".into()),
                FORMATS => examples.push("graphml".into()),
                _ => {}
            }
        }
        Form::Text(_) => {}
    }
}
