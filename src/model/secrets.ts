// Names that say of a file that it is a secret, as lines of an ignore file. Data, so that people can read it
// and a test can hold the documents to it (docs/decisions/0016-secrets.md).

/**
 * Compared without case, for files only. The last line that matches decides; `!` takes back. Every name of a project is
 * held against them, so each begins with a letter or is `*` and an ending: those are found without trying all.
 */
export const SECRET_NAMES: readonly string[] = [
  '.env*',
  // What is handed on to be filled in.
  '!.env*[._-]example*',
  '!.env*[._-]sample*',
  '!.env*[._-]template*',
  '!.env*[._-]tmpl',
  '!.env*[._-]tpl',
  '!.env*[._-]dist',
  '!.env*[._-]default*',
  '!.env*[._-]schema',
  // Private keys of SSH. With a dot in it, a name that begins with `id_` is more likely source.
  'id_*',
  '!id_*.*',
  // `credentials.ts` is source; these are formats of data.
  'credentials',
  'credentials[_-]*',
  '!credentials[_-]*.*',
  'credentials*.json',
  'credentials*.yml',
  'credentials*.yaml',
  'credentials*.toml',
  'credentials*.ini',
  'credentials*.conf',
  'credentials*.cfg',
  'credentials*.properties',
  'credentials*.xml',
  'credentials*.csv',
  'credentials*.txt',
  '.credentials',
  '.credentials.json',
  'aws_credentials',
  'aws_credentials.csv',
  'application_default_credentials.json',
  '!credentials*[._-]example*',
  '!credentials*[._-]sample*',
  '!credentials*[._-]template*',
  '!credentials*[._-]schema*',
  // Where programs keep passwords and tokens.
  '.npmrc',
  '.netrc',
  '_netrc',
  '.pypirc',
  '.git-credentials',
  '.htpasswd',
  '.pgpass',
  '.my.cnf',
  '.mylogin.cnf',
  '.authinfo',
  '.s3cfg',
  '.boto',
  '.dockercfg',
  '.vault-token',
  '.terraformrc',
  'terraform.rc',
  'master.key',
  // Keystores.
  '*.p12',
  '*.pfx',
  '*.pkcs12',
  '*.jks',
  '*.jceks',
  '*.bks',
  '*.keystore',
  '*.kdb',
  '*.kdbx',
  '*.ppk',
  'secring.*',
]

/**
 * Names that suggest a secret and are as often something public: the content decides, and what is not
 * plainly public is taken for a secret.
 */
export const DOUBTFUL_NAME = /\.pem$/i
