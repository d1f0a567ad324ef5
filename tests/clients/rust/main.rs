//! The Rust client program: sqlx, as JSON lines.

use futures_util::TryStreamExt;
use serde_json::{json, Value};
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection, MySqlPoolOptions, MySqlRow};
use sqlx::{Column, ConnectOptions, Connection, Either, Executor, Row, TypeInfo, ValueRef};
use std::env::var;
use std::future::Future;
use std::time::Duration;

type Seen = Result<Value, sqlx::Error>;

fn options() -> MySqlConnectOptions {
    MySqlConnectOptions::new()
        .host(&var("CW_HOST").unwrap())
        .port(var("CW_PORT").unwrap().parse().unwrap())
        .username(&var("CW_USER").unwrap())
        .password(&var("CW_PASSWORD").unwrap())
        .database("clients")
        .disable_statement_logging()
}

/// An error of the server is something seen; one of the client's own breaks the check.
fn error(e: &sqlx::Error) -> Value {
    match e {
        sqlx::Error::Database(d) => {
            let m = d.downcast_ref::<sqlx::mysql::MySqlDatabaseError>();
            json!({"errno": m.number(), "sqlstate": m.code(), "message": m.message()})
        }
        sqlx::Error::Io(_) => json!("connection lost"),
        sqlx::Error::PoolTimedOut => json!("pool timed out"),
        _ => json!({"broken": e.to_string()}),
    }
}

async fn check<F: Future<Output = Seen>>(count: &mut i64, name: &str, f: F) {
    let value = match tokio::time::timeout(Duration::from_secs(30), f).await {
        Ok(Ok(v)) => v,
        Ok(Err(e)) => error(&e),
        Err(_) => json!({"broken": "no answer for 30 s"}),
    };
    println!("{}", json!({"name": format!("sqlx/{name}"), "value": value}));
    *count += 1;
}

/// A row by the types that the server names, each value as bytes or text.
fn row(r: &MySqlRow) -> Value {
    let cells: Vec<Value> = (0..r.len())
        .map(|i| {
            let raw = r.try_get_raw(i).unwrap();
            let name = raw.type_info().name().to_string();
            let value = if raw.is_null() {
                Value::Null
            } else if let Ok(v) = r.try_get_unchecked::<Vec<u8>, _>(i) {
                match String::from_utf8(v.clone()) {
                    Ok(s) if v.len() < 200 => json!(s),
                    _ => json!({"length": v.len(), "sum": v.iter().map(|b| *b as u64).sum::<u64>()}),
                }
            } else {
                json!("not as bytes")
            };
            json!([r.column(i).name(), name, value])
        })
        .collect();
    json!(cells)
}

async fn run(c: &mut MySqlConnection, sql: &str) -> Value {
    let mut list = vec![];
    let mut results = c.fetch_many(sql);
    loop {
        match results.try_next().await {
            Ok(Some(Either::Left(done))) => list.push(json!({"affected": done.rows_affected(), "id": done.last_insert_id()})),
            Ok(Some(Either::Right(r))) => list.push(row(&r)),
            Ok(None) => break,
            Err(e) => {
                list.push(error(&e));
                break;
            }
        }
    }
    json!(list)
}

async fn each(c: &mut MySqlConnection, statements: &[&str]) -> Value {
    let mut list = vec![];
    for s in statements {
        list.push(run(c, s).await);
    }
    json!(list)
}

async fn on(statements: &[&str]) -> Seen {
    let mut c = options().connect().await?;
    let v = each(&mut c, statements).await;
    c.close().await?;
    Ok(v)
}

async fn prepared_types(id: i32) -> Seen {
    let mut c = options().connect().await?;
    let r = sqlx::query("SELECT * FROM kinds WHERE id = ?").bind(id).fetch_one(&mut c).await?;
    Ok(row(&r))
}

async fn values() -> Seen {
    let mut c = options().connect().await?;
    let r: (i64, f64, String, Vec<u8>, Option<i32>, chrono_like::Stamp, i64) =
        sqlx::query_as("SELECT ?, ?, ?, ?, ?, dt, (SELECT COUNT(*) FROM numbers) FROM kinds WHERE id = 1")
            .bind(-5i64).bind(2.5f64).bind("😀'\\\0").bind(vec![0u8, 255, 39]).bind(None::<i32>)
            .fetch_one(&mut c).await?;
    Ok(json!([r.0, r.1, r.2, r.3, r.4, r.5.to_string(), r.6]))
}

mod chrono_like {
    pub type Stamp = sqlx::types::chrono::NaiveDateTime;
}

async fn again() -> Seen {
    let mut c = options().statement_cache_capacity(10).connect().await?;
    let mut list = vec![];
    for n in [Some(1), Some(2), None, Some(500)] {
        let r: Option<(i32, String)> = sqlx::query_as("SELECT n, word FROM numbers WHERE n = ?").bind(n).fetch_optional(&mut c).await?;
        list.push(json!(r));
    }
    for i in 0..40 {
        let r: (i64,) = sqlx::query_as(&format!("SELECT n + {} FROM numbers WHERE n = ?", i % 20)).bind(i + 1).fetch_one(&mut c).await?;
        list.push(json!(r.0));
    }
    Ok(json!(list))
}

async fn writes() -> Seen {
    let mut c = options().connect().await?;
    let mut list = vec![];
    for name in ["s1", "s2", "s1"] {
        match sqlx::query("INSERT INTO items (name, qty) VALUES (?, ?)").bind(name).bind(3).execute(&mut c).await {
            Ok(r) => list.push(json!([r.rows_affected(), r.last_insert_id()])),
            Err(e) => list.push(error(&e)),
        }
        let r: (String, i32) = sqlx::query_as("SELECT name, qty FROM items WHERE name = ?").bind(name).fetch_one(&mut c).await?;
        list.push(json!(r));
    }
    list.push(run(&mut c, "DELETE FROM items WHERE name LIKE 's_'").await);
    Ok(json!(list))
}

async fn own_write() -> Seen {
    let mut c = options().connect().await?;
    let mut missed = 0;
    for i in 0..50 {
        sqlx::query("UPDATE items SET qty = ? WHERE id = 3").bind(i).execute(&mut c).await?;
        let r: (i32,) = sqlx::query_as("SELECT qty FROM items WHERE id = ?").bind(3).fetch_one(&mut c).await?;
        missed += i32::from(r.0 != i);
    }
    Ok(json!(missed))
}

async fn transactions() -> Seen {
    let mut c = options().connect().await?;
    let mut list = vec![];
    let mut t = c.begin().await?;
    list.push(each(&mut t, &["UPDATE items SET qty = 61 WHERE id = 1", "SELECT qty FROM items WHERE id = 1"]).await);
    let mut inner = t.begin().await?;
    list.push(each(&mut inner, &["UPDATE items SET qty = 62 WHERE id = 1"]).await);
    inner.rollback().await?;
    list.push(each(&mut t, &["SELECT qty FROM items WHERE id = 1"]).await);
    t.commit().await?;
    let mut t = c.begin().await?;
    list.push(each(&mut t, &["UPDATE items SET qty = 63 WHERE id = 1"]).await);
    drop(t); // rolls back before the next statement
    list.push(each(&mut c, &["SELECT qty FROM items WHERE id = 1"]).await);
    Ok(json!(list))
}

async fn blobs() -> Seen {
    let mut c = options().connect().await?;
    let mut list = vec![];
    for size in [0usize, 1, 65536, 3 << 20] {
        let v = vec![0xfeu8; size];
        sqlx::query("INSERT INTO blobs VALUES (?, ?, ?)").bind(size as i64).bind(&v).bind("😀").execute(&mut c).await?;
        let r: (Vec<u8>, String) = sqlx::query_as("SELECT v, tx FROM blobs WHERE id = ?").bind(size as i64).fetch_one(&mut c).await?;
        list.push(json!([size, r.0 == v, r.1]));
    }
    list.push(run(&mut c, "DELETE FROM blobs").await);
    Ok(json!(list))
}

async fn pool() -> Seen {
    let pool = MySqlPoolOptions::new().max_connections(1).connect_with(options()).await?;
    let mut list = vec![];
    for i in 0..3 {
        let mut c = pool.acquire().await?;
        list.push(each(&mut c, &["SELECT @left_over", "SET @left_over = 1", "UPDATE items SET qty = qty + 1 WHERE id = 4", "SELECT qty FROM items WHERE id = 4"]).await);
        if i == 1 {
            let mut rows = sqlx::query("SELECT a.n FROM numbers a, numbers b WHERE b.n < ?").bind(20).fetch(&mut *c);
            rows.try_next().await?; // the rest stays unread
        }
    }
    Ok(json!(list))
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut n = 0;
    check(&mut n, "connect", on(&["SELECT DATABASE(), VERSION(), CURRENT_USER(), @@sql_mode, @@time_zone, @@character_set_client"])).await;
    check(&mut n, "unknown schema", async { options().database("nosuch").connect().await.map(|_| json!("connected")) }).await;
    check(&mut n, "wrong password", async { options().password("wrong").connect().await.map(|_| json!("connected")) }).await;
    check(&mut n, "types, text", on(&["SELECT * FROM kinds ORDER BY id"])).await;
    for id in 1..=3 {
        check(&mut n, &format!("types, prepared, row {id}"), prepared_types(id)).await;
    }
    check(&mut n, "values", values()).await;
    check(&mut n, "errors", on(&["SELEC 1", "SELECT * FROM nosuch", "INSERT INTO items (name) VALUES ('apple')", "INSERT INTO strict VALUES (1000, 'x')", "SELECT COUNT(*) FROM numbers"])).await;
    check(&mut n, "affected rows", on(&["UPDATE items SET qty = 21 WHERE id <= 2", "UPDATE items SET qty = 21 WHERE id <= 3"])).await;
    check(&mut n, "several statements", on(&["SELECT 1; UPDATE items SET qty = 5 WHERE id = 1; SELECT qty FROM items WHERE id = 1", "SELECT 1; SELEC 2", "CALL two_results()", "CALL fails()", "SELECT COUNT(*) FROM numbers"])).await;
    check(&mut n, "state", on(&["SET time_zone = '+03:00'", "SELECT CAST(ts AS CHAR) FROM kinds WHERE id = 1", "SET @x = 5", "SELECT @x, COUNT(*) FROM numbers", "CREATE TEMPORARY TABLE t (a INT)", "SELECT * FROM t", "DROP TEMPORARY TABLE t", "USE clients2", "SELECT name FROM items"])).await;
    check(&mut n, "executed again", again()).await;
    check(&mut n, "writes", writes()).await;
    check(&mut n, "own write is read", own_write()).await;
    check(&mut n, "transactions", transactions()).await;
    check(&mut n, "blobs", blobs()).await;
    check(&mut n, "pool", pool()).await;
    println!("{}", json!({"name": "end", "value": n}));
}
