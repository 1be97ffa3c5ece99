// The default limits and excludes.

export type Limits = {
  /** Larger files are recorded, not captured. */
  readonly maxFileBytes: number
  /** A project with more files to capture is refused. */
  readonly maxFiles: number
  /** Lines of an ignore file, relative to the project. Files that they match are captured even if they are secrets. */
  readonly allowSecrets: readonly string[]
}

export type CaptureLimits = Limits & {
  /** The text of the project's `.savestateignore`, if the user trusts it. Only then do its `!` lines re-include secrets. */
  readonly trustedIgnore?: string
}

/** The limits of a store that sets none. */
export const DEFAULT_LIMITS: Limits = {
  maxFileBytes: 10 * 1024 * 1024,
  maxFiles: 200_000,
  allowSecrets: [],
}

/** `fsync` survives a power failure; `process` survives a killed process. */
export type Durability = 'fsync' | 'process'

/** Folders that are not captured: rarely source, often huge. An ignore file can include any of them with `!`. */
export const DEFAULT_EXCLUDES: readonly string[] = [
  'node_modules/',
  'dist/',
  'build/',
  'target/',
  'out/',
  '.next/',
  '.nuxt/',
  '__pycache__/',
  '*.pyc',
  '*.pyo',
  '.cache/',
  '.pytest_cache/',
  '.mypy_cache/',
  '.ruff_cache/',
  'coverage/',
  '.coverage',
  '.venv/',
  'venv/',
  'env/',
  '.git/',
  '.hg/',
  '.svn/',
  '.worktrees/',
  '*.so',
  '*.dylib',
  '*.dll',
  '*.o',
  '*.a',
  '*.jar',
  '*.class',
  '*.exe',
  '*.obj',
  '*.mp4',
  '*.mov',
  '*.mkv',
  '*.webm',
  '*.zip',
  '*.tar',
  '*.tar.gz',
  '*.tgz',
  '*.7z',
  '*.rar',
  '*.iso',
  '.env/',
  '.env.*/',
  '.DS_Store',
  'Thumbs.db',
  '*.log',
]
