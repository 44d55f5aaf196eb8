//! Every rule is broken by a file, and not by its twin; every prefix and every changed byte is read.

mod assemble;
mod hostile;
mod rules;
