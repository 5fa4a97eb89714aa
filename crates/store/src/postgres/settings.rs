//! What all nodes must agree about, such as the hash of the admin key.

use super::columns::get;
use super::pool::Reader;
use crate::ReadError;

pub(super) async fn setting(reader: &Reader, name: &str) -> Result<Option<Vec<u8>>, ReadError> {
    let row = reader
        .row("SELECT value FROM settings WHERE name = $1", &[&name])
        .await?;
    row.map(|row| get(&row, 0)).transpose()
}

/// The value that stands: whoever comes first has chosen it.
pub(super) async fn put_if_absent(
    reader: &Reader,
    name: &str,
    value: &[u8],
) -> Result<Vec<u8>, ReadError> {
    let put = reader
        .prepare_cached("INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING")
        .await?;
    reader.execute(&put, &[&name, &value]).await?;
    // A statement of its own: the one before does not see a row that another node has just put.
    let stands = setting(reader, name).await?;
    stands.ok_or_else(|| ReadError::Unavailable(format!("setting {name} was removed").into()))
}

/// Another value in place of the one that stands.
pub(super) async fn put(reader: &Reader, name: &str, value: &[u8]) -> Result<(), ReadError> {
    let put = reader
        .prepare_cached(
            "INSERT INTO settings (name, value) VALUES ($1, $2) \
             ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value",
        )
        .await?;
    reader.execute(&put, &[&name, &value]).await?;
    Ok(())
}
