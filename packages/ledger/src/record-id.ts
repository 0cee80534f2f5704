// The idempotency key of an entry: same handoff, event, epoch and act, same id, on every machine.
import { hash } from 'node:crypto'
import type { AuditEntry } from './audit-entry.ts'

type Identity = Pick<AuditEntry, 'handoffId' | 'event' | 'epoch' | 'act'>

const VARIANT = 16

/** The UUIDv8 made from SHA-256(handoffId | event | epoch), and | act where a person acted. */
export function recordId({ handoffId, event, epoch, act }: Identity): string {
  const identity = `${handoffId}|${event}|${epoch}`
  const digest = hash('sha256', act === undefined ? identity : `${identity}|${act.id}`, 'hex')
  const variant = ((Number.parseInt(digest.charAt(VARIANT), 16) & 0x3) | 0x8).toString(16)
  const [first, second] = [digest.slice(0, 8), digest.slice(8, 12)]
  const [third, fourth] = [digest.slice(13, 16), digest.slice(VARIANT + 1, 20)]
  return `${first}-${second}-8${third}-${variant}${fourth}-${digest.slice(20, 32)}`
}

/** The same key as 16 bytes. */
export const recordIdBytes = (entry: Identity): Buffer => uuidBytes(recordId(entry))

export function formatUuid(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

export const uuidBytes = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex')
