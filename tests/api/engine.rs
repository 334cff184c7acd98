//! Which engine the tests run on: the embedded one, or with `GARTH_TEST_ENGINE=postgres` a database of its own
//! for each test, copied from one whose tables are made already. `tests/postgres` starts a server for that.

use std::path::PathBuf;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use garth::cli::{Settings, policy_of};
use garth::model::time::Time;
use garth::store::context::{Clock, RandomSource};
use garth::store::{Database, Schema, Store, StoreContext, StoreError};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Embedded,
    Postgres,
}

/// Where a test's store and files are; gone when the test is over.
pub struct Home {
    pub folder: PathBuf,
    database: Option<String>,
    /// Whether another test may use the database after this one.
    reusable: bool,
}

impl Engine {
    /// The one that whoever runs the tests has chosen.
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
                    reusable: false,
                };
                (store, home)
            }
            Engine::Postgres => {
                let template = template();
                let used = used().lock().expect("nobody panics here").pop();
                let name = used.unwrap_or_else(|| {
                    order("postgres", &format!("CREATE DATABASE {name} TEMPLATE {template}"));
                    name
                });
                let store = Store::open_shared(&database(&name), context).expect("a fresh store opens");
                let home = Home {
                    folder,
                    database: Some(name),
                    reusable: true,
                };
                (store, home)
            }
        }
    }

    /// A place for a store in which there is nothing yet, not even tables.
    pub fn empty_home(self) -> Home {
        let name = unused_name();
        let folder = std::env::temp_dir().join(&name);
        let database = match self {
            Engine::Embedded => None,
            Engine::Postgres => {
                order("postgres", &format!("CREATE DATABASE {name}"));
                Some(name)
            }
        };
        Home {
            folder,
            database,
            reusable: false,
        }
    }
}

fn unused_name() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::SeqCst);
    format!("garth_api_{}_{number}", std::process::id())
}

impl Home {
    /// Opens the store that is here, as a build with this schema does.
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

    pub fn name(&self) -> String {
        let name = self.folder.file_name().unwrap_or_default();
        name.to_string_lossy().replace('_', "-")
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
        if let Some(name) = self.database.take() {
            let order = match self.reusable {
                true => Order::Clean(name),
                false => Order::Drop(name),
            };
            let _ = orders().send(order);
        }
    }
}

/// Databases that other tests have left and that are as good as new: making one takes ten times as long.
fn used() -> &'static Mutex<Vec<String>> {
    static USED: Mutex<Vec<String>> = Mutex::new(Vec::new());
    &USED
}

/// Remembers what is in fresh tables.
const REMEMBER: &str = "CREATE SCHEMA fresh; DO $$ DECLARE t text; BEGIN
    FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
        EXECUTE format('CREATE TABLE fresh.%I AS TABLE public.%I', t, t);
    END LOOP; END $$";

/// Makes tables like fresh ones, whoever may still be connected.
const CLEAN: &str = "
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid();
    DO $$ DECLARE t text; full_ones text; filled boolean; BEGIN
    FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
        EXECUTE format('SELECT EXISTS (SELECT 1 FROM public.%I)', t) INTO filled;
        IF filled THEN full_ones := concat_ws(', ', full_ones, format('public.%I', t)); END IF;
    END LOOP;
    EXECUTE format('TRUNCATE %s CASCADE', full_ones);
    FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = 'fresh' LOOP
        EXECUTE format('INSERT INTO public.%I SELECT * FROM fresh.%I', t, t);
    END LOOP;
    PERFORM setval(format('public.%I', sequencename), 1, false) FROM pg_sequences WHERE schemaname = 'public';
    END $$";

/// The database of that name, on the server that the tests were given.
pub fn database(name: &str) -> Database {
    let server = server();
    let (place, _) = server.rsplit_once('/').expect("a URL ends with a name");
    Database {
        connections: 4,
        ..Database::at(&format!("{place}/{name}"))
    }
}

fn server() -> String {
    std::env::var("GARTH_TEST_DATABASE").expect("GARTH_TEST_DATABASE: run me with tests/postgres")
}

/// A database with all tables, and nobody connected to it.
fn template() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        let name = format!("garth_api_{}", std::process::id());
        order("postgres", &format!("CREATE DATABASE {name}"));
        let policy = policy_of(&Settings::default()).expect("the defaults are good");
        let context = StoreContext {
            clock: Clock::fixed(Time::from_micros(0)),
            random: RandomSource::System,
            policy,
        };
        drop(Store::open_shared(&database(&name), context).expect("a fresh store opens"));
        order(&name, REMEMBER);
        name
    })
}

enum Order {
    /// Runs this in that database, and says when it is done.
    Run(String, String, Sender<()>),
    /// Makes a database fit for the next test.
    Clean(String),
    /// Removes a database, even while connections to it end.
    Drop(String),
}

/// Has the server do something, and waits until it is done.
fn order(database: &str, sql: &str) {
    let (done, waiting) = channel();
    let order = Order::Run(database.to_owned(), sql.to_owned(), done);
    orders().send(order).expect("somebody carries out orders");
    waiting.recv().expect("the server does as it is told");
}

/// Carried out one after another, on a thread that is in no test's runtime.
fn orders() -> &'static Sender<Order> {
    static ORDERS: OnceLock<Sender<Order>> = OnceLock::new();
    ORDERS.get_or_init(|| {
        let (orders, waiting) = channel::<Order>();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.expect("a runtime");
            for order in waiting {
                match order {
                    Order::Run(database, sql, done) => {
                        runtime.block_on(carry_out(&database, &sql));
                        let _ = done.send(());
                    }
                    Order::Drop(name) => {
                        let sql = format!("DROP DATABASE {name} WITH (FORCE)");
                        runtime.block_on(carry_out("postgres", &sql));
                    }
                    Order::Clean(name) => {
                        runtime.block_on(carry_out(&name, CLEAN));
                        used().lock().expect("nobody panics here").push(name);
                    }
                }
            }
        });
        orders
    })
}

async fn carry_out(name: &str, sql: &str) {
    let url = database(name).url;
    // A database that was just left may have somebody in it for another moment.
    for patience in (0..100).rev() {
        let connected = tokio_postgres::connect(url.reveal(), tokio_postgres::NoTls).await;
        let (client, wire) = connected.expect("the server is there");
        let wire = tokio::spawn(wire);
        let ended = client.batch_execute(sql).await;
        drop(client);
        let _ = wire.await;
        match ended {
            Ok(()) => return,
            Err(cause) if patience == 0 => panic!("{sql}: {cause:?}"),
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}
