//! Templates that print the time, and the time zone in which a rendering shows that they do.

use krm_package::Package;

/// How far [`far_zone`] is ahead of UTC, in seconds: 401 days, 13 hours and 31 minutes. Year, month, day, weekday and minute are then
/// others than in every time zone of the world.
const FAR: i32 = ((401 * 24 + 13) * 60 + 31) * 60;

/// A time zone in the form of RFC 9636 (TZif, version 1), with one offset for all times. Its name is that of the zone of most
/// servers, so that only the times that a chart prints differ.
pub fn far_zone() -> Vec<u8> {
    let name = b"UTC\0";
    let mut bytes = b"TZif".to_vec();
    bytes.extend([0; 16]);
    // No indicators, leap seconds and transitions; one type, and the length of its name.
    for count in [0_u32, 0, 0, 0, 1, 4] {
        bytes.extend(count.to_be_bytes());
    }
    bytes.extend(FAR.to_be_bytes());
    // Not daylight saving time; the name begins at 0.
    bytes.extend([0, 0]);
    bytes.extend(name);
    bytes
}

/// Whether a file has a template that asks for the time.
pub fn reads_clock(source: &Package, path: &str) -> bool {
    let Ok(bytes) = source.read(path) else {
        return false;
    };
    let text = String::from_utf8_lossy(&bytes);
    let actions = text.split("{{").skip(1);
    let actions = actions.filter_map(|rest| rest.split("}}").next());
    let mut actions =
        actions.filter(|action| !action.trim_start_matches(['-', ' ']).starts_with("/*"));
    actions.any(|action| {
        let is_word = |c: char| c.is_alphanumeric() || "_.$".contains(c);
        action.split(|c| !is_word(c)).any(|word| word == "now")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Year, month and day of a number of days since 1970 (Howard Hinnant, `civil_from_days`).
    fn date(days: i64) -> [i64; 3] {
        let days = days + 719_468;
        let era = days.div_euclid(146_097);
        let day = days.rem_euclid(146_097);
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let of_month = day - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        [year + era * 400 + i64::from(month <= 2), month, of_month]
    }

    #[test]
    fn every_part_of_a_date_differs_in_the_far_zone() {
        assert_eq!(date(20_785), [2026, 11, 28]);
        let parts = |seconds: i64| {
            let days = seconds.div_euclid(86_400);
            let [year, month, day] = date(days);
            [year, month, day, days % 7, seconds / 60 % 60]
        };
        // Every hour and some minutes of 30 years, in the zones of the world.
        for hour in (0..30 * 365 * 24).step_by(7) {
            let now = 1_760_000_000 + hour * 3_600 + hour % 60 * 60;
            let far = parts(now + i64::from(FAR));
            for zone in [-12 * 60, -210, 0, 330, 345, 14 * 60] {
                let here = parts(now + zone * 60);
                let same = here.iter().zip(&far).filter(|(here, far)| here == far);
                assert_eq!(same.count(), 0, "{here:?} {far:?}");
            }
        }
    }

    #[test]
    fn a_template_that_asks_for_the_time_is_recognized() {
        for (text, asks) in [
            ("a: {{ now | unixEpoch }}", true),
            ("a: {{- date \"2006\" (now) -}}", true),
            ("{{/* the time is now */}} now", false),
            ("a: {{ .Values.now }}", false),
            ("now: {{ .x }}", false),
        ] {
            let file = krm_package::PackageFile::of_text("a.yaml", text.to_owned());
            let package = Package::of_one("a.yaml", file);
            assert_eq!(reads_clock(&package, "a.yaml"), asks, "{text}");
        }
    }
}
