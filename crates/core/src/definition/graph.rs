//! The graph of steps: cycles, and who comes before whom.
//!
//! Works on indices alone, without recursion.

/// Some cycle, as the steps along it from any one of them; `None` if there is none.
pub(super) fn cycle(needs: &[Vec<usize>]) -> Option<Vec<usize>> {
    let sorted = order(needs);
    if sorted.len() == needs.len() {
        return None;
    }
    let mut rest = vec![true; needs.len()];
    sorted.iter().for_each(|at| rest[*at] = false);
    // Every step that is left needs another one that is left, so walking must come round.
    let mut way = vec![rest.iter().position(|left| *left)?];
    loop {
        let next = *needs[*way.last()?].iter().find(|at| rest[**at])?;
        if let Some(start) = way.iter().position(|at| *at == next) {
            // `needs` points backwards; the cycle is told in the order in which steps would run.
            let mut around = way.split_off(start);
            around.reverse();
            let smallest = around.iter().enumerate().min_by_key(|(_, at)| **at)?.0;
            around.rotate_left(smallest);
            return Some(around);
        }
        way.push(next);
    }
}

/// The steps so that each comes after what it needs; those in or behind a cycle are left out.
fn order(needs: &[Vec<usize>]) -> Vec<usize> {
    let mut dependants = vec![Vec::new(); needs.len()];
    let mut open: Vec<usize> = needs.iter().map(Vec::len).collect();
    for (at, before) in needs.iter().enumerate() {
        before
            .iter()
            .for_each(|before| dependants[*before].push(at));
    }
    let mut ready: Vec<usize> = (0..needs.len()).filter(|at| open[*at] == 0).collect();
    let mut sorted = Vec::with_capacity(needs.len());
    while let Some(at) = ready.pop() {
        sorted.push(at);
        for dependant in &dependants[at] {
            open[*dependant] -= 1;
            if open[*dependant] == 0 {
                ready.push(*dependant);
            }
        }
    }
    sorted
}

/// For each step, which steps come before it. The graph must have no cycle.
pub(super) struct Ancestors(Vec<Vec<bool>>);

impl Ancestors {
    pub(super) fn of(needs: &[Vec<usize>]) -> Self {
        let mut before = vec![vec![false; needs.len()]; needs.len()];
        for at in order(needs) {
            let mut row = vec![false; needs.len()];
            for need in &needs[at] {
                row[*need] = true;
                for (mine, theirs) in row.iter_mut().zip(&before[*need]) {
                    *mine |= theirs;
                }
            }
            before[at] = row;
        }
        Self(before)
    }

    /// Whether `ancestor` must be done before `of`.
    pub(super) fn is_before(&self, ancestor: usize, of: usize) -> bool {
        self.0[of][ancestor]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_found_and_told_in_the_order_of_running() {
        assert_eq!(cycle(&[]), None);
        assert_eq!(cycle(&[vec![], vec![0], vec![0, 1]]), None);
        assert_eq!(cycle(&[vec![1], vec![0]]), Some(vec![0, 1]));
        // 0 runs before 1 before 2 before 0; 3 hangs behind, 4 is free.
        let needs = [vec![2], vec![0], vec![1], vec![2], vec![]];
        assert_eq!(cycle(&needs), Some(vec![0, 1, 2]));
    }

    #[test]
    fn ancestors_reach_through() {
        let ancestors = Ancestors::of(&[vec![], vec![0], vec![1], vec![]]);
        assert!(ancestors.is_before(0, 2) && ancestors.is_before(1, 2));
        assert!(!ancestors.is_before(2, 0) && !ancestors.is_before(3, 2));
    }
}
