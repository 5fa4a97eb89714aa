//! `local` steps: functions of the embedding program, run with the same durability as any call.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use refire_core::definition::Local;
use refire_core::failure::{ErrorClass, Failure};
use refire_core::id::ExecutionId;
use refire_core::json::Json;
use tokio_util::task::AbortOnDropHandle;

use super::{Answer, Attempt, Call, Callable, Clients, internal, render};
use crate::target::{Redactor, without_secrets};

/// How long the server takes for what it does for itself, at most, if nothing else is said.
const OWN_TIMEOUT: Duration = Duration::from_secs(60);

/// What a task is told about the attempt it is.
#[derive(Debug, Clone)]
pub struct TaskContext {
    /// The execution.
    pub execution: ExecutionId,
    /// The step.
    pub step: String,
    /// Which attempt; 1 is the first.
    pub attempt: u32,
    /// The same for every attempt of the step: give it to whoever must not do the work twice.
    pub idempotency_key: String,
}

/// What a task says when it fails.
#[derive(Debug)]
pub struct TaskError {
    message: String,
    code: Option<String>,
    causes: Vec<String>,
    retryable: bool,
}

impl TaskError {
    /// A failure that may be retried.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            code: None,
            causes: Vec::new(),
            retryable: true,
        }
    }

    /// A failure that no retry can mend.
    #[must_use]
    pub fn permanent(message: impl Into<String>) -> Self {
        Self {
            retryable: false,
            ..Self::new(message)
        }
    }

    /// The same with a code of the program's own.
    #[must_use]
    pub fn with_code(mut self, code: impl Into<String>) -> Self {
        self.code = Some(code.into());
        self
    }

    fn into_failure(self) -> Failure {
        let mut failure = Failure::new(ErrorClass::Local, self.message).with_causes(self.causes);
        failure.code = self.code;
        failure.retryable = self.retryable;
        failure
    }
}

impl<E: std::error::Error> From<E> for TaskError {
    fn from(error: E) -> Self {
        let mut causes = Vec::new();
        let mut source = error.source();
        while let Some(cause) = source {
            causes.push(cause.to_string());
            source = cause.source();
        }
        Self {
            causes,
            ..Self::new(error.to_string())
        }
    }
}

/// What the server itself does, and no program can register.
pub(crate) type OwnTask = Arc<dyn Fn(TaskContext, Json) -> OwnFuture + Send + Sync>;
pub(crate) type OwnFuture = Pin<Box<dyn Future<Output = Result<Json, Failure>> + Send>>;

type TaskFuture = Pin<Box<dyn Future<Output = Result<Json, TaskError>> + Send>>;
type Task = Arc<dyn Fn(TaskContext, Json) -> TaskFuture + Send + Sync>;

/// The tasks a program has registered.
#[derive(Clone, Default)]
pub struct LocalTasks {
    tasks: HashMap<String, Task>,
}

impl std::fmt::Debug for LocalTasks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.tasks.keys()).finish()
    }
}

impl LocalTasks {
    /// Registers a task under a name; the later one of the same name counts.
    pub fn register<F, Fut>(&mut self, name: impl Into<String>, task: F)
    where
        F: Fn(TaskContext, Json) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Json, TaskError>> + Send + 'static,
    {
        let task: Task = Arc::new(move |context, input| Box::pin(task(context, input)));
        self.tasks.insert(name.into(), task);
    }

    /// Whether a task of that name is registered.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.tasks.contains_key(name)
    }

    fn get(&self, name: &str) -> Option<Task> {
        self.tasks.get(name).cloned()
    }
}

impl Callable for Local {
    /// A function of this program may take the process down with it.
    fn begins_durably(&self) -> bool {
        true
    }

    fn prepare(&self, attempt: &Attempt<'_>) -> Result<Box<dyn Call>, Failure> {
        let input = match &self.input {
            Some(tree) => render(tree, attempt.scope, "input")?,
            None => attempt.input()?,
        };
        Ok(Box::new(LocalCall {
            task: self.task.clone(),
            context: TaskContext {
                execution: attempt.row.execution,
                step: attempt.row.step.clone(),
                attempt: attempt.row.attempt,
                idempotency_key: attempt.idempotency_key(),
            },
            input,
            timeout: self.timeout,
            is_own: attempt.origin.workflow.is_system(),
        }))
    }
}

struct LocalCall {
    task: String,
    context: TaskContext,
    input: Json,
    timeout: Option<Duration>,
    /// Whether it is the server's own.
    is_own: bool,
}

impl LocalCall {
    /// What the server does for itself. It cuts its own secrets from what it gives back.
    async fn make_own(self, clients: &Clients) -> Result<Answer, Failure> {
        let Some(own) = clients.own.get() else {
            return Err(internal("nobody does what the server runs for itself"));
        };
        let doing = own(self.context, self.input);
        let limit = self.timeout.unwrap_or(OWN_TIMEOUT);
        let Ok(done) = tokio::time::timeout(limit, doing).await else {
            let message = format!("it did not finish within {limit:?}");
            return Err(Failure::new(ErrorClass::Local, message));
        };
        done.map(Answer::new)
    }
}

#[async_trait]
impl Call for LocalCall {
    async fn make(self: Box<Self>, clients: &Clients, redact: Redactor) -> Result<Answer, Failure> {
        if self.is_own {
            return self.make_own(clients).await;
        }
        let Some(task) = clients.local.get(&self.task) else {
            let message = format!(
                "no local task named `{}` is registered in this program",
                self.task
            );
            return Err(Failure::new(ErrorClass::Local, message));
        };
        // In a task of its own, so that a panic ends the attempt and not the engine; aborted with it.
        let running = AbortOnDropHandle::new(tokio::spawn(task(self.context, self.input)));
        let joined = match self.timeout {
            None => running.await,
            Some(timeout) => match tokio::time::timeout(timeout, running).await {
                Ok(joined) => joined,
                Err(_) => {
                    let message = format!("the task did not finish within {timeout:?}");
                    return Err(Failure::new(ErrorClass::ReadTimeout, message));
                }
            },
        };
        match joined {
            Ok(Ok(output)) => Ok(Answer::new(redact.json(&output))),
            Ok(Err(error)) => Err(without_secrets(error.into_failure(), &redact)),
            Err(_) => {
                let mut failure = Failure::new(ErrorClass::Local, "the task panicked");
                failure.retryable = true;
                Err(failure)
            }
        }
    }
}
