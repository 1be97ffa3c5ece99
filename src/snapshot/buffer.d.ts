// Buffer methods that every Node has but its type definitions lack. For short texts a third faster than `toString` and `write`.
interface Buffer {
  latin1Write(text: string, offset: number): number
  hexWrite(text: string, offset: number): number
  latin1Slice(start: number, end: number): string
  hexSlice(start: number, end: number): string
}
