//! The reports of `OXMPI_INFO` at MPI_Init and MPI_Finalize. To add one: a topic in `base::inform`, a line in [`REPORTS`].
use crate::world::World;
use oxmpi_base::inform::{TOPICS, Topic, say, wanted};

/// What a topic prints at MPI_Finalize, while everything still works; None where this rank has nothing to say.
type Report = fn(&World) -> Option<String>;

const REPORTS: &[(Topic, Report)] =
    &[(Topic::Config, |w| (w.rank == 0).then(settings)), (Topic::Shm, |w| Some(w.engine.report()))];

fn settings() -> String {
    let text = crate::config::changed();
    if text.is_empty() { "every control variable is at its default".into() } else { text }
}

pub fn at_init(w: &World) {
    if wanted(Topic::Help) && w.rank == 0 {
        let list: String = TOPICS.iter().map(|(t, about)| format!("{}: {about}\n", t.name())).collect();
        say(Topic::Help, w.rank, &list);
    }
}

pub fn at_finalize(w: &World) {
    for (topic, report) in REPORTS {
        if wanted(*topic)
            && let Some(text) = report(w)
        {
            say(*topic, w.rank, &text);
        }
    }
}
