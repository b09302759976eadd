//! Points in time as the store writes them: RFC 3339, UTC, milliseconds.

use std::{fmt, str::FromStr, time::Duration};

use chrono::{DateTime, Datelike, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};

/// A moment in UTC, to the millisecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Timestamp(DateTime<Utc>);

impl Timestamp {
    /// The years that are taken. The upper end leaves room in RFC 3339, which ends with the year 9999, for moments
    /// that have to follow one which somebody wrote by hand.
    const YEARS: std::ops::Range<i32> = 1970..9000;

    /// The moment this many milliseconds after 1970-01-01T00:00:00Z; the nearest one taken if that is out of range.
    pub fn from_millis(millis: i64) -> Self {
        let last = DateTime::from_timestamp_millis(221_845_392_000_000 - 1).unwrap_or_default();
        match DateTime::from_timestamp_millis(millis.max(0)) {
            Some(moment) if moment <= last => Self(moment),
            _ => Self(last),
        }
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub fn millis(self) -> i64 {
        self.0.timestamp_millis()
    }

    /// This moment, or the first one after `last` if the clock stood still or was set back: a sequence stamped so
    /// strictly increases, and "everything after X" can neither skip nor repeat an entry.
    #[must_use]
    pub fn following(self, last: Option<Self>) -> Self {
        match last {
            Some(last) if self <= last => Self(last.0 + Duration::from_millis(1)),
            _ => self,
        }
    }

    /// The time from `earlier` to this moment; zero if it is the other way round.
    pub fn since(self, earlier: Self) -> Duration {
        (self.0 - earlier.0).to_std().unwrap_or_default()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_rfc3339_opts(SecondsFormat::Millis, true))
    }
}

impl FromStr for Timestamp {
    type Err = ParseTimestampError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refused = || ParseTimestampError(text.chars().take(80).collect());
        let moment = DateTime::parse_from_rfc3339(text)
            .map_err(|_| refused())?
            .to_utc();
        // A leap second is a nanosecond count over a second; by milliseconds it would not survive a round trip.
        let whole =
            DateTime::from_timestamp_millis(moment.timestamp_millis()).ok_or_else(refused)?;
        if Self::YEARS.contains(&whole.year()) {
            Ok(Self(whole))
        } else {
            Err(refused())
        }
    }
}

impl TryFrom<String> for Timestamp {
    type Error = ParseTimestampError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Timestamp> for String {
    fn from(timestamp: Timestamp) -> Self {
        timestamp.to_string()
    }
}

impl schemars::JsonSchema for Timestamp {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string" })
    }
}

/// The text is no moment in RFC 3339.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a time: expected RFC 3339 like 2026-11-30T09:00:00.000Z, as results give it")]
pub struct ParseTimestampError(String);

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn other_offsets_and_precisions_read_as_utc_milliseconds() {
        assert_eq!(
            at("2026-11-30T10:00:00+01:00").to_string(),
            "2026-11-30T09:00:00.000Z"
        );
        assert_eq!(
            at("2026-11-30T09:00:00.123987Z").to_string(),
            "2026-11-30T09:00:00.123Z"
        );
        assert_eq!(
            at("2016-12-31T23:59:60Z"),
            at(&at("2016-12-31T23:59:60Z").to_string())
        );
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for text in [
            "",
            "yesterday",
            "2026-11-30",
            "2026-11-30T09:00:00",
            "9999-01-01T00:00:00Z",
            "1969-12-31T23:59:59Z",
        ] {
            assert!(
                text.parse::<Timestamp>().is_err(),
                "{text:?} was taken for a time"
            );
        }
    }

    #[test]
    fn a_sequence_increases_though_the_clock_does_not() {
        let last = at("2026-11-30T09:00:00.500Z");
        assert_eq!(last.following(Some(last)), at("2026-11-30T09:00:00.501Z"));
        assert_eq!(
            at("2026-11-30T08:00:00Z").following(Some(last)),
            at("2026-11-30T09:00:00.501Z")
        );
        assert_eq!(
            at("2026-11-30T10:00:00Z").following(Some(last)),
            at("2026-11-30T10:00:00Z")
        );
        assert_eq!(last.following(None), last);
    }

    #[test]
    fn a_clock_out_of_range_still_gives_a_time_that_can_be_read_back() {
        for millis in [i64::MIN, -1, 0, i64::MAX] {
            let moment = Timestamp::from_millis(millis);
            assert_eq!(at(&moment.to_string()), moment);
        }
        assert_eq!(
            Timestamp::from_millis(i64::MAX).to_string(),
            "8999-12-31T23:59:59.999Z"
        );
    }
}
