// The forms of keys and access tokens of well-known services, for `mask-secrets.ts`. Repetitions are bounded, because a match of many
// megabytes would overflow the stack of the regular expression.

/** Not inside a longer word. The `n` of an escaped line break does not belong to the word. */
const START = String.raw`(?:(?<![\w-])|(?<=\\[nrt]))`

/** Their first characters are rare, so that they need no check of what is before them. */
const UNIQUE_SHAPES = [
  // AWS, GitHub, GitLab, Slack, Google, age
  String.raw`(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])`,
  String.raw`gh[pousr]_[A-Za-z0-9]{20,4096}`,
  String.raw`github_pat_\w{20,4096}`,
  String.raw`glpat-[\w-]{16,4096}`,
  String.raw`xox[a-z]-[\w-]{10,4096}`,
  String.raw`AIza[\w-]{30,4096}`,
  String.raw`AGE-SECRET-KEY-1[A-Z0-9]{20,4096}`,
]
const OTHER_SHAPES = [
  // OpenAI and Anthropic, xAI, Hugging Face and Groq, Slack, Google
  String.raw`sk-[\w-]{20,4096}`,
  String.raw`xai-[A-Za-z0-9]{30,4096}`,
  String.raw`(?:hf|gsk)_[A-Za-z0-9]{30,4096}`,
  String.raw`xapp-\d-[\w-]{10,4096}`,
  String.raw`ya29\.[\w-]{20,4096}`,
  // npm, PyPI, Stripe, DigitalOcean, SendGrid, JSON Web Tokens
  String.raw`npm_[A-Za-z0-9]{30,4096}`,
  String.raw`pypi-[\w-]{40,4096}`,
  String.raw`(?:[rs]k_(?:live|test)|whsec)_\w{10,4096}`,
  String.raw`do[opr]_v1_[a-f0-9]{40,4096}`,
  String.raw`SG\.[\w-]{22}\.[\w-]{30,64}`,
  String.raw`eyJ[\w-]{8,4096}\.[\w-]{4,65536}\.[\w-]{8,4096}`,
]
export const KEY_SHAPES = new RegExp(
  `${UNIQUE_SHAPES.join('|')}|${START}(?:${OTHER_SHAPES.join('|')})`,
  'g',
)
/** Matches the rest of a longer key. */
export const KEY_REST = /[\w-]{1,4096}/y
