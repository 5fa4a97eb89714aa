//! What is found by an id, a key or a name.

use super::Found;

shapes! {
    /// What was found.
    pub struct SearchResult {
        /// What has exactly this id or key comes first, then what has the text in its name; 20 at most.
        pub items: Vec<Hit>,
    }

    /// One thing that was found.
    pub struct Hit {
        /// What it is.
        pub kind: Found,
        /// Its id.
        pub id: String,
        /// What people call it.
        pub title: String,
        /// Where it stands, in the words of its kind.
        pub status: Option<String>,
        /// Its page in the console.
        pub path: String,
    }
}
