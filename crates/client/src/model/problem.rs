//! Errors: RFC 9457 problem details with a stable code and every invalid field named.

shapes! {
    /// What went wrong with a request.
    pub struct Problem {
        /// Where the code is explained.
        #[serde(rename = "type")]
        pub problem_type: String,
        /// The code's short name.
        pub title: String,
        /// The HTTP status.
        pub status: u16,
        /// Stable, `RFnnnn`; `refire explain` has its page.
        pub code: String,
        /// What happened this time.
        pub detail: String,
        /// The request's path.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub instance: Option<String>,
        /// Every field that is wrong.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub errors: Vec<FieldProblem>,
    }

    /// A field that is wrong.
    pub struct FieldProblem {
        /// Such as `steps[1].needs[0]` or `priority`.
        pub field: String,
        /// What is wrong with it.
        pub message: String,
        /// The line in the definition.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub line: Option<u32>,
        /// The column in the definition.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub column: Option<u32>,
        /// What would be right.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub hint: Option<String>,
    }
}
