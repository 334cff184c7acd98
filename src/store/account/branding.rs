//! The `branding` table, which has at most one row.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::model::accent_color::AccentColor;
use crate::model::brand_image::{BrandImage, ImageFormat, ImageRef, ImageSlot};
use crate::model::branding::{Branding, SupportLinks};
use crate::model::change::ChangeKind;
use crate::model::time::Time;
use crate::store::changes::PROVIDER;
use crate::store::error::StoreError;
use crate::store::model_rows::ModelRows;
use crate::store::notifier::Topic;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{FromValue, Row, Value, args};

/// The ID of the only row.
const ID: i64 = 1;

/// The columns without the content of the images, because every page reads them.
const COLUMNS: &str = "id, name, accent_color, footer, support_links, logo_format, logo_hash, favicon_format, \
                       favicon_hash, updated";

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows = ModelRows::new("branding", COLUMNS, |row| read(row).map(drop));

/// The brand; without a row, the default.
pub fn load(tx: &mut ReadTx) -> Result<Branding, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM branding WHERE id = $1");
    let found = tx.find(&sql, args![ID])?.as_mut().map(read).transpose()?;
    Ok(found.unwrap_or_default())
}

/// The content of an image, if the hash is current.
pub fn image(tx: &mut ReadTx, slot: ImageSlot, image: &ImageRef) -> Result<Option<Vec<u8>>, StoreError> {
    let slot = slot.word();
    let sql =
        format!("SELECT id, {slot} FROM branding WHERE id = $1 AND {slot}_hash = $2 AND {slot}_format = $3");
    let Some(mut row) = tx.find(&sql, args![ID, image.hash.as_str(), image.format.word()])? else {
        return Ok(None);
    };
    let _: i64 = row.take()?;
    row.take::<Content>().map(|content| Some(content.0))
}

/// Stores all parts except the images.
pub fn save(tx: &mut WriteTx, branding: &Branding, updated: Time) -> Result<(), StoreError> {
    tx.execute(
        "INSERT INTO branding (id, name, accent_color, footer, support_links, updated)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (id) DO UPDATE SET name = excluded.name, accent_color = excluded.accent_color,
             footer = excluded.footer, support_links = excluded.support_links, updated = excluded.updated",
        args![
            ID,
            branding.name.as_ref(),
            branding.accent_color.map(AccentColor::hex),
            branding.footer.as_ref(),
            branding.support_links.to_lines(),
            updated
        ],
    )?;
    changed(tx)
}

/// Stores or removes an image.
pub fn save_image(
    tx: &mut WriteTx,
    slot: ImageSlot,
    image: Option<&BrandImage>,
    updated: Time,
) -> Result<(), StoreError> {
    let slot = slot.word();
    let sql = format!(
        "INSERT INTO branding (id, support_links, {slot}_format, {slot}_hash, {slot}, updated)
         VALUES ($1, '', $2, $3, $4, $5)
         ON CONFLICT (id) DO UPDATE SET {slot}_format = excluded.{slot}_format, {slot}_hash = excluded.{slot}_hash,
             {slot} = excluded.{slot}, updated = excluded.updated"
    );
    let args = args![
        ID,
        image.map(|image| image.format.word()),
        image.map(|image| image.reference().hash),
        image.map(|image| STANDARD.encode(&image.content)),
        updated
    ];
    tx.execute(&sql, args)?;
    changed(tx)
}

pub fn delete(tx: &mut WriteTx) -> Result<(), StoreError> {
    tx.execute("DELETE FROM branding WHERE id = $1", args![ID])?;
    changed(tx)
}

fn changed(tx: &mut WriteTx) -> Result<(), StoreError> {
    tx.notify_on_commit(Topic::Branding);
    tx.changed(PROVIDER, ChangeKind::Branding, ID)
}

fn read(row: &mut Row) -> Result<Branding, StoreError> {
    let _: i64 = row.take()?;
    Ok(Branding {
        name: row.take()?,
        accent_color: row.take()?,
        footer: row.take()?,
        support_links: row.take()?,
        logo: read_image(row)?,
        favicon: read_image(row)?,
        updated: row.take()?,
    })
}

fn read_image(row: &mut Row) -> Result<Option<ImageRef>, StoreError> {
    let (format, hash): (Option<ImageFormat>, Option<String>) = (row.take()?, row.take()?);
    Ok(format.zip(hash).map(|(format, hash)| ImageRef { format, hash }))
}

struct Content(Vec<u8>);

impl FromValue for Content {
    fn from_value(value: Value) -> Option<Self> {
        STANDARD.decode(value.as_text()?).ok().map(Self)
    }
}

impl FromValue for ImageFormat {
    fn from_value(value: Value) -> Option<Self> {
        ImageFormat::find(value.as_text()?)
    }
}

impl FromValue for AccentColor {
    fn from_value(value: Value) -> Option<Self> {
        AccentColor::checked(value.as_text()?)
    }
}

impl FromValue for SupportLinks {
    fn from_value(value: Value) -> Option<Self> {
        SupportLinks::from_lines(value.as_text()?)
    }
}
