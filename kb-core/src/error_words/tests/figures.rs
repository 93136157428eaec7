//! Figures of trainings that are no numbers.

use super::{looks_like_error, only_the_first_looks_like_one};

#[test]
fn signs_remarks_and_quotes_at_a_value_change_nothing() {
    only_the_first_looks_like_one(&[
        ("loss=-nan", "loss=-0.5"),
        ("step 3 loss: -nan", "step 3 loss: -1.0"),
        ("loss -nan", "non-nan loss"),
        ("loss=+nan", "x=-nan"),
        ("loss=NaN(ind)", "loss.nan(x)"),
        ("loss: -nan(ind) grad 1", "x = nan(ind)"),
        ("loss=nan(0x8000000000000)", "call nan(\"\") for loss"),
        (r#"{"loss": "NaN"}"#, r#"{"mode": "nan"}"#),
        (r#"{"loss": "Infinity"}"#, r#"{"loss": "info"}"#),
        ("loss: 'inf'", "level: 'info'"),
        ("loss=-inf", "logits=-inf"),
        ("loss: -inf", "best_loss: -inf"),
        ("loss -inf", "mask -inf"),
        ("grad_norm: -Infinity", "max_reward: -inf"),
        ("loss: +inf", "logprob: -inf"),
        (
            "loss=tensor(nan, device='cuda:0')",
            "loss=tensor(1., device='cuda:0')",
        ),
        (
            "loss: tensor(inf, device='cuda:0')",
            "best_loss: tensor(inf, device='cuda:0')",
        ),
        ("loss: [nan]", "ids: [nan]"),
    ]);
    assert!(!looks_like_error("kl mask: max_loss=-inf"));
}

#[test]
fn figures_in_other_languages_are_known() {
    only_the_first_looks_like_one(&[
        ("损失: nan", "损失: 0.5"),
        ("损失：nan", "损失：1"),
        ("训练损失=NaN", "名称=nan"),
        ("损失值: -nan", "学习率: nan"),
        ("损失：inf", "最佳学习率：inf"),
        ("损失: inf", "损失: info"),
        ("损失 nan", "名称 nan"),
        ("损失 inf", "名称 inf"),
        ("损失变为 NaN", "名称为 NaN"),
        ("損失: nan", "損失: 2"),
        ("梯度范数: inf", "梯度范数: 2"),
        ("손실: nan", "손실: 1"),
        ("Verlust: nan", "Verlust: 1"),
        ("потери: nan", "потери: 1"),
    ]);
}
