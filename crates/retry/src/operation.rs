//! The operation to retry, and what counts as its success.
//!
//! These traits let one builder serve async and blocking operations, with and without a result
//! predicate. They are sealed: closures are the way to write an operation.

use std::future::Future;

use crate::error::Last;

/// Something to retry.
pub trait Operation: sealed::Sealed {
    /// What it gives when it succeeds.
    type Value;
    /// What it gives when it fails.
    type Error;
    /// What is left when retrying ends without success: the error, or, if values too can be turned
    /// down, a [`Last`].
    type Last;

    /// Sorts a result into success and failure.
    fn judge(
        &mut self,
        result: Result<Self::Value, Self::Error>,
    ) -> Result<Self::Value, Self::Last>;

    /// The error, if `last` is one.
    fn error(last: &Self::Last) -> Option<&Self::Error>;

    /// The value, if `last` is one.
    fn value(last: &Self::Last) -> Option<&Self::Value>;
}

/// An operation that is awaited.
pub trait AsyncOperation: Operation {
    /// One attempt.
    type Future: Future<Output = Result<Self::Value, Self::Error>>;

    /// Starts an attempt.
    fn start(&mut self) -> Self::Future;
}

/// An operation that is awaited, one attempt at a time.
pub trait LendingOperation: Operation {
    /// Makes an attempt.
    #[expect(
        async_fn_in_trait,
        reason = "sealed, and the future is Send whenever the closure's is"
    )]
    async fn attempt(&mut self) -> Result<Self::Value, Self::Error>;
}

/// An operation that holds up the thread.
pub trait BlockingOperation: Operation {
    /// Makes an attempt.
    fn run(&mut self) -> Result<Self::Value, Self::Error>;
}

mod sealed {
    /// Keeps the traits above open for change.
    pub trait Sealed {}

    impl<F> Sealed for super::Async<F> {}
    impl<F> Sealed for super::Lending<F> {}
    impl<F> Sealed for super::Blocking<F> {}
    impl<O, P> Sealed for super::Until<O, P> {}
}

/// A closure that makes a future per attempt.
#[derive(Clone, Copy, Debug)]
pub struct Async<F>(pub(crate) F);

impl<F, Fut, T, E> Operation for Async<F>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, E>>,
{
    type Value = T;
    type Error = E;
    type Last = E;

    fn judge(&mut self, result: Result<T, E>) -> Result<T, E> {
        result
    }

    fn error(last: &E) -> Option<&E> {
        Some(last)
    }

    fn value(_: &E) -> Option<&T> {
        None
    }
}

impl<F, Fut, T, E> AsyncOperation for Async<F>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, E>>,
{
    type Future = Fut;

    fn start(&mut self) -> Fut {
        self.0()
    }
}

/// An async closure whose futures borrow from it, so that only one attempt can exist at a time.
#[derive(Clone, Copy, Debug)]
pub struct Lending<F>(pub(crate) F);

impl<F, T, E> Operation for Lending<F>
where
    F: AsyncFnMut() -> Result<T, E>,
{
    type Value = T;
    type Error = E;
    type Last = E;

    fn judge(&mut self, result: Result<T, E>) -> Result<T, E> {
        result
    }

    fn error(last: &E) -> Option<&E> {
        Some(last)
    }

    fn value(_: &E) -> Option<&T> {
        None
    }
}

impl<F, T, E> LendingOperation for Lending<F>
where
    F: AsyncFnMut() -> Result<T, E>,
{
    async fn attempt(&mut self) -> Result<T, E> {
        self.0().await
    }
}

/// A closure that gives a result per attempt.
#[derive(Clone, Copy, Debug)]
pub struct Blocking<F>(pub(crate) F);

impl<F, T, E> Operation for Blocking<F>
where
    F: FnMut() -> Result<T, E>,
{
    type Value = T;
    type Error = E;
    type Last = E;

    fn judge(&mut self, result: Result<T, E>) -> Result<T, E> {
        result
    }

    fn error(last: &E) -> Option<&E> {
        Some(last)
    }

    fn value(_: &E) -> Option<&T> {
        None
    }
}

impl<F, T, E> BlockingOperation for Blocking<F>
where
    F: FnMut() -> Result<T, E>,
{
    fn run(&mut self) -> Result<T, E> {
        self.0()
    }
}

/// An operation whose values can be turned down; made by [`Retry::until`](crate::Retry::until).
#[derive(Clone, Copy, Debug)]
pub struct Until<O, P> {
    pub(crate) operation: O,
    pub(crate) accept: P,
}

impl<O, P> Operation for Until<O, P>
where
    O: Operation,
    P: FnMut(&O::Value) -> bool,
{
    type Value = O::Value;
    type Error = O::Error;
    type Last = Last<O::Value, O::Error>;

    fn judge(&mut self, result: Result<O::Value, O::Error>) -> Result<O::Value, Self::Last> {
        match result {
            Ok(value) if (self.accept)(&value) => Ok(value),
            Ok(value) => Err(Last::Value(value)),
            Err(error) => Err(Last::Error(error)),
        }
    }

    fn error(last: &Self::Last) -> Option<&O::Error> {
        last.error()
    }

    fn value(last: &Self::Last) -> Option<&O::Value> {
        last.value()
    }
}

impl<O, P> AsyncOperation for Until<O, P>
where
    O: AsyncOperation,
    P: FnMut(&O::Value) -> bool,
{
    type Future = O::Future;

    fn start(&mut self) -> O::Future {
        self.operation.start()
    }
}

impl<O, P> LendingOperation for Until<O, P>
where
    O: LendingOperation,
    P: FnMut(&O::Value) -> bool,
{
    async fn attempt(&mut self) -> Result<O::Value, O::Error> {
        self.operation.attempt().await
    }
}

impl<O, P> BlockingOperation for Until<O, P>
where
    O: BlockingOperation,
    P: FnMut(&O::Value) -> bool,
{
    fn run(&mut self) -> Result<O::Value, O::Error> {
        self.operation.run()
    }
}
