//! Garth: a virtual-private-cloud and support-desk service that anyone can run.
//!
//! Each module below is a layer. A layer uses only the layers that are listed before it.
//! `ARCHITECTURE.md` describes the layers.

#![forbid(unsafe_code)]

pub mod model;

pub mod agent_protocol;

pub mod store;

pub mod files;

pub mod rules;

pub mod uploads;

pub mod mail;

pub mod declared;

pub mod backup;

pub mod archiving;

pub mod jobs;

pub mod web;

pub mod api;

pub mod console;

pub mod test_control;

pub mod agent;

pub mod exchange;

pub mod cli;
