// Where everything is in the memory of the module: it has no heap and no runtime, only these places.

/** What may be handed over at once. */
export const MOST_BYTES: i32 = 256 << 10

/** For each run of literals and the match behind it: how many, then distance and length. */
export const SEQUENCES: usize = 0x1000
export const MOST_SEQUENCES: i32 = 16384

/** The two latest places of what hashes alike. */
export const LATEST: usize = 0x21000
export const LATEST_BYTES: usize = 0x20000

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

/** What is to be compressed, and what became of it: no longer than that and a few bytes for each block. */
export const INPUT: usize = 0x50000
export const OUTPUT: usize = INPUT + MOST_BYTES + 64
