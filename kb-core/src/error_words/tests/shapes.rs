//! Lines that tell of trouble by their form.

use super::{looks_like_error, only_the_first_looks_like_one};

#[test]
fn forms_of_trouble_look_like_errors() {
    only_the_first_looks_like_one(&[
        ("GPUs healthy: 7/8", "GPUs healthy: 8/8"),
        ("healthy: 7/8", "healthy: 8/8"),
        ("INFO 7/8 healthy", "INFO 8/8 healthy"),
        ("gpu3: removed from bus", "gpu3: added to bus"),
        (
            "gpu3: thermal shutdown",
            "gpu3: thermal shutdown temperature 95 C",
        ),
        ("Thermal Shutdown : Active", "Thermal Shutdown : Not Active"),
        ("gpu3: UE=5", "gpu3: UE=0"),
        ("gpu3: CE=1 UE=2", "gpu3: CE=1 UE=0"),
        ("gpu3: UE: 5", "queue: 5"),
        ("Segmentation (core dumped)", "core count 8"),
        (
            "    33554432       8388608     float     sum      -1    160.2  209.44  392.70     12    159.8  209.98  393.71      0",
            "    33554432       8388608     float     sum      -1    160.2  209.44  392.70      0    159.8  209.98  393.71      0",
        ),
        (
            "    33554432      16777216  bfloat16    none       0    160.2  209.44  392.70      0    159.8  209.98  393.71      7",
            "    33554432      16777216  bfloat16    none       0    160.2  209.44  392.70    N/A    159.8  209.98  393.71    N/A",
        ),
    ]);
}

/// The table of older versions has the largest error there, and others have other columns.
#[test]
fn rows_of_other_tables_look_like_no_error() {
    for line in [
        "    33554432       8388608   float     sum    160.2  209.44  392.70  5e-07    159.8  209.98  393.71  5e-07",
        "1024 256 float weights loaded",
        "layer 12 float sum 3 4 5 6 7",
        "healthy: 7/8/2026",
        "probe healthy after 3/5 s",
    ] {
        assert!(!looks_like_error(line), "{line}");
    }
}
