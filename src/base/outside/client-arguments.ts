// Clients whose effect depends on their arguments: HTTP, SQL, and copies to other hosts.
import type { OutsideKind } from './outside-command.js'

/** Undefined for a program that is none of them, and for a command that only reads. */
export function clientChanges(program: string, args: readonly string[]): OutsideKind | undefined {
  const [kind, changes] = CLIENTS[program] ?? []
  return changes?.(args) === true ? kind : undefined
}

type Test = (args: readonly string[]) => boolean

const CLIENTS: Readonly<Record<string, readonly [OutsideKind, Test] | undefined>> = {
  curl: ['http', changesWithCurl],
  wget: ['http', changesWithWget],
  http: ['http', changesWithHttpie],
  https: ['http', changesWithHttpie],
  xh: ['http', changesWithHttpie],
  gh: ['http', changesWithGhApi],
  psql: ['database', (args) => !areReads(args, /^(?:-l|--list)$/)],
  mysql: ['database', (args) => !areReads(args)],
  mariadb: ['database', (args) => !areReads(args)],
  'clickhouse-client': ['database', (args) => !areReads(args)],
  sqlcmd: ['database', (args) => !areReads(args)],
  mongosh: ['database', changesWithMongo],
  mongo: ['database', changesWithMongo],
  'redis-cli': ['database', changesWithRedis],
  ssh: ['remote', (args) => argumentsOf(args, SSH_VALUED).length > 1],
  scp: ['remote', isCopyToHost],
  rsync: ['remote', isCopyToHost],
}

const SSH_VALUED = /^-[bcDEeFIiJLlmOopQRSWw]$/
const WRITES = /^(?:POST|PUT|PATCH|DELETE)$/i

function argumentsOf(args: readonly string[], valued: RegExp): readonly string[] {
  return args.filter((word, at) => !word.startsWith('-') && !valued.test(args[at - 1] ?? ''))
}

/** The values of an option: `-X POST`, `-XPOST`, `--request=POST`. */
function valuesOf(args: readonly string[], options: readonly string[]): readonly string[] {
  return args.flatMap((word, at) => {
    const option = options.find((one) => word === one || word.startsWith(one))
    if (option === undefined) return []
    if (word === option) return [args[at + 1] ?? '']
    if (word.startsWith(`${option}=`)) return [word.slice(option.length + 1)]
    return option.startsWith('--') ? [] : [word.slice(option.length)]
  })
}

function changesWithCurl(args: readonly string[]): boolean {
  // `-sXPOST`, `-fsSLd data`: short options may be joined.
  const joined = args.flatMap((word) => word.match(/^-[a-zA-Z]*?X([A-Z]+)$/)?.[1] ?? [])
  const methods = [...valuesOf(args, ['--request']), ...joined]
  args.forEach((word, at) => {
    if (/^-[a-zA-Z]*X$/.test(word)) methods.push(args[at + 1] ?? '')
  })
  if (methods.length > 0) return methods.some((method) => WRITES.test(method))
  if (args.some((word) => /^(?:-[fsSLkivg]*G|--get)$/.test(word))) return false
  return args.some((word) =>
    /^(?:--(?:data\S*|json|form\S*|upload-file|url-query-data)(?:=.*)?|-[fsSLkivgN]*[dFT].*)$/.test(
      word,
    ),
  )
}

function changesWithWget(args: readonly string[]): boolean {
  const methods = valuesOf(args, ['--method'])
  if (methods.length > 0) return methods.some((method) => WRITES.test(method))
  return args.some((word) => /^--(?:post|body)-(?:data|file)\b/.test(word))
}

/** `http POST url`, or items of a body: `name=value`, `name:=value`, `file@path`. */
function changesWithHttpie(args: readonly string[]): boolean {
  const [first = '', ...items] = args.filter((word) => !word.startsWith('-'))
  if (WRITES.test(first)) return true
  if (/^[A-Z]+$/.test(first)) return false
  return items.some((item) => /^[\w[\]-]+(?::?=(?!=)|@)/.test(item))
}

function changesWithGhApi(args: readonly string[]): boolean {
  if (args[0] !== 'api') return false
  const methods = valuesOf(args, ['-X', '--method'])
  if (methods.length > 0) return methods.some((method) => WRITES.test(method))
  if (args.includes('graphql')) return args.some((word) => /\bmutation\b/.test(word))
  return args.some((word) => /^(?:-[fF]|--(?:raw-)?field|--input)/.test(word))
}

const SQL = ['-c', '-e', '-Q', '-q', '--command', '--execute', '--query']
const READ_SQL =
  /^\s*(?:select|show|explain(?!\s+analyze)|describe|desc|values|table|with|use|\\[a-zA-Z?+]+)\b/i
const WRITE_SQL =
  /\b(?:insert|update|delete|merge|drop|alter|create|truncate|grant|revoke|into|call|copy|lock|nextval|setval|vacuum)\b|^\s*\\(?:i|ir|copy|gexec|o|!)/i
const TEXT = /'(?:''|[^'])*'|--[^\n]*/g

/** Only if each statement is given as an option and only reads. */
function areReads(args: readonly string[], listing?: RegExp): boolean {
  if (listing !== undefined && args.some((word) => listing.test(word))) return true
  if (args.some((word) => /^(?:-f|-i|--file)(?:=|$)/.test(word))) return false
  const statements = valuesOf(args, SQL).flatMap((text) => text.replaceAll(TEXT, ' ').split(';'))
  const given = statements.filter((text) => text.trim() !== '')
  return given.length > 0 && given.every((text) => READ_SQL.test(text) && !WRITE_SQL.test(text))
}

const MONGO_READS =
  /\.(?:find|findOne|count\w*|estimatedDocumentCount|distinct|stats|getIndexes|getCollectionNames|explain)\(|^show /
const MONGO_WRITES =
  /\.(?:insert|update|delete|replace|remove|drop|create|rename|bulkWrite|save|runCommand|adminCommand|findOneAnd)\w*\(/

function changesWithMongo(args: readonly string[]): boolean {
  const scripts = valuesOf(args, ['--eval'])
  return !(
    scripts.length > 0 &&
    scripts.every((script) => MONGO_READS.test(script) && !MONGO_WRITES.test(script))
  )
}

const REDIS_READS =
  /^(?:get|mget|getrange|strlen|exists|keys|scan|sscan|hscan|zscan|type|ttl|pttl|info|ping|dbsize|hget|hgetall|hmget|hkeys|hvals|hlen|llen|lrange|lindex|smembers|scard|sismember|zrange|zscore|zcard|xrange|xlen|xinfo|memory|object|time|echo|monitor|slowlog)$/i

function changesWithRedis(args: readonly string[]): boolean {
  const [command] = argumentsOf(args, /^(?:-[hpanus]|--user|--pass)$/)
  return command === undefined || !REDIS_READS.test(command)
}

/** The last argument names a path on another host: `host:path`, `rsync://…`. */
function isCopyToHost(args: readonly string[]): boolean {
  const target = args.filter((word) => !word.startsWith('-')).at(-1) ?? ''
  return /^(?:[\w.-]+@)?[\w.-]{2,}::?(?!\\)|^rsync:\/\/|^scp:\/\//.test(target)
}
