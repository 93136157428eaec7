//! Kernel launches.

use super::Code;
use crate::{
    ffi::{HostBytes, Out},
    gate::{after_init, launched},
    machine::kernel_memory::KernelMemory,
    ptx::{Kernel, Launch, Trap},
    scenario::KernelEffect,
};
use std::{
    ffi::{c_int, c_uint},
    sync::Arc,
    thread,
};

/// Threads that a block can have on every GPU since compute capability 2.0.
const MAX_THREADS: u32 = 1024;
/// Sizes of a block and of a grid (programming guide, technical specifications: the same for them all).
const MAX_BLOCK: [c_uint; 3] = [1024, 1024, 64];
const MAX_GRID: [c_uint; 3] = [0x7fff_ffff, 0xffff, 0xffff];
/// Bytes of shared memory of a block, unless its kernel is allowed more.
const MAX_SHARED_BYTES: c_uint = 48 << 10;
/// `CU_LAUNCH_PARAM_*` marks in the list of extras.
const EXTRA_END: usize = 0;
const EXTRA_BUFFER: usize = 1;
const EXTRA_SIZE: usize = 2;

#[unsafe(no_mangle)]
extern "C" fn cuLaunchKernel(
    function: usize,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared_bytes: c_uint,
    stream: usize,
    parameters: Out<HostBytes>,
    extra: Out<usize>,
) -> c_int {
    after_init("cuLaunchKernel", |machine| {
        let context = machine.current()?;
        let function = machine
            .modules
            .functions
            .get(function)
            .ok_or(Code::INVALID_HANDLE)?;
        let stream = machine.stream(&context, stream)?;
        if !Arc::ptr_eq(&function.of.context, &context) || !Arc::ptr_eq(&stream.context, &context) {
            return Err(Code::INVALID_HANDLE);
        }
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let threads = block
            .iter()
            .try_fold(1_u32, |product, size| product.checked_mul(*size));
        let blocks = grid
            .iter()
            .try_fold(1_u64, |product, size| product.checked_mul(u64::from(*size)));
        let fits = |sizes: [c_uint; 3], limits: [c_uint; 3]| {
            sizes.iter().zip(limits).all(|(size, limit)| *size <= limit)
        };
        // A module that uses shared memory is not loaded, so that whatever is asked for is enough.
        if !threads.is_some_and(|count| (1..=MAX_THREADS).contains(&count))
            || blocks.is_none_or(|count| count == 0)
            || !fits(block, MAX_BLOCK)
            || !fits(grid, MAX_GRID)
            || shared_bytes > MAX_SHARED_BYTES
        {
            return Err(Code::INVALID_VALUE);
        }
        let kernel = Arc::clone(&function.kernel);
        let mut launch = Launch {
            grid,
            block,
            parameters: gather(&kernel, &parameters, &extra)?,
            wrong_bit: None,
        };
        launched(machine, kernel.name())?;
        let number = machine.modules.launch(kernel.name(), context.gpu);
        let (mut longer, mut never_ends) = (1.0, false);
        let faults = machine.scenario.kernel_faults.iter();
        for fault in faults.filter(|fault| fault.hits(kernel.name(), context.gpu, number)) {
            match fault.effect {
                KernelEffect::WrongBit(bit) => launch.wrong_bit = Some(bit),
                KernelEffect::Slower(by) => longer *= by,
                KernelEffect::NeverEnds => never_ends = true,
            }
        }
        let work = move |start| {
            if never_ends {
                loop {
                    thread::park();
                }
            }
            let mut memory = KernelMemory::new(machine, context);
            let outcome = kernel.run(&launch, &mut memory);
            outcome.map_err(|trap| {
                eprintln!("fake-gpu: kernel {}: {trap}", kernel.name());
                match trap {
                    Trap::IllegalAddress(_) => Code::ILLEGAL_ADDRESS,
                    Trap::Misaligned(_) => Code::MISALIGNED_ADDRESS,
                    Trap::Instruction => Code::LAUNCH_FAILED,
                }
            })?;
            memory.finish()?;
            Ok(start + stretched(memory.traffic.end(machine, start) - start, longer))
        };
        machine.submit(&stream, Vec::new(), Box::new(work));
        Ok(())
    })
}

#[allow(
    clippy::cast_precision_loss,
    reason = "2^53 nanoseconds are longer than any kernel runs"
)]
fn stretched(nanoseconds: u64, by: f64) -> u64 {
    (nanoseconds as f64 * by).round() as u64
}

/// Copies the arguments, given one by one or as one buffer.
fn gather(kernel: &Kernel, parameters: &Out<HostBytes>, extra: &Out<usize>) -> Result<Vec<u8>, Code> {
    let mut block = vec![0; kernel.parameter_bytes()];
    if parameters.is_null() {
        if kernel.parameters().is_empty() {
            return Ok(block);
        }
        let given = extra_buffer(extra)?;
        let filled = block.get_mut(..given.len()).ok_or(Code::INVALID_VALUE)?;
        filled.copy_from_slice(&given);
        return Ok(block);
    }
    for (index, parameter) in kernel.parameters().iter().enumerate() {
        let value = parameters.get_at(index)?.read(parameter.bytes)?;
        let place = block.get_mut(parameter.offset..parameter.offset + parameter.bytes);
        place.ok_or(Code::UNKNOWN)?.copy_from_slice(&value);
    }
    Ok(block)
}

fn extra_buffer(extra: &Out<usize>) -> Result<Vec<u8>, Code> {
    let mut buffer = None;
    let mut bytes = None;
    for index in (0..).step_by(2) {
        match extra.get_at(index)? {
            EXTRA_END => break,
            EXTRA_BUFFER => buffer = Some(HostBytes::from_option(extra.get_at(index + 1)?)),
            EXTRA_SIZE => bytes = Some(Out::<usize>::from_option(extra.get_at(index + 1)?).get()?),
            _ => return Err(Code::INVALID_VALUE),
        }
    }
    Ok(buffer
        .ok_or(Code::INVALID_VALUE)?
        .read(bytes.ok_or(Code::INVALID_VALUE)?)?)
}
