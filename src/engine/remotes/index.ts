// The operations are loaded on first use: operation/lazy-operations.ts.
export type { AddedRemote } from './edit-remotes.js'
export type { HandoffResult } from './handoff.js'
export type { PulledLog, PullResult } from './pull.js'
export type { PushedLog, PushResult } from './push.js'
export type { RemoteHolder, RemoteSession } from './remote-sessions.js'
export type { RemoteView } from './remotes-file.js'
