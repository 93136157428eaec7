//! Instructions as they are executed: everything looked up and checked.

/// Number of a register of a thread. Constants have registers, too, which nothing writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Register(pub(super) u16);

/// How the bits of a value are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Bits,
    Unsigned,
    Signed,
    Predicate,
}

/// A type: what follows the dot in `.u32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Type {
    pub(super) sort: Sort,
    pub(super) bits: u32,
}

/// `[base+offset]`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address {
    pub(super) base: Register,
    pub(super) offset: i64,
}

/// A register that the machine keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Special {
    /// `%tid`; the axis.
    Thread(usize),
    /// `%ntid`
    Threads(usize),
    /// `%ctaid`
    Block(usize),
    /// `%nctaid`
    Blocks(usize),
    /// `%laneid`
    Lane,
    /// `%warpid`
    Warp,
    /// `%clock64`
    Clock64,
    /// `%clock`
    Clock,
    /// `%globaltimer`
    GlobalTimer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Subtract,
    MultiplyLow,
    MultiplyHigh,
    Divide,
    Remainder,
    Minimum,
    Maximum,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unary {
    Not,
    Negate,
    Absolute,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Atomic {
    Exchange,
    CompareAndSwap,
    /// With this operation.
    Combine(Binary),
}

#[derive(Clone, Debug)]
pub(super) enum Operation {
    LoadParameter {
        to: Register,
        ty: Type,
        to_bits: u32,
        offset: usize,
    },
    Load {
        to: Vec<Register>,
        ty: Type,
        to_bits: u32,
        address: Address,
    },
    Store {
        from: Vec<Register>,
        ty: Type,
        address: Address,
    },
    Atomic {
        to: Option<Register>,
        kind: Atomic,
        ty: Type,
        address: Address,
        b: Register,
        c: Register,
    },
    Move {
        to: Register,
        from: Register,
    },
    ReadSpecial {
        to: Register,
        from: Special,
    },
    Convert {
        to: Register,
        to_type: Type,
        to_bits: u32,
        from: Register,
        from_type: Type,
    },
    Unary {
        kind: Unary,
        ty: Type,
        to: Register,
        a: Register,
    },
    Binary {
        kind: Binary,
        ty: Type,
        to: Register,
        a: Register,
        b: Register,
    },
    /// `mad.lo`
    /// Of 32-bit floats.
    FusedMultiplyAdd {
        to: Register,
        a: Register,
        b: Register,
        c: Register,
    },
    MultiplyAdd {
        ty: Type,
        to: Register,
        a: Register,
        b: Register,
        c: Register,
    },
    /// `mul.wide` (with nothing added) and `mad.wide`
    MultiplyWide {
        ty: Type,
        to: Register,
        a: Register,
        b: Register,
        c: Register,
    },
    Compare {
        kind: Comparison,
        ty: Type,
        to: Register,
        a: Register,
        b: Register,
    },
    Select {
        to: Register,
        a: Register,
        b: Register,
        by: Register,
    },
    Branch {
        to: usize,
    },
    Barrier {
        number: u64,
    },
    Fence,
    Sleep,
    Trap,
    Return,
}

/// An operation, and when it is done.
#[derive(Clone, Debug)]
pub(super) struct Instruction {
    /// The predicate, and the value it must not have.
    pub(super) unless: Option<(Register, bool)>,
    pub(super) operation: Operation,
}

impl Special {
    pub(super) fn is_clock(self) -> bool {
        matches!(self, Self::Clock64 | Self::Clock | Self::GlobalTimer)
    }
}

impl Type {
    pub(super) const PREDICATE: Self = Self {
        sort: Sort::Predicate,
        bits: 1,
    };

    /// Reads what follows a dot. `None` for floating point and whatever else is not known.
    pub(super) fn read(word: &str) -> Option<Self> {
        if word == "pred" {
            return Some(Self::PREDICATE);
        }
        let (sort, bits) = word.split_at_checked(1)?;
        let sort = match sort {
            "b" => Sort::Bits,
            "u" => Sort::Unsigned,
            "s" => Sort::Signed,
            _ => return None,
        };
        let bits = match bits {
            "8" => 8,
            "16" => 16,
            "32" => 32,
            "64" => 64,
            _ => return None,
        };
        Some(Self { sort, bits })
    }

    pub(super) fn bytes(self) -> usize {
        self.bits.div_ceil(8) as usize
    }

    /// The bits of this type, zeros above.
    pub(super) fn cut(self, value: u64) -> u64 {
        cut(self.bits, value)
    }

    /// The value as a number of any sign.
    pub(super) fn number(self, value: u64) -> i128 {
        let value = self.extended(value);
        if self.sort == Sort::Signed {
            i128::from(value as i64)
        } else {
            i128::from(value)
        }
    }

    /// The value filled up to 64 bits: by sign or with zeros.
    #[inline]
    pub(super) fn extended(self, value: u64) -> u64 {
        if self.sort == Sort::Signed {
            let unused = 64 - self.bits;
            ((value << unused) as i64 >> unused) as u64
        } else {
            self.cut(value)
        }
    }

    /// The value in a register of `bits`: wider ones are filled by sign or with zeros.
    #[inline]
    pub(super) fn widened(self, value: u64, bits: u32) -> u64 {
        cut(bits, self.extended(value))
    }
}

/// The lowest bits, of which there are 1 to 64.
fn cut(bits: u32, value: u64) -> u64 {
    value & (u64::MAX >> (64 - bits))
}
