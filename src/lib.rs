//! Garth: a virtual-private-cloud and support-desk service that anyone can run.
//!
//! A layer uses only the layers before it in this list.
//! `ARCHITECTURE.md` describes them.

#![forbid(unsafe_code)]

pub mod model;

pub mod store;

pub mod files;

pub mod rules;

pub mod uploads;

pub mod jobs;

pub mod web;

pub mod api;

pub mod console;

pub mod cli;
