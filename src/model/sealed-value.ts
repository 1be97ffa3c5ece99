/**
 * Stands where a value of the caller's would, for who has not given its key. A class, so that it is told from every
 * value, and refused by the serializer if somebody would store it.
 */
export class SealedValue {
  readonly keyId: string
  constructor(keyId: string) {
    this.keyId = keyId
  }

  toJSON(): { readonly encryptedWith: string } {
    return { encryptedWith: this.keyId }
  }
}
