// The session handshake: its three messages, its four phases, its JSON-RPC, and what they are in Baton. Pure.
export { announceOf, readAnnounce } from './announce.ts'
export type { SessionAnnounce } from './announce.ts'
export { readAsked } from './asked.ts'
export type { Asked } from './asked.ts'
export { readDispatch } from './dispatch.ts'
export type { TaskDispatch } from './dispatch.ts'
export { readInline, writeInline } from './inline.ts'
export { readRpc, readRpcReply, RPC_ERRORS, rpcAnswer, rpcError, rpcSend } from './jsonrpc.ts'
export type { RpcMessage, RpcRefusal, RpcReply } from './jsonrpc.ts'
export { statusOf, toProse, toResult, WORKER_BLOCKED } from './outcome.ts'
export type { EndedHandoff } from './outcome.ts'
export { readPeers, tenantOfPeer } from './peers.ts'
export type { SessionPeer } from './peers.ts'
export { createProfileCache } from './profiles.ts'
export type { ProfileCache } from './profiles.ts'
export { findAnnounce, readReply, taskIdIn } from './reply.ts'
export type { Reply } from './reply.ts'
export { readResult, resultOf } from './result.ts'
export type { TaskResult } from './result.ts'
export {
  blockedResult,
  chooseWorker,
  reachableMcp,
  unmetBy,
  unmetText,
  wantedBy,
} from './routing.ts'
export type { KnownWorker, Route, Unmet, Wanted } from './routing.ts'
export { externalId, toDispatch, toHandoff, wantedOf } from './submission.ts'
export type { Making } from './submission.ts'
export { compareTokens } from './tokens.ts'
export { PROTOCOL_VERSION, QUEUED, SESSION } from './words.ts'
