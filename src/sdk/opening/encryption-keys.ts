// Where the keys come from: the caller, or the environment. They are never written anywhere, and no message shows them.
import { parseKey, readEnvironmentKey } from '../../engine/index.js'
import { type GivenKeys, SealingKey } from '../../ledger/index.js'
import type { Known } from './validate-options.js'

/** 32 bytes, or the same as 64 hexadecimal digits or as base64. */
export type KeyInput = string | Uint8Array

export type Encryption = {
  /** The key that encrypts states. The first write with a key makes the store an encrypted one. */
  readonly key?: KeyInput
  /** The key to change to with `store.rekey`. Either of both opens what it has encrypted. */
  readonly newKey?: KeyInput
}

export const ENCRYPTION_OPTIONS: Known<Encryption> = { key: true, newKey: true }

type Environment = Readonly<Record<string, string | undefined>>

/** Throws KEY_UNUSABLE. */
export function givenKeys(
  encryption: Encryption | undefined,
  { home, environment }: { readonly home: string; readonly environment: Environment },
): GivenKeys {
  if (encryption !== undefined) {
    const { key, newKey } = encryption
    return { key: parsed(key, 'encryption.key'), newKey: parsed(newKey, 'encryption.newKey') }
  }
  const from = (name: string) => {
    const key = readEnvironmentKey(name, { home, environment })
    return key === undefined ? undefined : new SealingKey(key)
  }
  return { key: from('SAVESTATE_KEY'), newKey: from('SAVESTATE_NEW_KEY') }
}

function parsed(input: KeyInput | undefined, what: string): SealingKey | undefined {
  return input === undefined ? undefined : new SealingKey(parseKey(input, what))
}
