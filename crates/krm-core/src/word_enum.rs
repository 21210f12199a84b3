//! Enums whose values are words: in configs, in results, on the command line.

/// Defines an enum with a word for each value: all its values in their order, the word of one, and the values by their
/// words.
#[macro_export]
macro_rules! word_enum {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $name:ident { $($(#[$about:meta])* $value:ident = $word:literal,)+ }
    ) => {
        $(#[$meta])*
        $visibility enum $name { $($(#[$about])* $value,)+ }

        #[allow(dead_code, reason = "few of the enums need all")]
        impl $name {
            /// The values in their order.
            $visibility const ALL: [Self; Self::WORDS.len()] = [$(Self::$value),+];

            /// The values by their words.
            $visibility const WORDS: [(&'static str, Self); [$($word),+].len()] = [$(($word, Self::$value)),+];

            $visibility const fn as_str(self) -> &'static str {
                match self { $(Self::$value => $word),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
