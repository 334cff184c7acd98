//! Garth: a virtual-private-cloud and support-desk service that anyone can run.
//!
//! Layers from the ground up; each may use those above it in this list, never those below.
//! `ARCHITECTURE.md` is the map.

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
