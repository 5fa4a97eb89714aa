//! Which function does a task.

use std::pin::Pin;
use std::sync::Arc;

use serde::Serialize;
use serde_json::value::to_raw_value;

use super::failure::Failure;
use super::task::Task;
use crate::model::Raw;

/// What a function came to.
pub(super) type Outcome = Result<Raw, Failure>;
type Doing = Pin<Box<dyn Future<Output = Outcome> + Send>>;
pub(super) type Function = Arc<dyn Fn(Task) -> Doing + Send + Sync>;

/// Functions by the types that they do.
#[derive(Default)]
pub(super) struct Routes(Vec<(String, Function)>);

impl Routes {
    pub(super) fn add<F, R, T>(&mut self, task_type: String, function: F)
    where
        F: Fn(Task) -> R + Send + Sync + 'static,
        R: Future<Output = Result<T, Failure>> + Send + 'static,
        T: Serialize,
    {
        let function = move |task| -> Doing {
            let doing = function(task);
            Box::pin(async move {
                let output = doing.await?;
                to_raw_value(&output).map_err(|error| {
                    Failure::permanent(format!("the output cannot be written as JSON: {error}"))
                })
            })
        };
        // The one that is added last counts, as anybody would expect who names a type twice.
        self.0.retain(|(known, _)| *known != task_type);
        self.0.push((task_type, Arc::new(function)));
    }

    /// What is asked for.
    pub(super) fn types(&self) -> Vec<String> {
        self.0.iter().map(|(name, _)| name.clone()).collect()
    }

    /// The function for tasks of this type: by the exact name, else by the longest beginning.
    pub(super) fn of(&self, task_type: &str) -> Option<&Function> {
        let fit = |written: &str| match written.strip_suffix('*') {
            Some(start) if task_type.starts_with(start) => Some(start.len()),
            None if written == task_type => Some(usize::MAX),
            _ => None,
        };
        let fitting = self.0.iter().filter_map(|(name, function)| {
            let length = fit(name)?;
            Some((length, function))
        });
        let best = fitting.max_by_key(|(length, _)| *length);
        best.map(|(_, function)| function)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exact_name_goes_before_the_longer_beginning() {
        let mut routes = Routes::default();
        for (name, _) in [
            ("*", 0),
            ("jira-*", 1),
            ("jira-create-*", 2),
            ("jira-create-x", 3),
        ] {
            routes.add(name.to_owned(), |_| async { Ok(()) });
        }
        let which = |task_type: &str| {
            let found = routes.of(task_type).expect("one fits");
            routes.0.iter().position(|(_, one)| Arc::ptr_eq(one, found))
        };
        for (task_type, expected) in [
            ("jira-create-x", 3),
            ("jira-create-y", 2),
            ("jira-close", 1),
            ("mail", 0),
        ] {
            assert_eq!(which(task_type), Some(expected), "{task_type}");
        }
        let mut one = Routes::default();
        one.add("mail".to_owned(), |_| async { Ok(()) });
        one.add("mail".to_owned(), |_| async { Ok(()) });
        assert_eq!(one.types(), ["mail"]);
        assert!(one.of("mails").is_none());
    }
}
