//! Reads the sections of `rules.txt`.

/// The lines of a section, each by its columns.
pub(super) fn section<const N: usize>(title: &str) -> Vec<[&'static str; N]> {
    let lines = include_str!("rules.txt").lines();
    let from = lines.skip_while(|line| line.strip_prefix("## ") != Some(title));
    let own = from.skip(1).take_while(|line| !line.starts_with("## "));
    let own = own.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut columns = [""; N];
    let rows = own.map(|line| {
        for (column, text) in columns.iter_mut().zip(line.split('|').map(str::trim)) {
            match text {
                // The value of the line above.
                "" => {}
                "-" => *column = "",
                text => *column = text,
            }
        }
        columns
    });
    rows.collect()
}

/// The words of a column, which are separated by commas.
pub(super) fn words(column: &'static str) -> Vec<&'static str> {
    column.split(", ").filter(|word| !word.is_empty()).collect()
}
