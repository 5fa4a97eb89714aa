//! What only the whole can tell: who needs whom, cycles, compensation, references between steps.

use std::collections::{BTreeMap, HashMap};

use refire_schedule::nearest;

use super::fields::Field;
use super::graph::{self, Ancestors};
use super::problem::{Problem, Problems};
use super::source::{Content, Mark, Node};
use super::step::{Draft, Mention};
use super::workflow::Step;
use crate::template::{Reference, Root, Template};

/// Whose string a template is: that decides what it may refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// The config of a step: everything, secrets included.
    Config(usize),
    /// What others see of a step: everything but secrets.
    Shown(usize),
    /// The condition of a step.
    When(usize),
    /// The workflow's output.
    Output,
    /// The key of a limit, which is known before any step runs.
    Limit,
}

/// Every string with references, and where it stands.
#[derive(Debug, Default)]
pub(super) struct Sites(Vec<Site>);

#[derive(Debug)]
struct Site {
    owner: Owner,
    path: String,
    mark: Mark,
    references: Vec<Reference>,
}

impl Sites {
    /// Notes all strings of a value. Strings that are no templates are reported elsewhere.
    pub(super) fn add_all(&mut self, owner: Owner, field: &Field<'_>) {
        self.visit(owner, field.node, &mut field.path.clone());
    }

    fn visit(&mut self, owner: Owner, node: &Node, path: &mut String) {
        let length = path.len();
        match &node.content {
            Content::String(text) => {
                let Ok(template) = Template::parse(text) else {
                    return;
                };
                let references: Vec<_> = template.references().cloned().collect();
                if !references.is_empty() {
                    self.0.push(Site {
                        owner,
                        path: path.clone(),
                        mark: node.mark,
                        references,
                    });
                }
            }
            Content::Sequence(items) => {
                for (at, item) in items.iter().enumerate() {
                    path.push_str(&format!("[{at}]"));
                    self.visit(owner, item, path);
                    path.truncate(length);
                }
            }
            Content::Mapping(members) => {
                for (key, value) in members {
                    path.push('.');
                    path.push_str(&key.text);
                    self.visit(owner, value, path);
                    path.truncate(length);
                }
            }
            _ => {}
        }
    }
}

/// Turns drafts into steps; `None` when a part is missing, which was reported then.
pub(super) fn resolve(
    drafts: Vec<Draft>,
    sites: &Sites,
    problems: &mut Problems,
) -> Option<Vec<Step>> {
    let names = names(&drafts, problems);
    let undoes = compensation(&drafts, &names, problems);
    let needs = needs(&drafts, &names, &undoes, problems);
    match graph::cycle(&needs) {
        Some(around) => report_cycle(&drafts, &around, problems),
        None => {
            let world = World {
                drafts: &drafts,
                names,
                undoes: &undoes,
                ancestors: Ancestors::of(&needs),
            };
            world.check_references(sites, problems);
            world.check_mappings(problems);
        }
    }
    let compensated_by = |at: usize| undoes.iter().position(|undone| *undone == Some(at));
    let backward: Vec<_> = (0..drafts.len()).map(compensated_by).collect();
    let mut steps = Vec::with_capacity(drafts.len());
    for (((at, draft), needs), compensate) in
        drafts.into_iter().enumerate().zip(needs).zip(backward)
    {
        steps.push(Step {
            id: draft.id?,
            kind: draft.kind?,
            needs,
            when: draft.when,
            retry: draft.retry,
            callback: draft.callback,
            compensate,
            is_compensation: undoes[at].is_some(),
            output_mapping: draft
                .output_mapping
                .into_iter()
                .map(|(mention, path)| (mention.name, path))
                .collect(),
        });
    }
    Some(steps)
}

/// Ordered, so that suggestions do not depend on chance.
type Names = BTreeMap<String, usize>;

fn names(drafts: &[Draft], problems: &mut Problems) -> Names {
    let mut names = Names::new();
    for (at, draft) in drafts.iter().enumerate() {
        let Some(id) = &draft.id else { continue };
        match names.get(id.as_str()) {
            Some(first) => {
                let message = format!(
                    "the id \"{id}\" is already taken by steps[{first}] (line {})",
                    drafts[*first].id_mark.line
                );
                problems.push(Problem::new(
                    format!("{}.id", draft.path),
                    draft.id_mark,
                    message,
                ));
            }
            None => {
                names.insert(id.to_string(), at);
            }
        }
    }
    names
}

fn unknown_step<'a>(mention: &Mention, known: impl Iterator<Item = &'a str>) -> Problem {
    Problem::new(
        &mention.path,
        mention.mark,
        format!("no step is called \"{}\"", mention.name),
    )
    .suggesting(nearest(&mention.name, known))
}

/// For each step, which step it undoes.
fn compensation(drafts: &[Draft], names: &Names, problems: &mut Problems) -> Vec<Option<usize>> {
    let mut undoes = vec![None; drafts.len()];
    for (at, draft) in drafts.iter().enumerate() {
        let Some(mention) = &draft.compensate else {
            continue;
        };
        let wrong = |message: String| Problem::new(&mention.path, mention.mark, message);
        match names.get(&mention.name) {
            None => problems.push(unknown_step(mention, names.keys().map(String::as_str))),
            Some(by) if *by == at => {
                problems.push(wrong("a step cannot compensate itself".to_owned()));
            }
            Some(by) => match undoes[*by] {
                Some(other) => {
                    let other: &Draft = &drafts[other];
                    problems.push(wrong(format!(
                        "\"{}\" already compensates {}; one compensation step serves one step",
                        mention.name, other.path
                    )));
                }
                None => undoes[*by] = Some(at),
            },
        }
    }
    for (draft, _) in drafts
        .iter()
        .zip(&undoes)
        .filter(|(_, undone)| undone.is_some())
    {
        let keys = [
            (
                "needs",
                draft.needs.as_ref().is_some_and(|needs| !needs.is_empty()),
            ),
            ("when", draft.has_when),
            ("compensate", draft.compensate.is_some()),
        ];
        for (key, _) in keys.iter().filter(|(_, present)| *present) {
            let message = format!("a compensation step runs only to undo; it cannot have `{key}`");
            problems.push(Problem::new(
                format!("{}.{key}", draft.path),
                draft.mark,
                message,
            ));
        }
    }
    undoes
}

/// For each step, which steps it needs.
fn needs(
    drafts: &[Draft],
    names: &Names,
    undoes: &[Option<usize>],
    problems: &mut Problems,
) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new(); drafts.len()];
    let normal = |at: &usize| undoes[*at].is_none();
    if drafts.iter().all(|draft| draft.needs.is_none()) {
        let chain: Vec<usize> = (0..drafts.len()).filter(normal).collect();
        for pair in chain.windows(2) {
            all[pair[1]].push(pair[0]);
        }
        return all;
    }
    for (at, draft) in drafts.iter().enumerate().filter(|(at, _)| normal(at)) {
        for mention in draft.needs.iter().flatten() {
            let wrong = |message: &str| Problem::new(&mention.path, mention.mark, message);
            match names.get(&mention.name) {
                None => problems.push(unknown_step(mention, names.keys().map(String::as_str))),
                Some(need) if *need == at => problems.push(wrong("a step cannot need itself")),
                Some(need) if !normal(need) => problems.push(wrong(&format!(
                    "\"{}\" is a compensation step; nothing can wait for it",
                    mention.name
                ))),
                Some(need) if all[at].contains(need) => {
                    problems.push(wrong(&format!("\"{}\" is listed twice", mention.name)));
                }
                Some(need) => all[at].push(*need),
            }
        }
    }
    all
}

fn report_cycle(drafts: &[Draft], around: &[usize], problems: &mut Problems) {
    let name = |at: &usize| {
        drafts[*at]
            .id
            .as_ref()
            .map_or_else(|| drafts[*at].path.clone(), ToString::to_string)
    };
    let mut way: Vec<String> = around.iter().map(name).collect();
    way.extend(way.first().cloned());
    let first = &drafts[around[0]];
    let message = format!("the steps wait for each other: {}", way.join(" → "));
    problems.push(Problem::new(
        format!("{}.needs", first.path),
        first.mark,
        message,
    ));
}

struct World<'a> {
    drafts: &'a [Draft],
    names: Names,
    undoes: &'a [Option<usize>],
    ancestors: Ancestors,
}

impl World<'_> {
    fn check_references(&self, sites: &Sites, problems: &mut Problems) {
        for site in &sites.0 {
            for reference in &site.references {
                if let Some(problem) = self.wrong(site, reference) {
                    problems.push(problem);
                }
            }
        }
    }

    fn wrong(&self, site: &Site, reference: &Reference) -> Option<Problem> {
        let problem = |message: String| Some(Problem::new(&site.path, site.mark, message));
        match &reference.root {
            Root::Secret(_) if matches!(site.owner, Owner::Shown(_)) => problem(format!(
                "`${{{reference}}}`: a task's input is stored and given to whoever fetches it, so \
                 it takes no secrets"
            )),
            Root::Secret(_) if !matches!(site.owner, Owner::Config(_)) => problem(format!(
                "`${{{reference}}}`: secrets can only be used in the config of a step"
            )),
            Root::CallbackUrl | Root::CallbackToken | Root::Attempt
                if !matches!(site.owner, Owner::Config(_)) =>
            {
                problem(format!(
                    "`${{{reference}}}` is known only when a step's target is called, so it can only \
                     be used in the config of a step that calls one"
                ))
            }
            Root::Error(_) | Root::Letter(_) => problem(format!(
                "`${{{reference}}}` is known only where the inputs of dead letters are changed \
                 together"
            )),
            Root::CallbackUrl | Root::CallbackToken if !self.calls_back(site.owner) => {
                problem(format!(
                    "`${{{reference}}}`: the step has no `callback`; add `callback: {{}}` beside its \
                     `config`"
                ))
            }
            Root::Step(name) => {
                let mention = Mention {
                    name: name.to_string(),
                    path: site.path.clone(),
                    mark: site.mark,
                };
                let Some(target) = self.names.get(&mention.name) else {
                    let visible = self
                        .names
                        .iter()
                        .filter(|(_, at)| self.visible(site.owner, **at));
                    return Some(unknown_step(
                        &mention,
                        visible.map(|(name, _)| name.as_str()),
                    ));
                };
                if self.visible(site.owner, *target) {
                    return None;
                }
                problem(self.why_not(site.owner, *target, name))
            }
            _ => None,
        }
    }

    /// Whether the owner is a step whose target calls back.
    fn calls_back(&self, owner: Owner) -> bool {
        matches!(owner, Owner::Config(at) if self.drafts[at].callback.is_some())
    }

    /// Whether the output of `target` is certainly there for the owner.
    fn visible(&self, owner: Owner, target: usize) -> bool {
        match owner {
            Owner::Limit => false,
            Owner::Output => self.undoes[target].is_none(),
            Owner::Config(at) | Owner::Shown(at) | Owner::When(at) => match self.undoes[at] {
                Some(undone) => undone == target || self.ancestors.is_before(target, undone),
                None => self.ancestors.is_before(target, at),
            },
        }
    }

    fn why_not(&self, owner: Owner, target: usize, name: &str) -> String {
        match owner {
            Owner::Limit => {
                "the key of a limit is needed before any step runs, so it cannot refer to a step"
                    .to_owned()
            }
            Owner::Config(at) | Owner::Shown(at) | Owner::When(at) if at == target => {
                "a step cannot refer to its own output".to_owned()
            }
            _ if self.undoes[target].is_some() => {
                format!("\"{name}\" is a compensation step; its output cannot be referred to")
            }
            _ => {
                format!("\"{name}\" is not certain to be done before this step; add it to `needs`")
            }
        }
    }

    /// Two steps that may run at the same time cannot set the same context key.
    fn check_mappings(&self, problems: &mut Problems) {
        let mut setters: HashMap<&str, Vec<(usize, &Mention)>> = HashMap::new();
        for (at, draft) in self
            .drafts
            .iter()
            .enumerate()
            .filter(|(at, _)| self.undoes[*at].is_none())
        {
            for (mention, _) in &draft.output_mapping {
                let earlier = setters.entry(&mention.name).or_default();
                let parallel = earlier.iter().find(|(other, _)| {
                    !self.ancestors.is_before(*other, at) && !self.ancestors.is_before(at, *other)
                });
                if let Some((_, other)) = parallel {
                    let message = format!(
                        "the context key \"{}\" is also set in {} (line {}), which may run at the same time",
                        mention.name, other.path, other.mark.line
                    );
                    problems.push(Problem::new(&mention.path, mention.mark, message));
                }
                earlier.push((at, mention));
            }
        }
    }
}
