// Releases: what people allowed one message to do once, signed; stored with the decision that gives it.
import type { Release } from '@baton/protocol'
import { run } from './database.ts'
import type { Database } from './database.ts'

/** A row `r` of `release` as ClaimedRelease; evaluated only for the few handoffs that have one. */
export const RELEASE_JSON = `json_build_object('id', r.id, 'handoffId', r.handoff_id,
  'sha256', encode(r.body_sha256, 'hex'), 'artefactId', r.artefact_id, 'reason', r.reason,
  'reviewers', r.reviewers, 'keyId', r.key_id, 'signature', r.signature,
  'expiresAt', to_char(r.expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
  'expired', r.expires_at <= clock_timestamp())`

/** When something that is given now for so many hours ends: Postgres' clock, whole milliseconds, RFC 3339. */
export async function releaseEnd(db: Database, hours: number): Promise<string> {
  const [row] = await run<{ end: string }>(
    db,
    'release_end',
    `select to_char((clock_timestamp() + $1 * interval '1 hour') at time zone 'UTC',
       'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as end`,
    [hours],
  )
  return row?.end ?? ''
}

/** Stores a signed release; run it in the transaction that reopens the handoff under it. */
export async function addRelease(db: Database, release: Release): Promise<void> {
  await run(
    db,
    'add_release',
    `insert into release (id, handoff_id, body_sha256, artefact_id, reason, reviewers, expires_at,
       key_id, signature) values ($1, $2, decode($3, 'hex'), $4, $5, $6, $7, $8, $9)`,
    [
      release.id,
      release.handoffId,
      release.sha256,
      release.artefactId,
      release.reason,
      release.reviewers,
      release.expiresAt,
      release.keyId,
      release.signature,
    ],
  )
}
