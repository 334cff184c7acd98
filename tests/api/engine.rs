//! The engine of the tests. By default, it is the embedded store. With `GARTH_TEST_ENGINE=postgres`, each
//! test has a database, copied from a template with tables; `tests/postgres` starts the server.

use std::path::PathBuf;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use garth::cli::{Settings, policy_of};
use garth::model::time::Time;
use garth::store::context::{Clock, RandomSource};
use garth::store::{Database, Schema, Store, StoreContext, StoreError};
use tokio::sync::OnceCell;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Embedded,
    Postgres,
}

/// The store and the files of a test, deleted at its end.
pub struct Home {
    pub folder: PathBuf,
    database: Option<String>,
    /// Whether another test may reuse the database.
    reusable: AtomicBool,
    /// A connection without Garth's code. Opening one takes longer than reading all rows.
    pub reader: OnceCell<tokio_postgres::Client>,
}

impl Engine {
    /// The engine that the environment selects.
    pub fn chosen() -> Self {
        match std::env::var("GARTH_TEST_ENGINE").as_deref() {
            Err(_) | Ok("embedded") => Engine::Embedded,
            Ok("postgres") => Engine::Postgres,
            Ok(other) => panic!("GARTH_TEST_ENGINE: {other} is neither embedded nor postgres"),
        }
    }

    /// A fresh store.
    pub fn open(self, context: StoreContext) -> (Store, Home) {
        let name = unused_name();
        let folder = std::env::temp_dir().join(&name);
        match self {
            Engine::Embedded => {
                let store = Store::open_embedded(&folder, context).expect("a fresh store opens");
                let home = Home {
                    folder,
                    database: None,
                    reusable: AtomicBool::new(false),
                    reader: OnceCell::new(),
                };
                (store, home)
            }
            Engine::Postgres => {
                let template = template();
                let used = reusable_databases().lock().expect("no thread panics here").pop();
                let name = used.unwrap_or_else(|| {
                    command("postgres", &format!("CREATE DATABASE {name} TEMPLATE {template}"));
                    name
                });
                let store = Store::open_shared(&database(&name), context).expect("a fresh store opens");
                let home = Home {
                    folder,
                    database: Some(name),
                    reusable: AtomicBool::new(true),
                    reader: OnceCell::new(),
                };
                (store, home)
            }
        }
    }

    /// A location for a store without tables.
    pub fn empty_home(self) -> Home {
        let name = unused_name();
        let folder = std::env::temp_dir().join(&name);
        let database = match self {
            Engine::Embedded => None,
            Engine::Postgres => {
                command("postgres", &format!("CREATE DATABASE {name}"));
                Some(name)
            }
        };
        Home {
            folder,
            database,
            reusable: AtomicBool::new(false),
            reader: OnceCell::new(),
        }
    }
}

fn unused_name() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::SeqCst);
    format!("garth_api_{}_{number}", std::process::id())
}

impl Home {
    /// Opens the store as a build with this schema does.
    pub fn open(&self, schema: &Schema, context: StoreContext) -> Result<Store, StoreError> {
        match &self.database {
            None => Store::open_embedded_with(&self.folder, schema, context),
            Some(name) => Store::open_shared_with(&database(name), schema, context),
        }
    }

    /// The database, if the store is not in the folder.
    pub fn database(&self) -> Option<Database> {
        self.database.as_deref().map(database)
    }

    /// Deletes the database after the test instead of reusing it.
    pub fn discard(&self) {
        self.reusable.store(false, Ordering::Relaxed);
    }

    pub fn name(&self) -> String {
        let name = self.folder.file_name().unwrap_or_default();
        name.to_string_lossy().replace('_', "-")
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
        if let Some(name) = self.database.take() {
            let command = match self.reusable.load(Ordering::Relaxed) {
                true => Command::Clean(name),
                false => Command::Drop(name),
            };
            let _ = commands().send(command);
        }
    }
}

/// Databases of finished tests that were cleaned for reuse. Creating a database takes ten times as long as
/// cleaning it.
fn reusable_databases() -> &'static Mutex<Vec<String>> {
    static REUSABLE: Mutex<Vec<String>> = Mutex::new(Vec::new());
    &REUSABLE
}

/// Records the rows of fresh tables, if they have any.
const SAVE_FRESH_ROWS: &str = "CREATE SCHEMA fresh; DO $$ DECLARE t text; filled boolean; BEGIN
    FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
        EXECUTE format('SELECT EXISTS (SELECT 1 FROM public.%I)', t) INTO filled;
        IF filled THEN EXECUTE format('CREATE TABLE fresh.%I AS TABLE public.%I', t, t); END IF;
    END LOOP; END $$";

/// Restores fresh tables, even if other connections are open. The rows are deleted without the checks of foreign keys.
/// TRUNCATE would create new files for each table and index.
const CLEAN: &str = "
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid();
    DO $$ DECLARE t text; BEGIN
    PERFORM set_config('session_replication_role', 'replica', true);
    FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
        EXECUTE format('DELETE FROM public.%I', t);
    END LOOP;
    FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = 'fresh' LOOP
        EXECUTE format('INSERT INTO public.%I SELECT * FROM fresh.%I', t, t);
    END LOOP;
    PERFORM setval(format('public.%I', sequencename), 1, false) FROM pg_sequences WHERE schemaname = 'public';
    END $$";

/// The database with this name on the test server.
pub fn database(name: &str) -> Database {
    let server = server();
    let (address, _) = server.rsplit_once('/').expect("a URL ends with a name");
    Database {
        connections: 4,
        ..Database::at(&format!("{address}/{name}"))
    }
}

fn server() -> String {
    std::env::var("GARTH_TEST_DATABASE").expect("GARTH_TEST_DATABASE: run me with tests/postgres")
}

/// A database with all tables and without connections.
fn template() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        let name = format!("garth_api_{}", std::process::id());
        command("postgres", &format!("CREATE DATABASE {name}"));
        let policy = policy_of(&Settings::default()).expect("the defaults are valid");
        let context = StoreContext {
            clock: Clock::fixed(Time::from_micros(0)),
            random: RandomSource::System,
            policy: policy.into(),
        };
        drop(Store::open_shared(&database(&name), context).expect("a fresh store opens"));
        command(&name, SAVE_FRESH_ROWS);
        name
    })
}

enum Command {
    /// Runs SQL in a database, and reports when it is done.
    Run(String, String, Sender<()>),
    /// Cleans a database for the next test.
    Clean(String),
    /// Drops a database, even with open connections.
    Drop(String),
}

/// Sends a command to the worker and waits for the result.
fn command(database: &str, sql: &str) {
    let (done, waiting) = channel();
    let command = Command::Run(database.to_owned(), sql.to_owned(), done);
    commands().send(command).expect("the worker runs");
    waiting.recv().expect("the worker completes the command");
}

/// The queue of commands. A thread outside of any test's runtime runs them one after another.
fn commands() -> &'static Sender<Command> {
    static COMMANDS: OnceLock<Sender<Command>> = OnceLock::new();
    COMMANDS.get_or_init(|| {
        let (commands, waiting) = channel::<Command>();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.expect("a runtime");
            for command in waiting {
                match command {
                    Command::Run(database, sql, done) => {
                        runtime.block_on(execute(&database, &sql));
                        let _ = done.send(());
                    }
                    Command::Drop(name) => {
                        let sql = format!("DROP DATABASE {name} WITH (FORCE)");
                        runtime.block_on(execute("postgres", &sql));
                    }
                    Command::Clean(name) => {
                        runtime.block_on(execute(&name, CLEAN));
                        reusable_databases()
                            .lock()
                            .expect("no thread panics here")
                            .push(name);
                    }
                }
            }
        });
        commands
    })
}

async fn execute(name: &str, sql: &str) {
    let url = database(name).url;
    // Connections to the database may still be open for a moment.
    for attempts_left in (0..100).rev() {
        let connected = tokio_postgres::connect(url.reveal(), tokio_postgres::NoTls).await;
        let (client, wire) = connected.expect("the server accepts connections");
        let wire = tokio::spawn(wire);
        let result = client.batch_execute(sql).await;
        drop(client);
        let _ = wire.await;
        match result {
            Ok(()) => return,
            Err(cause) if attempts_left == 0 => panic!("{sql}: {cause:?}"),
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}
