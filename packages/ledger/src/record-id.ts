// The idempotency key of an entry: same handoff, event, epoch and act, same id, on every machine.
import { hash } from 'node:crypto'
import type { AuditEntry } from './audit-entry.ts'

type Identity = Pick<AuditEntry, 'handoffId' | 'event' | 'epoch' | 'act'>

/** The 16 bytes of the UUIDv8 made from SHA-256(handoffId | event | epoch), and | act where a person acted. */
export function recordIdBytes({ handoffId, event, epoch, act }: Identity): Buffer {
  const identity = `${handoffId}|${event}|${epoch}`
  const digest = hash('sha256', act === undefined ? identity : `${identity}|${act.id}`, 'buffer')
  const id = digest.subarray(0, 16)
  id[6] = ((id[6] as number) & 0x0f) | 0x80
  id[8] = ((id[8] as number) & 0x3f) | 0x80
  return id
}

/** The same key in the usual text form. */
export const recordId = (entry: Identity): string => formatUuid(recordIdBytes(entry))

export function formatUuid(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

export const uuidBytes = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex')
