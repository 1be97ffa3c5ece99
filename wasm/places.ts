// Where everything is in the memory of the module: it has no heap and no runtime, only these places.

/** What may be handed over at once. */
export const MOST_BYTES: i32 = 256 << 10

/** For each run of literals and the match behind it: how many, then distance and length. */
export const SEQUENCES: usize = 0x1000
export const MOST_SEQUENCES: i32 = 16384

/** The latest place of what hashes alike. */
export const LATEST: usize = 0x21000
export const LATEST_BYTES: usize = 0x10000

/** How often each symbol comes: literals, the end, lengths; then distances. */
export const LITERAL_COUNTS: usize = 0x41000
export const DISTANCE_COUNTS: usize = 0x41500

/** How many bits each symbol takes. */
export const LITERAL_WIDTHS: usize = 0x41600
export const DISTANCE_WIDTHS: usize = 0x41800

/** The bits of each symbol as they are sent, and above them their number. */
export const LITERAL_CODES: usize = 0x42000
export const DISTANCE_CODES: usize = 0x42600
/** Of each length, with its extra bits. */
export const LENGTH_CODES: usize = 0x42800

/** The symbol of each length, less 257; of each symbol the shortest length, and its extra bits. */
export const SYMBOL_OF_LENGTH: usize = 0x42e00
export const SHORTEST: usize = 0x43100
export const EXTRA: usize = 0x43180

/** Each byte with its bits in the opposite order. */
export const REVERSED: usize = 0x43000

/** For the making of one code. */
export const SORTED: usize = 0x43200
export const INNER: usize = 0x43800
export const PARENT: usize = 0x43e00
export const PLACES: usize = 0x44c00
export const COUNT_OF_WIDTH: usize = 0x44400
export const NEXT_CODE: usize = 0x44480

/** The code in which the widths of the others are sent, and what is sent in it. */
export const WIDTH_COUNTS: usize = 0x44500
export const WIDTH_WIDTHS: usize = 0x44580
export const WIDTH_CODES: usize = 0x445c0
export const WIDTH_RUNS: usize = 0x44700
export const BOTH_WIDTHS: usize = 0x44a00

/** What each symbol stands for when a stream is read, and in which order the widths of widths are told. */
export const LITERAL_MEANINGS: usize = 0x45000
export const DISTANCE_MEANINGS: usize = 0x45480
export const TOLD_SYMBOLS: usize = 0x45500

/** In which the bits of a stream are looked up: no code that is complete needs more than 2342 or 402 entries. */
export const WIDTH_TABLE: usize = 0x45600
export const KNOWN_LITERAL_TABLE: usize = 0x45800
export const KNOWN_DISTANCE_TABLE: usize = 0x46000
export const DISTANCE_TABLE: usize = 0x46100
export const LITERAL_TABLE: usize = 0x46800

/** Symbols by their width, and where the next one of each width goes. */
export const LITERAL_LISTS: usize = 0x49000
export const DISTANCE_LISTS: usize = 0x4d800
export const NEXT_LITERAL: usize = 0x4e000
export const NEXT_DISTANCE: usize = 0x4e040

/** So much may be read and written over the ends of what comes below. */
export const SLACK: i32 = 1024

/** What is handed over: a content, or a stream, which may be a little longer. */
export const INPUT: usize = 0x50000
export const INPUT_BYTES: i32 = MOST_BYTES + (MOST_BYTES >> 8) + 256

/** What a content became: no longer than that and a few bytes for each block. */
export const OUTPUT: usize = INPUT + INPUT_BYTES + SLACK

/** What a stream held, with room before it for the head that it is hashed with. */
export const HEADER_ROOM: i32 = 64
export const EXPANDED: usize = OUTPUT + MOST_BYTES + SLACK + HEADER_ROOM
