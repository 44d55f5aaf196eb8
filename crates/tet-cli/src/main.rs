//! The `tet` command.
fn main() -> std::process::ExitCode {
    tet_cli::answer_shell();
    let mut streams = tet_cli::Streams::process();
    tet_cli::run(std::env::args_os(), &mut streams).into()
}
