//! The `tet` command.

/// Files of many datasets are many small allocations, of which that of the C library makes half of the time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    tet_cli::answer_shell();
    let mut streams = tet_cli::Streams::process();
    tet_cli::run(std::env::args_os(), &mut streams).into()
}
