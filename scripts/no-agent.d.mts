export const NO_AGENT: Readonly<Record<string, string>>
