// The operations are loaded on first use: operation/lazy-operations.ts.
export type { AddedRemote } from './edit-remotes.js'
export type { RemoteView } from './remotes-file.js'
