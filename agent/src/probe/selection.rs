//! Lists of GPUs, as `CUDA_VISIBLE_DEVICES` takes them.

/// True for a list of numbers (`0,2`) or of UUIDs (`GPU-592ae3c5,GPU-645b7e67`). Other values of `CUDA_VISIBLE_DEVICES` (empty,
/// `-1`, `NoDevFiles`, MIG devices) hide GPUs on purpose.
pub(crate) fn names_gpus(list: &str) -> bool {
    let names = || list.split(',').map(str::trim);
    names().all(is_number) || names().all(is_uuid)
}

fn is_number(name: &str) -> bool {
    (1..=3).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_uuid(name: &str) -> bool {
    name.strip_prefix("GPU-").is_some_and(|rest| {
        !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_names_gpus_or_hides_them_on_purpose() {
        for named in ["0", "0,1,2,3", "0, 1", "GPU-592ae3c5,GPU-645b7e67"] {
            assert!(names_gpus(named), "{named}");
        }
        for hidden in [
            "",
            "-1",
            "NoDevFiles",
            "0,-1",
            "0,GPU-592ae3c5",
            "MIG-592ae3c5",
            "1000",
        ] {
            assert!(!names_gpus(hidden), "{hidden}");
        }
    }
}
