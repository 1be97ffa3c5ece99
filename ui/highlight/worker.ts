// Replaced by the highlighter.
export {}
