//! Workflows made up for a seed: definitions as people would write them, and how the targets of
//! their steps behave.

use std::fmt::Write as _;

use crate::dice::Dice;
use crate::plan::{TaskText, window_s};

/// How the target of a step behaves until everything heals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    /// Answers well.
    Fine,
    /// Fails so many times in a thousand, in all the ways there are.
    Flaky(u32),
    /// Never answers well.
    Down,
    /// Answers, but mostly later than the attempt may take.
    Slow,
    /// Takes the process down with it, every time. Only a task of the program itself can.
    Deadly,
    /// Answers with what the store cannot keep.
    Unstorable,
}

/// A step, as far as its target needs to know it.
#[derive(Debug, Clone)]
pub(crate) struct Spot {
    pub(crate) name: String,
    pub(crate) mood: Mood,
    /// Once everything has healed it succeeds, or fails for good.
    pub(crate) ends_well: bool,
    /// How long it may take to call back, in seconds; none = nobody waits for that.
    pub(crate) window_s: Option<u64>,
}

impl Spot {
    /// The target of scheduled tasks. How long it may take is in each task.
    pub(crate) fn of_errand(seed: u64) -> Self {
        let dice = &mut Dice::new(seed, "errand");
        Self {
            name: "call".to_owned(),
            mood: mood(dice, false),
            ends_well: dice.chance(850),
            window_s: None,
        }
    }
}

/// A workflow with its versions.
#[derive(Debug, Clone)]
pub(crate) struct Flow {
    pub(crate) id: String,
    /// The definition's texts, the first version first.
    pub(crate) texts: Vec<String>,
    pub(crate) spots: Vec<Spot>,
}

/// Hosts are few, so that steps meet at their limits.
pub(crate) const HOSTS: u64 = 3;

impl Flow {
    /// Some of its steps are tasks for workers, and the targets of some call back, if there are dice
    /// for them.
    pub(crate) fn roll(
        dice: &mut Dice,
        number: usize,
        tasks: Option<&mut Dice>,
        callbacks: Option<&mut Dice>,
    ) -> Self {
        let id = format!("w{number}");
        let mut shape = Shape::roll(dice, &id);
        if let Some(tasks) = tasks {
            shape.hand_out(tasks);
        }
        if let Some(callbacks) = callbacks {
            shape.wait(callbacks);
        }
        let mut texts = vec![shape.text(&head(dice, &id))];
        if dice.chance(400) {
            texts.push(shape.text(&head(dice, &id)));
        }
        let spots = shape.spots(dice);
        Self { id, texts, spots }
    }

    pub(crate) fn spot(&self, step: &str) -> Option<&Spot> {
        self.spots.iter().find(|spot| spot.name == step)
    }
}

/// Everything above the steps.
fn head(dice: &mut Dice, id: &str) -> String {
    let mut text = format!("id: {id}\nretry: {}\n", retry(dice));
    if dice.chance(200) {
        let max = dice.between(1, 3);
        let per = dice.between(1, 2);
        let limit = match dice.below(3) {
            0 => format!("{max}"),
            1 => format!("{{ key: \"${{input.k}}\", maxPerKey: {per} }}"),
            _ => format!(
                "{{ max: {}, key: \"${{input.k}}\", maxPerKey: {per} }}",
                max + 1
            ),
        };
        let _ = writeln!(text, "concurrency: {limit}");
    }
    if dice.chance(150) {
        let per = dice.pick(&["500ms", "2s", "20s"]);
        let _ = writeln!(
            text,
            "rateLimit: {{ max: {}, per: {per} }}",
            dice.between(1, 4)
        );
    }
    if dice.chance(250) {
        text.push_str("deadLetter: exhausted\n");
    }
    text
}

fn retry(dice: &mut Dice) -> String {
    if dice.chance(80) {
        return "false".to_owned();
    }
    let strategy = dice.pick(&["exponential", "linear", "fixed"]);
    let jitter = dice.pick(&[
        "none",
        "full",
        "equal",
        "additive",
        "decorrelated",
        "{ type: proportional, ratio: 0.5 }",
    ]);
    // The longest is beyond what a node keeps in memory, so that the store has the timer.
    let delay = dice.pick(&["1ms", "100ms", "100ms", "1s", "1s", "5s", "40s"]);
    let mut text = format!(
        "{{ maxRetries: {}, initialDelay: {delay}, strategy: {strategy}, jitter: {jitter}, \
         maxDelay: 3m",
        dice.between(1, 5)
    );
    if dice.chance(200) {
        let _ = write!(text, ", maxElapsed: {}s", dice.between(1, 60));
    }
    if dice.chance(300) {
        text.push_str(", retryOn: { statuses: [408, 429, 5xx], errors: [read_timeout, connection_refused, connection_reset, connect_timeout, tls, local] }");
    }
    text.push_str(" }");
    text
}

/// The steps of a workflow and what they need.
struct Shape {
    flow: String,
    steps: Vec<Node>,
    is_graph: bool,
    output: bool,
}

struct Node {
    name: String,
    needs: Vec<usize>,
    host: u64,
    is_local: bool,
    timeout: &'static str,
    when: Option<&'static str>,
    retry: Option<String>,
    undo_is_local: Option<bool>,
    maps: bool,
    /// Workers do it, or undo it.
    task: Option<TaskText>,
    undo_task: Option<TaskText>,
    /// How long its target may take to call back, or that of what undoes it, in seconds.
    window_s: Option<u64>,
    undo_window_s: Option<u64>,
}

impl Shape {
    fn roll(dice: &mut Dice, flow: &str) -> Self {
        let count = *dice.pick(&[1, 1, 2, 2, 3, 3, 4, 6]);
        let is_graph = count > 1 && dice.chance(650);
        let steps = (0..count)
            .map(|index| Node::roll(dice, index, is_graph))
            .collect();
        Self {
            flow: flow.to_owned(),
            steps,
            is_graph,
            output: dice.chance(200),
        }
    }

    /// Makes tasks of some steps.
    fn hand_out(&mut self, dice: &mut Dice) {
        for node in &mut self.steps {
            node.task = TaskText::roll(dice);
            node.undo_task = TaskText::roll(dice);
        }
    }

    /// Lets the targets of some steps call back.
    fn wait(&mut self, dice: &mut Dice) {
        for node in &mut self.steps {
            let (own, undo) = (window_s(dice), window_s(dice));
            node.window_s = own.filter(|_| !node.is_local && node.task.is_none());
            let undo_is_local = node.undo_is_local == Some(true);
            node.undo_window_s = undo.filter(|_| !undo_is_local && node.undo_task.is_none());
        }
    }

    fn text(&self, head: &str) -> String {
        let mut text = head.to_owned();
        if self.output {
            text.push_str("output: { first: \"${steps.s0.output}\", n: \"${input.n}\" }\n");
        }
        text.push_str("steps:\n");
        for (index, node) in self.steps.iter().enumerate() {
            self.write_step(&mut text, index, node);
        }
        for node in &self.steps {
            if let Some(is_local) = node.undo_is_local {
                let name = undo_of(&node.name);
                let undone = format!("${{steps.{}.output}}", node.name);
                let how = How {
                    is_local,
                    task: node.undo_task.as_ref(),
                    window_s: node.undo_window_s,
                };
                let config = self.config(&name, &how, node, &undone);
                let (kind, callback) = (how.kind(), how.callback());
                let _ = writeln!(
                    text,
                    "  - {{ id: {name}, type: {kind}{callback}, config: {config} }}"
                );
            }
        }
        text
    }

    fn write_step(&self, text: &mut String, index: usize, node: &Node) {
        let how = How {
            is_local: node.is_local,
            task: node.task.as_ref(),
            window_s: node.window_s,
        };
        let (name, kind, callback) = (&node.name, how.kind(), how.callback());
        let _ = write!(text, "  - {{ id: {name}, type: {kind}{callback}");
        if self.is_graph {
            let needs: Vec<&str> = node
                .needs
                .iter()
                .map(|need| self.steps[*need].name.as_str())
                .collect();
            let _ = write!(text, ", needs: [{}]", needs.join(", "));
        }
        if let Some(when) = node.when {
            let _ = write!(text, ", when: \"{when}\"");
        }
        if let Some(retry) = &node.retry {
            let _ = write!(text, ", retry: {retry}");
        }
        if node.undo_is_local.is_some() {
            let _ = write!(text, ", compensate: {}", undo_of(&node.name));
        }
        let before = match (self.is_graph, node.needs.last()) {
            (true, Some(need)) => Some(*need),
            (false, _) if index > 0 => Some(index - 1),
            _ => None,
        };
        let before = before.map_or_else(
            || "${input.k}".to_owned(),
            |before| format!("${{steps.{}.output}}", self.steps[before].name),
        );
        let config = self.config(&node.name, &how, node, &before);
        let _ = writeln!(text, ", config: {config} }}");
    }

    fn config(&self, name: &str, how: &How<'_>, node: &Node, before: &str) -> String {
        let How {
            is_local,
            task,
            window_s,
        } = *how;
        let (flow, timeout) = (&self.flow, node.timeout);
        let token = match window_s {
            Some(_) => ", token: \"${callback.token}\"",
            None => "",
        };
        let value = format!("{{ n: \"${{input.n}}\", before: \"{before}\"{token} }}");
        let from = match task {
            Some(_) => "$.value",
            None => "$.body.value",
        };
        let mapping = match node.maps && name == node.name && (task.is_some() || !is_local) {
            true => format!(", outputMapping: {{ from_{name}: \"{from}\" }}"),
            false => String::new(),
        };
        if let Some(task) = task {
            return task.config(&value, &mapping);
        }
        if is_local {
            return format!("{{ task: {flow}, input: {value}, timeout: {timeout} }}");
        }
        let host = node.host;
        format!(
            "{{ method: POST, url: \"https://h{host}.example/{flow}/{name}\", body: {value}, \
             timeout: {timeout}{mapping} }}"
        )
    }

    fn spots(&self, dice: &mut Dice) -> Vec<Spot> {
        let mut spots = Vec::new();
        for node in &self.steps {
            spots.push(Spot {
                name: node.name.clone(),
                mood: mood(dice, node.is_local),
                ends_well: dice.chance(850),
                window_s: node.window_s,
            });
            if let Some(is_local) = node.undo_is_local {
                spots.push(Spot {
                    name: undo_of(&node.name),
                    mood: mood(dice, is_local),
                    ends_well: dice.chance(850),
                    window_s: node.undo_window_s,
                });
            }
        }
        spots
    }
}

impl Node {
    fn roll(dice: &mut Dice, index: usize, is_graph: bool) -> Self {
        let needs = match is_graph {
            true => (0..index).filter(|_| dice.chance(350)).collect(),
            false => Vec::new(),
        };
        let when = match dice.below(12) {
            0 => Some("${input.flag ?? false}"),
            1 => Some("${input.other ?? true}"),
            // Not a yes or no in every input: the step fails without an attempt.
            2 if index > 0 => Some("${input.odd ?? true}"),
            _ => None,
        };
        let undo = dice.chance(250);
        Self {
            name: format!("s{index}"),
            needs,
            host: dice.below(HOSTS),
            is_local: dice.chance(200),
            timeout: *dice.pick(&["100ms", "300ms", "1s", "5s", "30s"]),
            when,
            retry: dice.chance(200).then(|| retry(dice)),
            undo_is_local: undo.then(|| dice.chance(200)),
            maps: dice.chance(200),
            task: None,
            undo_task: None,
            window_s: None,
            undo_window_s: None,
        }
    }
}

fn mood(dice: &mut Dice, is_local: bool) -> Mood {
    match dice.below(100) {
        0..35 => Mood::Fine,
        35..70 => Mood::Flaky(u32::try_from(dice.between(100, 700)).unwrap_or(0)),
        70..80 => Mood::Down,
        80..88 => Mood::Slow,
        88..91 => Mood::Unstorable,
        _ if is_local => Mood::Deadly,
        _ => Mood::Fine,
    }
}

/// How a step is done.
struct How<'a> {
    is_local: bool,
    task: Option<&'a TaskText>,
    window_s: Option<u64>,
}

impl How<'_> {
    fn kind(&self) -> &'static str {
        match self.task {
            Some(_) => "external_task",
            None if self.is_local => "local",
            None => "http",
        }
    }

    fn callback(&self) -> String {
        let window = |seconds| format!(", callback: {{ window: {seconds}s }}");
        self.window_s.map_or_else(String::new, window)
    }
}

fn undo_of(step: &str) -> String {
    format!("undo_{step}")
}
