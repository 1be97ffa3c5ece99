/**
 * Stands where a value of the caller's would, for who has not given its key, or if it is damaged. A class, so that it is
 * told from every value, and refused by the serializer if somebody would store it.
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
