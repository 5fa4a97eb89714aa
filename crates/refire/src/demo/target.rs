//! The services that the demo's workflows call: flaky, strict, slow or down, each in a way that
//! is the same every time.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, post};
use axum::{Json, Router};
use serde_json::{Value, json};

#[derive(Default)]
struct Services {
    calls: AtomicU64,
    erp_is_up: AtomicBool,
}

/// Starts them on a free port of this machine.
pub(super) async fn start() -> std::io::Result<SocketAddr> {
    let services = Arc::new(Services::default());
    let router = Router::new()
        .route("/crm/customers", post(crm))
        .route("/mail/send", post(mail))
        .route("/billing/invoices", post(billing))
        .route("/stock/reserve", post(stock))
        .route("/erp/orders", post(erp))
        .route("/erp/repair", post(repair))
        .route("/travel/hotels", post(hotel))
        .route("/travel/hotels/{booking}", delete(cancel_hotel))
        .route("/travel/flights", post(flight))
        .with_state(services);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    // Only this process talks to it, so it needs none of the guards of a public listener.
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(address)
}

fn attempt(headers: &HeaderMap) -> u64 {
    let value = headers
        .get("x-refire-attempt")
        .and_then(|value| value.to_str().ok());
    value.and_then(|value| value.parse().ok()).unwrap_or(1)
}

fn answer(status: StatusCode, body: Value) -> Response {
    (status, Json(body)).into_response()
}

fn number(services: &Services) -> u64 {
    services.calls.fetch_add(1, Ordering::Relaxed) + 1
}

/// Fails on the first attempts, on every third customer one more time.
async fn crm(State(services): State<Arc<Services>>, headers: HeaderMap) -> Response {
    let number = number(&services);
    if attempt(&headers) <= number % 3 {
        return answer(
            StatusCode::SERVICE_UNAVAILABLE,
            json!({"error": "CRM is restarting"}),
        );
    }
    answer(StatusCode::CREATED, json!({"id": 40_000 + number}))
}

/// Refuses addresses that are none.
async fn mail(body: String) -> Response {
    let to = serde_json::from_str::<Value>(&body).ok();
    let to = to
        .as_ref()
        .and_then(|body| body["to"].as_str())
        .unwrap_or_default();
    if !to.contains('@') {
        let error = format!("`to` is not an address: {to}");
        return answer(StatusCode::UNPROCESSABLE_ENTITY, json!({ "error": error }));
    }
    answer(StatusCode::ACCEPTED, json!({"queued": true}))
}

/// Limits its rate, and says for how long.
async fn billing(headers: HeaderMap) -> Response {
    if attempt(&headers) == 1 {
        let wait = [("retry-after", "1")];
        return (StatusCode::TOO_MANY_REQUESTS, wait, "slow down").into_response();
    }
    answer(StatusCode::OK, json!({"sent": true}))
}

async fn stock(State(services): State<Arc<Services>>) -> Response {
    answer(StatusCode::OK, json!({"reservation": number(&services)}))
}

/// Is down until somebody repairs it.
async fn erp(State(services): State<Arc<Services>>) -> Response {
    if services.erp_is_up.load(Ordering::Relaxed) {
        return answer(StatusCode::CREATED, json!({"order": number(&services)}));
    }
    answer(
        StatusCode::BAD_GATEWAY,
        json!({"error": "no connection to the ERP database"}),
    )
}

async fn repair(State(services): State<Arc<Services>>) -> Response {
    services.erp_is_up.store(true, Ordering::Relaxed);
    answer(StatusCode::OK, json!({"erp": "up"}))
}

async fn hotel(State(services): State<Arc<Services>>) -> Response {
    answer(
        StatusCode::CREATED,
        json!({"booking": format!("h{}", number(&services))}),
    )
}

async fn cancel_hotel() -> Response {
    answer(StatusCode::OK, json!({"cancelled": true}))
}

async fn flight() -> Response {
    answer(StatusCode::CONFLICT, json!({"error": "sold out"}))
}
