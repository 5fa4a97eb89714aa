//! A store in front of another one: whatever it does not say itself is what the one below says.

use std::ops::Deref;
use std::path::Path;

use async_trait::async_trait;
use refire_core::definition::WorkflowId;
use refire_core::id::ExecutionId;

use crate::{Batch, CommitError, News, PartOutcome, ReadError, Store, VersionRow};

/// What a store in front of another one does besides. It is a store as a [`Layered`].
#[async_trait]
pub trait Layer: Send + Sync + 'static {
    /// The store that is asked.
    fn below(&self) -> &dyn Store;

    /// See [`Store::commit`].
    async fn commit(&self, batch: &Batch) -> Result<Vec<PartOutcome>, CommitError> {
        self.below().commit(batch).await
    }

    /// Hears the method of every other question and the executions that it names, and may refuse to
    /// pass it on.
    async fn asked(
        &self,
        method: &'static str,
        executions: &[ExecutionId],
    ) -> Result<(), ReadError> {
        let _ = (method, executions);
        Ok(())
    }

    /// See [`crate::Catalog::version`].
    async fn version(
        &self,
        id: &WorkflowId,
        version: u32,
    ) -> Result<Option<VersionRow>, ReadError> {
        self.asked("version", &[]).await?;
        self.below().version(id, version).await
    }
}

/// See the module.
pub struct Layered<L>(pub L);

impl<L> Deref for Layered<L> {
    type Target = L;

    fn deref(&self) -> &L {
        &self.0
    }
}

/// Defines a part of [`Store`] that only asks, and how layers pass its questions on: each after
/// [`Layer::asked`] has heard of it and of the executions that it is `about`, or `as` the layer says.
macro_rules! store_trait {
    (@pass $self:ident.$method:ident($($argument:ident),*) as $layer:ident) => {
        $crate::$layer::$method(&$self.0, $($argument),*).await
    };
    (@pass $self:ident.$method:ident($($argument:ident),*) $(about $about:expr)?) => {{
        let about: &[refire_core::id::ExecutionId] = $crate::layer::store_trait!(@about $($about)?);
        $self.0.asked(stringify!($method), about).await?;
        $self.0.below().$method($($argument),*).await
    }};
    (@about) => { &[] };
    (@about $about:expr) => { $about };
    ($(#[$doc:meta])* pub trait $trait:ident {
        $($(#[$method_doc:meta])*
        async fn $method:ident(&self $(, $argument:ident: $type:ty)* $(,)?)
            -> Result<$answer:ty, ReadError> $(; about $about:expr)? $(; as $layer:ident)?;)*
    }) => {
        $(#[$doc])*
        #[async_trait::async_trait]
        pub trait $trait: Send + Sync + 'static {
            $($(#[$method_doc])*
            async fn $method(&self $(, $argument: $type)*) -> Result<$answer, $crate::ReadError>;)*
        }

        #[async_trait::async_trait]
        impl<L: $crate::Layer> $trait for $crate::Layered<L> {
            $(async fn $method(&self $(, $argument: $type)*)
                -> Result<$answer, $crate::ReadError>
            {
                $crate::layer::store_trait!(
                    @pass self.$method($($argument),*) $(about $about)? $(as $layer)?
                )
            })*
        }
    };
}
pub(crate) use store_trait;

#[async_trait]
impl<L: Layer> Store for Layered<L> {
    async fn commit(&self, batch: &Batch) -> Result<Vec<PartOutcome>, CommitError> {
        self.0.commit(batch).await
    }

    async fn backup(
        &self,
        to: &Path,
        progress: &(dyn Fn(u64, u64) + Send + Sync),
    ) -> Result<(), ReadError> {
        self.0.asked("backup", &[]).await?;
        self.0.below().backup(to, progress).await
    }

    async fn size(&self) -> Result<Option<u64>, ReadError> {
        self.0.asked("size", &[]).await?;
        self.0.below().size().await
    }

    fn is_shared(&self) -> bool {
        self.0.below().is_shared()
    }

    fn tell(&self, news: News) {
        self.0.below().tell(news);
    }

    async fn news(&self) -> News {
        self.0.below().news().await
    }

    fn idle(&self) {
        self.0.below().idle();
    }

    async fn close(&self) {
        self.0.below().close().await;
    }
}
