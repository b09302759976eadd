//! What an implementer reports while it works.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, de};

use super::{
    AgentName, FormatVersion, MessageId, Note, OutboxEntry, ThreadError, Timestamp,
    message::in_order, objects::Objects, present::present,
};

/// How much is done: 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct Percent(u8);

impl TryFrom<u64> for Percent {
    type Error = PercentError;

    fn try_from(number: u64) -> Result<Self, PercentError> {
        match u8::try_from(number) {
            Ok(percent @ 0..=100) => Ok(Self(percent)),
            _ => Err(PercentError(number)),
        }
    }
}

impl From<Percent> for u64 {
    fn from(percent: Percent) -> Self {
        percent.0.into()
    }
}

impl schemars::JsonSchema for Percent {
    fn schema_name() -> Cow<'static, str> {
        "Percent".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "integer", "minimum": 0, "maximum": 100 })
    }
}

/// The number is no percentage.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is no percentage: expected 0 to 100")]
pub struct PercentError(u64);

/// What a caller reports. Nothing at all is a heartbeat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How much is done.
    pub percent: Option<Percent>,
    /// What is being worked on.
    pub current_step: Option<Note>,
    /// Anything else.
    pub notes: Option<Note>,
}

/// One report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProgressEntry {
    /// Names the entry.
    pub id: MessageId,
    /// When it was made. Strictly increases within a file.
    pub timestamp: Timestamp,
    /// Who made it.
    pub author: AgentName,
    /// The task version at which the author's claim was made: a percentage holds within one claim.
    pub claim_version: u64,
    /// How much was done.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub percent: Option<Percent>,
    /// What was being worked on.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub current_step: Option<Note>,
    /// Anything else.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub notes: Option<Note>,
}

impl ProgressEntry {
    /// The entry that a report makes.
    pub fn new(
        id: MessageId,
        timestamp: Timestamp,
        author: AgentName,
        claim_version: u64,
        report: Report,
    ) -> Self {
        let Report {
            percent,
            current_step,
            notes,
        } = report;
        Self {
            id,
            timestamp,
            author,
            claim_version,
            percent,
            current_step,
            notes,
        }
    }

    /// This entry after `earlier`: a percentage that it does not give is the one given before in the same claim.
    fn carrying(&self, earlier: Option<&Self>) -> Self {
        let before = earlier.filter(|it| it.claim_version == self.claim_version);
        let percent = self.percent.or_else(|| before.and_then(|it| it.percent));
        Self {
            percent,
            ..self.clone()
        }
    }
}

/// All reports on one task, oldest first, and where they have got to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(into = "Record")]
pub struct ProgressLog {
    latest: Option<ProgressEntry>,
    history: Vec<ProgressEntry>,
}

impl ProgressLog {
    /// The newest report, with the percentage carried forward.
    pub fn latest(&self) -> Option<&ProgressEntry> {
        self.latest.as_ref()
    }

    /// The reports, oldest first.
    pub fn history(&self) -> &[ProgressEntry] {
        &self.history
    }

    /// How much is done in the claim that was made at this task version.
    pub fn percent(&self, claim_version: Option<u64>) -> Option<Percent> {
        let latest = self.latest.as_ref()?;
        latest
            .percent
            .filter(|_| Some(latest.claim_version) == claim_version)
    }

    /// The moment at which a report made now is stamped.
    #[must_use]
    pub fn stamp(&self, now: Timestamp) -> Timestamp {
        now.following(self.history.last().map(|it| it.timestamp))
    }

    /// Adds a report at the end, later by a millisecond than the last one if its own time is not.
    pub fn record(&mut self, mut entry: ProgressEntry) {
        entry.timestamp = self.stamp(entry.timestamp);
        self.latest = Some(entry.carrying(self.latest.as_ref()));
        self.history.push(entry);
    }

    /// Adds those reports of a task's outbox that are not here yet; says whether there were any.
    pub fn receive(&mut self, outbox: &[OutboxEntry]) -> bool {
        let missing: Vec<_> = outbox
            .iter()
            .filter_map(OutboxEntry::progress)
            .filter(|it| !self.contains(it.id))
            .cloned()
            .collect();
        let any = !missing.is_empty();
        for entry in missing {
            self.record(entry);
        }
        any
    }

    /// Whether the report is here.
    pub fn contains(&self, id: MessageId) -> bool {
        self.history.iter().rev().any(|it| it.id == id)
    }
}

/// What a progress file says.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Record {
    #[serde(default)]
    format_version: FormatVersion,
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    latest: Option<ProgressEntry>,
    history: Vec<ProgressEntry>,
}

impl<'de> Deserialize<'de> for ProgressLog {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let record = Record::deserialize(Objects(deserializer))?;
        Self::try_from(record).map_err(de::Error::custom)
    }
}

impl TryFrom<Record> for ProgressLog {
    type Error = ProgressError;

    fn try_from(record: Record) -> Result<Self, ProgressError> {
        in_order(record.history.iter().map(|it| (it.id, it.timestamp)))?;
        let latest = record
            .history
            .iter()
            .fold(None, |latest: Option<ProgressEntry>, entry| {
                Some(entry.carrying(latest.as_ref()))
            });
        if latest != record.latest {
            return Err(ProgressError::Latest);
        }
        Ok(Self {
            latest,
            history: record.history,
        })
    }
}

impl From<ProgressLog> for Record {
    fn from(log: ProgressLog) -> Self {
        Self {
            format_version: FormatVersion,
            latest: log.latest,
            history: log.history,
        }
    }
}

/// A progress file that the server cannot have written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgressError {
    /// The entries are not in order.
    #[error(transparent)]
    Entries(#[from] ThreadError),
    /// `latest` is not what the history leads to.
    #[error(
        "`latest` is not the last entry of `history` (with the percentage carried forward): copy it from there"
    )]
    Latest,
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn entry(number: u32, claim_version: u64, percent: Option<u64>) -> ProgressEntry {
        let report = Report {
            percent: percent.map(|it| Percent::try_from(it).unwrap()),
            ..Report::default()
        };
        let at = format!("2026-11-30T09:00:{number:02}Z").parse().unwrap();
        let author = AgentName::from_words("opencode").unwrap();
        let id = MessageId::from_uuid(Uuid::from_u128(number.into()));
        ProgressEntry::new(id, at, author, claim_version, report)
    }

    fn log(entries: impl IntoIterator<Item = ProgressEntry>) -> ProgressLog {
        let mut log = ProgressLog::default();
        entries.into_iter().for_each(|entry| log.record(entry));
        log
    }

    #[test]
    fn a_heartbeat_keeps_the_percentage_and_a_new_claim_does_not() {
        let percent = |log: &ProgressLog, claim| log.percent(Some(claim)).map(u64::from);
        let beaten = log([entry(1, 2, Some(40)), entry(2, 2, None), entry(3, 2, None)]);
        assert_eq!(percent(&beaten, 2), Some(40));
        assert_eq!(
            percent(&beaten, 5),
            None,
            "before the new claim's first report"
        );
        let claimed_anew = log([entry(1, 2, Some(40)), entry(2, 5, None)]);
        assert_eq!(percent(&claimed_anew, 5), None);
        assert_eq!(beaten.percent(None), None);
    }

    #[test]
    fn a_file_reads_back_as_it_was_written() {
        for log in [log([]), log([entry(1, 2, Some(40)), entry(2, 2, None)])] {
            let json = serde_json::to_string(&log).unwrap();
            assert_eq!(serde_json::from_str::<ProgressLog>(&json).unwrap(), log);
        }
    }

    #[test]
    fn a_latest_that_the_history_does_not_lead_to_is_refused() {
        let mut record = Record::from(log([entry(1, 2, Some(40)), entry(2, 2, None)]));
        record.latest.as_mut().unwrap().percent = Percent::try_from(90).ok();
        assert_eq!(ProgressLog::try_from(record), Err(ProgressError::Latest));
    }

    #[test]
    fn an_outbox_is_received_once() {
        let mut log = log([entry(5, 2, Some(40))]);
        let outbox = [OutboxEntry::Progress(entry(1, 2, None))];
        assert!(log.receive(&outbox));
        assert!(!log.receive(&outbox), "a report was received twice");
        assert_eq!(log.history().len(), 2);
        assert_eq!(log.percent(Some(2)).map(u64::from), Some(40));
    }

    #[test]
    fn percentages_end_at_a_hundred() {
        assert!(Percent::try_from(100).is_ok());
        assert!(Percent::try_from(101).is_err());
        assert!(Percent::try_from(u64::MAX).is_err());
    }
}
