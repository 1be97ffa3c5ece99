/**
 * Replaces an encrypted value whose key was not given, or that is damaged. It is a class, so that no value of the caller
 * can be mistaken for it, and the serializer refuses to store it.
 */
export class SealedValue {
  readonly keyId: string
  /** It is not what was written: no key opens it. */
  readonly isDamaged: boolean

  constructor(keyId: string, { isDamaged = false }: { readonly isDamaged?: boolean } = {}) {
    this.keyId = keyId
    this.isDamaged = isDamaged
  }

  toJSON(): { readonly encryptedWith: string; readonly isDamaged: boolean } {
    return { encryptedWith: this.keyId, isDamaged: this.isDamaged }
  }
}
