//! The lifecycle of a task as types: no clock, no disk, no protocol.
