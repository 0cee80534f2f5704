// The lease of the one sealer that publishes: held by the clock of the audit database, with a number that a later one makes worthless.
import { run } from '../database.ts'
import type { Database } from '../database.ts'

/** A lease that was taken: every statement that publishes names it. */
export interface HeldLease {
  readonly epoch: number
  readonly holder: string
}

interface LeaseRequest {
  /** Who asks: the same name after a restart, and nobody else's. */
  readonly holder: string
  readonly leaseMs: number
  /** The verifier key of the witness that cosigns each seal before it is published; null where none is asked first. */
  readonly witness: string | null
  /** Whether this process was just started: then it takes what it held itself before. */
  readonly isRestarted: boolean
  /** Whether it may take over from sealers that asked another witness first. */
  readonly isAnchorFirstStart: boolean
}

export type LeaseAnswer =
  | { readonly outcome: 'taken'; readonly epoch: number }
  /** For so long at least. */
  | { readonly outcome: 'held'; readonly holder: string; readonly leftMs: number }
  /** Whoever held it last has asked another witness first. */
  | { readonly outcome: 'other_witness'; readonly holder: string }

const TAKE =
  'select outcome, epoch, holder, left_ms from audit.take_seal_lease($1::text, $2::integer, $3::text, $4::boolean, $5::boolean)'

interface TakenRow {
  readonly outcome: LeaseAnswer['outcome']
  readonly epoch: number
  readonly holder: string
  readonly left_ms: number
}

/** As audit_sealer. Whoever does not get it is noted as one that stands by. */
export async function takeSealLease(db: Database, asked: LeaseRequest): Promise<LeaseAnswer> {
  const { holder, leaseMs, witness, isRestarted, isAnchorFirstStart } = asked
  const values = [holder, leaseMs, witness, isRestarted, isAnchorFirstStart]
  const [row] = await run<TakenRow>(db, 'take_seal_lease', TAKE, values)
  if (row?.outcome === 'taken') return { outcome: 'taken', epoch: row.epoch }
  if (row?.outcome === 'other_witness') return { outcome: 'other_witness', holder: row.holder }
  return { outcome: 'held', holder: row?.holder ?? '', leftMs: row?.left_ms ?? 0 }
}

/** False where it is lost: it ended, or somebody else has taken it. */
export async function renewSealLease(
  db: Database,
  { epoch, holder }: HeldLease,
  leaseMs: number,
): Promise<boolean> {
  const rows = await run<{ renewed: boolean }>(
    db,
    'renew_seal_lease',
    'select audit.renew_seal_lease($1::bigint, $2::text, $3::integer) as renewed',
    [epoch, holder, leaseMs],
  )
  return rows[0]?.renewed === true
}

/** The next one need not wait for its end. */
export async function releaseSealLease(db: Database, { epoch, holder }: HeldLease): Promise<void> {
  await run(db, 'release_seal_lease', 'select audit.release_seal_lease($1::bigint, $2::text)', [
    epoch,
    holder,
  ])
}

/** What people are told of the sealers of a log, by the database's clock. */
export interface SealersSeen {
  /** Who held the lease last; empty where nobody ever has. */
  readonly holder: string
  /** How often it was taken. */
  readonly epoch: number
  /** The verifier key of the witness that is asked first; null where none is. */
  readonly witness: string | null
  readonly isHeld: boolean
  /** Who asked for the lease in the last minute. */
  readonly standbys: readonly string[]
}

const SEALERS = `select holder, epoch, witness, held_until > now() as "isHeld",
  array(select s.holder from audit.seal_standby s where s.seen_at > now() - interval '1 minute'
    order by s.holder) as standbys
  from audit.seal_lease`

/** As audit_reader. */
export async function readSealers(db: Database): Promise<SealersSeen | undefined> {
  return (await run<SealersSeen>(db, 'read_sealers', SEALERS))[0]
}
